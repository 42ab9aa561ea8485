import BledClient
import FrameworkSupport
private import Glibc

/// The common part of central and peripheral managers.
open class CBManager: NSObject {
  private let current = Guarded(CBManagerState.unknown)
  /// True once a delegate has received a state.
  private let hasTold = Guarded(false)
  let observers = KeyValueObservers()

  /// Only for this module: make a `CBCentralManager` or a `CBPeripheralManager`.
  init(options: [String: Any]?) {}

  /// The present state of Bluetooth; `unknown` until the first report to the delegate.
  open var state: CBManagerState { current[\.self] }

  /// This program's permission to use Bluetooth: its access to the daemon's socket.
  open class var authorization: CBManagerAuthorization {
    access(BledClient.defaultSocketPath, R_OK | W_OK) != 0 && errno == EACCES ? .denied : .allowedAlways
  }

  /// This program's permission to use Bluetooth.
  @available(*, deprecated, message: "Use the type's property")
  open var authorization: CBManagerAuthorization { type(of: self).authorization }

  func setState(_ new: CBManagerState) {
    current[\.self] = new
    observers.changed()
  }

  /// The state is being reported to a delegate.
  /// - Returns: True the first time.
  func reportState() -> Bool {
    hasTold.with { hasTold in
      defer { hasTold = true }
      return !hasTold
    }
  }

  /// Returns true if the state is poweredOn; otherwise logs `call` as a misuse.
  func isUsable(for call: String) -> Bool {
    let state = state
    if state != .poweredOn { Misuse.log("\(call) while the state is \(state), not poweredOn: ignored") }
    return state == .poweredOn
  }
}

extension [String: Any] {
  /// The value of a Boolean option, given as `true`, `NSNumber` or a number.
  func flag(_ key: String) -> Bool {
    switch self[key] {
    case let flag as Bool: flag
    case let number as NSNumber: number.boolValue
    case let number as Int: number != 0
    default: false
    }
  }

  /// The value of a numeric option.
  func number(_ key: String) -> Double? {
    switch self[key] {
    case let number as NSNumber: number.doubleValue
    case let number as Double: number
    case let number as Int: Double(number)
    default: nil
    }
  }
}
