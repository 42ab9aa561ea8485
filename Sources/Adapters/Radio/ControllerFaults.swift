/// Features that controllers claim, and do not have.
package struct ControllerFaults: OptionSet, Hashable {
  package let rawValue: UInt8

  /// Extended scanning reports nothing.
  package static let extendedScan = ControllerFaults(rawValue: 1 << 0)
  /// LE Extended Create Connection does not connect.
  package static let extendedCreateConnection = ControllerFaults(rawValue: 1 << 1)

  /// Extended advertising does not work, or would be refused beside legacy commands.
  package static let extendedAdvertising = ControllerFaults(rawValue: 1 << 2)
  /// No extended command is to be used: once a controller has executed a command of one family it may disallow all
  /// commands of the other (Core 5.4, Vol 4, Part E, 3.1.1).
  package static let extendedCommands: ControllerFaults = [
    .extendedScan, .extendedCreateConnection, .extendedAdvertising,
  ]

  /// The faults of controllers that the kernel has a quirk for; it does not name these controllers.
  /// - Parameter modalias: the controller's name for drivers, as sysfs has it: "usb:v10D7pB012d…".
  package init(modalias: String) {
    // Actions ATS2851.
    if modalias.hasPrefix("usb:v10D7pB012") {
      self = [.extendedScan, .extendedCreateConnection]
      // Apple's BCM4377.
    } else if modalias.hasPrefix("pci:v000014E4d00005FA0") {
      self = .extendedScan
    } else {
      self = []
    }
  }

  package init(rawValue: UInt8) { self.rawValue = rawValue }
}
