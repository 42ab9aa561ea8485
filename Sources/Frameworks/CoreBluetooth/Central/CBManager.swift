import BledClient
import FrameworkSupport
private import Glibc

/// The common part of central and peripheral managers.
open class CBManager: NSObject {
  private let current = Guarded(CBManagerState.unknown)
  /// Whether a delegate was told of a state.
  private let hasTold = Guarded(false)
  let observers = KeyValueObservers()

  /// Only for this module: make a `CBCentralManager` or a `CBPeripheralManager`.
  init(options: [String: Any]?) {}

  /// The state of Bluetooth at the moment; `unknown` until the delegate is told the first time.
  open var state: CBManagerState { current[\.self] }

  /// Whether this program may use Bluetooth: whether it may use the daemon's socket.
  open class var authorization: CBManagerAuthorization {
    access(BledClient.defaultSocketPath, R_OK | W_OK) != 0 && errno == EACCES ? .denied : .allowedAlways
  }

  /// Whether this program may use Bluetooth.
  @available(*, deprecated, message: "Use the type's property")
  open var authorization: CBManagerAuthorization { type(of: self).authorization }

  func setState(_ new: CBManagerState) {
    current[\.self] = new
    observers.changed()
  }

  /// A delegate is told of the state.
  /// - Returns: Whether it is the first time.
  func tellState() -> Bool {
    hasTold.with { hasTold in
      defer { hasTold = true }
      return !hasTold
    }
  }

  /// Whether the state is poweredOn; if not, `call` is logged as a misuse.
  func isUsable(for call: String) -> Bool {
    let state = state
    if state != .poweredOn { Misuse.log("\(call) while the state is \(state), not poweredOn: ignored") }
    return state == .poweredOn
  }
}

extension [String: Any] {
  /// The value of a yes-or-no option, written as `true`, `NSNumber` or a number.
  func flag(_ key: String) -> Bool {
    switch self[key] {
    case let flag as Bool: flag
    case let number as NSNumber: number.boolValue
    case let number as Int: number != 0
    default: false
    }
  }

  /// The value of an option that is a number.
  func number(_ key: String) -> Double? {
    switch self[key] {
    case let number as NSNumber: number.doubleValue
    case let number as Double: number
    case let number as Int: Double(number)
    default: nil
    }
  }
}
