import Bluetooth

/// The bonds of this machine, for adapters to look keys up.
///
/// The owner above the seam alone keeps them. An adapter reads a bond each time it needs it, and tells of each one that
/// a pairing brings (`PairingEvent.bonded`), which the owner keeps or refuses.
public protocol BondSource: AnyObject {
  /// All bonds, of all adapters.
  var all: [Bond] { get }
}

extension BondSource {
  /// The bond of an adapter with a device.
  /// - Parameters:
  ///   - local: the adapter's address.
  ///   - peer: the device's identity address.
  public func find(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bond? {
    all.first { $0.local == local && $0.peer == peer }
  }
}
