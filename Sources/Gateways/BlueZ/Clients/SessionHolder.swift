import BledConnection

/// A user of devices: a program on the bus, or the facade itself.
protocol SessionHolder: AnyObject {
  /// A program's unique name; the facade's has no colon.
  var name: String { get }
  /// Its session of bled. If bled cannot be reached, calls in it fail.
  var session: DaemonSession { get }
  /// True if reading a protected value may pair, which asks a person at the device.
  var mayPair: Bool { get }
}

extension BusClient: SessionHolder {
  var mayPair: Bool { true }
}
