import Bluetooth

/// The error numbers that clients know.
enum APIError {
  /// Core 5.4, Vol 1, Part F, 1.3: ended by this side.
  static let local: Int32 = 0x16
  /// Core 5.4, Vol 3, Part F, 3.4.1.1.
  static let insufficientResources: Int32 = 0x11
  /// Any failure of the host (ESP_GATT_ERROR).
  static let failed: Int32 = 0x85
  /// The connection was cancelled.
  static let cancelled: Int32 = 0x100
  /// The client uses a device to which it is not connected.
  static let notConnected: Int32 = -1
  private static let failedToEstablish: Int32 = 0x3E

  /// The failure of a connection, or the reason of its end.
  static func connection(_ error: BluetoothError?) -> Int32 {
    guard let error else { return local }
    switch error.domain {
    case .hci: return Int32(clamping: error.code)
    case .gap where error.code == GAPError.timeout.rawValue,
      .gap where error.code == GAPError.connectionFailed.rawValue:
      return failedToEstablish
    case .gap where error.code == GAPError.cancelled.rawValue: return cancelled
    case .gap, .att, .bled: return failed
    }
  }

  /// The failure of another request.
  static func request(_ error: BluetoothError) -> Int32 {
    switch error.domain {
    case .att: return Int32(clamping: error.code)
    case .gap
    where error.code == GAPError.notConnected.rawValue || error.code == GAPError.disconnected.rawValue:
      return notConnected
    case .bled where error.code == BledError.daemonUnreachable.rawValue: return notConnected
    // Invalid Handle.
    case .bled where error.code == BledError.unknownHandle.rawValue: return 0x01
    // Request Not Supported.
    case .bled where error.code == BledError.notAllowedByProperties.rawValue: return 0x06
    case .hci, .gap, .bled: return failed
    }
  }
}
