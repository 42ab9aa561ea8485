import Bluetooth

/// The connections of which a program wants to hear, and those of which it has heard.
struct ConnectionEventWish {
  /// Which connections are meant: those of one of the devices, and those to devices with one of the services.
  struct Filter: Sendable {
    var identifiers: Set<UUID>?
    var services: [BluetoothUUID]?

    /// Whether the device is meant; nil if its services must be asked for.
    func matches(_ identifier: UUID) -> Bool? {
      if identifiers?.contains(identifier) ?? false { return true }
      guard let services else { return identifiers == nil }
      return services.isEmpty ? false : nil
    }
  }

  /// Nil: none.
  var filter: Filter?
  /// The devices whose connection was told.
  var told: Set<UUID> = []
}
