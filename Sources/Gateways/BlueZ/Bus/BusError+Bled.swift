import Bluetooth

extension BusError {
  /// The error that programs of BlueZ expect for an error of bled.
  /// - Parameter otherwise: for errors without a counterpart.
  init(_ error: BluetoothError, otherwise: BusError) {
    switch error.domain {
    case .att: self = Self.attribute(UInt8(truncatingIfNeeded: error.code))
    case .gap: self = Self.gap(error) ?? otherwise
    case .bled: self = Self.bled(error) ?? otherwise
    default: self = otherwise
    }
  }

  private static func gap(_ error: BluetoothError) -> BusError? {
    switch GAPError(rawValue: error.code) {
    case .notConnected, .disconnected: .failed("Not connected")
    case .adapterOff, .adapterAbsent: .notReady
    case .unknownDevice: .doesNotExist
    case .notSupported: .notSupported
    case .pairingFailed: .authentication("Failed")
    default: nil
    }
  }

  private static func bled(_ error: BluetoothError) -> BusError? {
    switch BledError(rawValue: error.code) {
    case .notPermitted: .notAuthorized
    case .invalidParameter: .invalid(error.message)
    case .alreadyInProgress: .inProgress
    case .notAllowedByProperties: .notPermitted(error.message)
    case .unknownHandle, .unknownAttribute: .doesNotExist
    case .daemonUnreachable, .shuttingDown: .notReady
    default: nil
    }
  }

  /// The errors of the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.4.1.1).
  private static func attribute(_ code: UInt8) -> BusError {
    switch code {
    case 0x02: .notPermitted("Read not permitted")
    case 0x03: .notPermitted("Write not permitted")
    case 0x05, 0x0C, 0x0F: .notPermitted("Not paired")
    case 0x06: .notSupported
    case 0x07: .invalid("Invalid offset")
    case 0x08: .notAuthorized
    case 0x0D: .invalid("Invalid Length")
    default: .failed("Operation failed with ATT error: 0x" + hex(code))
    }
  }

  private static func hex(_ code: UInt8) -> String {
    let digits = String(code, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  /// The failure of a connection attempt; to programs these are passing, "try again".
  static func connecting(_ error: BluetoothError) -> BusError {
    let reason =
      switch (error.domain, error.code) {
      case (.gap, GAPError.timeout.rawValue), (.gap, GAPError.connectionFailed.rawValue): "abort-by-local"
      case (.gap, GAPError.connectionLimitReached.rawValue): "busy"
      case (.gap, GAPError.cancelled.rawValue): "canceled"
      case (.gap, GAPError.disconnected.rawValue): "abort-by-remote"
      case (.gap, GAPError.notSupported.rawValue): "not-supported"
      default: "unknown"
      }
    // The text of BlueZ, which names the classic transport here.
    if reason == "canceled" { return .failed("br-connection-canceled") }
    return BusError(error, otherwise: .failed("le-connection-" + reason))
  }
}
