import Adapter

/// Features that controllers claim, and do not have.
package struct ControllerFaults: OptionSet, Hashable {
  package let rawValue: UInt8

  /// Extended scanning reports nothing.
  package static let extendedScan = ControllerFaults(rawValue: 1 << 0)
  /// LE Extended Create Connection does not connect.
  package static let extendedCreateConnection = ControllerFaults(rawValue: 1 << 1)

  /// Extended advertising does not work, or would be refused beside legacy commands.
  package static let extendedAdvertising = ControllerFaults(rawValue: 1 << 2)
  /// No extended command may be used: once a controller has executed one family's command it may disallow all of the
  /// other (Core 5.4, Vol 4, Part E, 3.1.1).
  package static let extendedCommands: ControllerFaults = [
    .extendedScan, .extendedCreateConnection, .extendedAdvertising,
  ]

  /// The faults among quirks.
  package init(_ quirks: Set<Quirk>) {
    self = []
    if quirks.contains(.extendedScanning) { insert(.extendedScan) }
    if quirks.contains(.extendedConnecting) { insert(.extendedCreateConnection) }
  }

  package init(rawValue: UInt8) { self.rawValue = rawValue }
}
