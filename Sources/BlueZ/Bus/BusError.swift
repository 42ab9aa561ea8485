/// An error as a caller on the bus gets it.
public struct BusError: Error, Hashable, Sendable {
  /// For instance "org.bluez.Error.Failed".
  public let name: String
  public let message: String

  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  private init(bluez name: String, _ message: String) { self.init(name: "org.bluez.Error." + name, message: message) }

  private init(standard name: String, _ message: String) {
    self.init(name: "org.freedesktop.DBus.Error." + name, message: message)
  }

  // The names and texts of BlueZ: programs compare them.
  public static let notReady = BusError(bluez: "NotReady", "Resource Not Ready")
  public static let inProgress = BusError(bluez: "InProgress", "In Progress")
  public static let alreadyInProgress = BusError(bluez: "InProgress", "Operation already in progress")
  public static let invalidArguments = BusError(bluez: "InvalidArguments", "Invalid arguments in method call")
  public static let notConnected = BusError(bluez: "NotConnected", "Not Connected")
  public static let doesNotExist = BusError(bluez: "DoesNotExist", "Does Not Exist")
  public static let alreadyExists = BusError(bluez: "AlreadyExists", "Already Exists")
  public static let notSupported = BusError(bluez: "NotSupported", "Operation is not supported")
  public static let notAuthorized = BusError(bluez: "NotAuthorized", "Operation Not Authorized")
  public static let notAvailable = BusError(bluez: "NotAvailable", "Operation currently not available")
  public static let notRunning = BusError(
    bluez: "NotReady", "bled is not running: start it with \"systemctl start bled.socket\"")

  public static func failed(_ message: String) -> BusError { BusError(bluez: "Failed", message) }
  public static func notPermitted(_ message: String) -> BusError { BusError(bluez: "NotPermitted", message) }
  public static func invalid(_ message: String) -> BusError { BusError(bluez: "InvalidArguments", message) }
  public static func invalidLength(_ message: String) -> BusError { BusError(bluez: "InvalidValueLength", message) }
  public static func authentication(_ kind: String) -> BusError {
    BusError(bluez: "Authentication" + kind, "Authentication " + kind)
  }
  public static func rejected(_ message: String) -> BusError { BusError(bluez: "Rejected", message) }

  // The errors of the bus itself (D-Bus Specification, Standard Interfaces).
  public static func unknownObject(_ path: String) -> BusError {
    BusError(standard: "UnknownObject", "Unknown object '\(path)'")
  }
  public static func unknownMethod(_ call: BusCall) -> BusError {
    BusError(
      standard: "UnknownMethod",
      """
      Method "\(call.member)" with signature "\(call.signature)" on interface "\(call.interface ?? "(null)")" doesn't \
      exist
      """)
  }
  public static func noInterface(_ name: String) -> BusError {
    BusError(standard: "InvalidArgs", "No such interface '\(name)'")
  }
  public static func noProperty(_ name: String) -> BusError {
    BusError(standard: "InvalidArgs", "No such property '\(name)'")
  }
  public static func readOnly(_ name: String) -> BusError {
    BusError(standard: "PropertyReadOnly", "Property '\(name)' is not writable")
  }
  public static let wrongArguments = BusError(standard: "InvalidArgs", "Invalid arguments in method call")
  public static func limitsExceeded(_ message: String) -> BusError { BusError(standard: "LimitsExceeded", message) }
  public static let noReply = BusError(standard: "NoReply", "the program did not answer in time")
}
