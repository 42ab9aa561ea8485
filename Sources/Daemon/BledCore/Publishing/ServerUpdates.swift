import GATT

/// A new value of a characteristic, for subscribers.
struct ServerUpdate {
  let handle: UInt16
  let value: [UInt8]
  /// The session's number for its confirmation; nil if the session wants no report.
  var confirmation: Int?
}

/// One call's values for one device.
struct ServerUpdates {
  private(set) var notified: [ServerUpdate] = []
  private(set) var indicated: [ServerUpdate] = []

  /// - Parameter configuration: the device's subscription to a value.
  init(_ updates: [ServerUpdate], _ configuration: (UInt16) -> ClientConfiguration) {
    for update in updates {
      let wanted = configuration(update.handle)
      if wanted.contains(.notification) {
        notified.append(update)
      } else if !wanted.isEmpty {
        indicated.append(update)
      }
    }
  }

  var isEmpty: Bool { notified.isEmpty && indicated.isEmpty }

  /// Octets of the longest value.
  var longest: Int { (notified + indicated).map(\.value.count).max() ?? 0 }

  /// True if the device's confirmation is reported to the session.
  var isConfirmed: Bool { indicated.contains { $0.confirmation != nil } }
}
