import GATT

/// One call's values for one device.
struct ServerUpdates {
  private(set) var notified: [(handle: UInt16, value: [UInt8])] = []
  private(set) var indicated: [(handle: UInt16, value: [UInt8])] = []

  /// - Parameter configuration: the device's subscription to a value.
  init(_ values: [(handle: UInt16, value: [UInt8])], _ configuration: (UInt16) -> ClientConfiguration) {
    for update in values {
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
}
