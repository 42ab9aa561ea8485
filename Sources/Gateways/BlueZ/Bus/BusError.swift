/// An error as a caller on the bus receives it.
package struct BusError: Error, Hashable, Sendable {
  /// For instance "org.bluez.Error.Failed".
  package let name: String
  package let message: String

  package init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  private init(bluez name: String, _ message: String) { self.init(name: "org.bluez.Error." + name, message: message) }

  private init(standard name: String, _ message: String) {
    self.init(name: "org.freedesktop.DBus.Error." + name, message: message)
  }

  // The names and texts of BlueZ: programs compare them.
  package static let notReady = BusError(bluez: "NotReady", "Resource Not Ready")
  package static let inProgress = BusError(bluez: "InProgress", "In Progress")
  package static let alreadyInProgress = BusError(bluez: "InProgress", "Operation already in progress")
  package static let invalidArguments = BusError(bluez: "InvalidArguments", "Invalid arguments in method call")
  package static let doesNotExist = BusError(bluez: "DoesNotExist", "Does Not Exist")
  package static let alreadyExists = BusError(bluez: "AlreadyExists", "Already Exists")
  package static let blocked = BusError(bluez: "Blocked", "Blocked through rfkill")
  package static let notSupported = BusError(bluez: "NotSupported", "Operation is not supported")
  package static let notAuthorized = BusError(bluez: "NotAuthorized", "Operation Not Authorized")
  package static let notAvailable = BusError(bluez: "NotAvailable", "Operation currently not available")

  package static func failed(_ message: String) -> BusError { BusError(bluez: "Failed", message) }
  package static func notPermitted(_ message: String) -> BusError { BusError(bluez: "NotPermitted", message) }
  package static func invalid(_ message: String) -> BusError { BusError(bluez: "InvalidArguments", message) }
  package static func authentication(_ kind: String) -> BusError {
    BusError(bluez: "Authentication" + kind, "Authentication " + kind)
  }

  // The errors of the bus itself (D-Bus Specification, Standard Interfaces).
  package static func unknownObject(_ path: String) -> BusError {
    BusError(standard: "UnknownObject", "Unknown object '\(path)'")
  }
  package static func unknownMethod(_ call: BusCall) -> BusError {
    BusError(
      standard: "UnknownMethod",
      """
      Method "\(call.member)" with signature "\(call.signature)" on interface "\(call.interface ?? "(null)")" doesn't \
      exist
      """)
  }
  /// True if the called program has no such method, or no such object.
  var isOfMissingMethod: Bool {
    ["UnknownMethod", "UnknownObject", "UnknownInterface"].contains { name == "org.freedesktop.DBus.Error." + $0 }
  }
  package static func noInterface(_ name: String) -> BusError {
    BusError(standard: "InvalidArgs", "No such interface '\(name)'")
  }
  package static func noProperty(_ name: String) -> BusError {
    BusError(standard: "InvalidArgs", "No such property '\(name)'")
  }
  package static func readOnly(_ name: String) -> BusError {
    BusError(standard: "PropertyReadOnly", "Property '\(name)' is not writable")
  }
  package static let wrongArguments = BusError(standard: "InvalidArgs", "Invalid arguments in method call")
  package static func limitsExceeded(_ message: String) -> BusError { BusError(standard: "LimitsExceeded", message) }
  package static let noReply = BusError(standard: "NoReply", "the program did not answer in time")
}
