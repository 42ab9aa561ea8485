import Bluetooth
import HCI

/// A link from its announcement to its end, as its user notices it.
///
/// | State | Input                         | Then                                             |
/// |-------|-------------------------------|--------------------------------------------------|
/// | new   | `start`                       | open: events are delivered                       |
/// | new   | `end`                         | over; `start` returns the error to deliver       |
/// | open  | `end`                         | over; the error is delivered now                 |
/// | new, open | `leave`                   | the same, `isDisconnecting`: only the end is delivered |
/// | over  | anything                      | over                                             |
struct LinkLife {
  /// Time for the last packets to leave the controller before the end.
  static let departure = Duration.seconds(1)

  private var hasStarted = false
  private var ending: BluetoothError?
  /// True while we end the link.
  private(set) var isDisconnecting = false
  /// The reason why the link could not be encrypted: then it is ended.
  var failure: HCIStatus?
  /// Our own reason for ending it, in words.
  private(set) var cause: String?

  /// True once it has ended, delivered or not.
  var isOver: Bool { ending != nil }
  /// True if the user knows the link and it has not ended. During disconnection only its end is delivered.
  var isOpen: Bool { hasStarted && !isOver }

  /// The user knows the link.
  /// - Returns: the end that occurred before.
  mutating func start() -> BluetoothError? {
    hasStarted = true
    return ending
  }

  /// We end the link.
  /// - Returns: false if it ends already.
  mutating func leave() -> Bool {
    guard !isOver, !isDisconnecting else { return false }
    isDisconnecting = true
    return true
  }

  /// We end the link at once, even if it waits for its last packets.
  /// - Returns: false if it has ended.
  mutating func giveUp(_ cause: String) -> Bool {
    guard !isOver else { return false }
    isDisconnecting = true
    self.cause = self.cause ?? cause
    return true
  }

  /// The link has ended.
  /// - Returns: true if that is to be delivered now.
  mutating func end(_ error: BluetoothError) -> Bool {
    guard !isOver else { return false }
    ending = error
    return hasStarted
  }

  /// The error of the end for the controller's reason.
  func error(_ reason: HCIStatus) -> BluetoothError {
    let status =
      switch reason.code {
      // A controller that does not know the link ended it before we asked for that.
      case .remoteUserTerminatedConnection, .unknownConnectionIdentifier:
        isDisconnecting ? failure ?? HCIStatus(.terminatedByLocalHost) : reason
      // A link that could not be encrypted is ended for Authentication Failure, for any reason.
      case .terminatedByLocalHost, .authenticationFailure: failure ?? reason
      default: reason
      }
    return status.error(cause)
  }
}
