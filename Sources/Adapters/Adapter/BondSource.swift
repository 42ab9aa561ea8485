import Bluetooth

/// This machine's bonds, for adapters to look keys up.
///
/// Only the owner above the seam stores them. An adapter reads a bond each time it needs it, and reports each one made
/// by a pairing (`PairingEvent.bonded`), which the owner stores or refuses.
public protocol BondSource: AnyObject {
  /// All adapters' bonds.
  var all: [Bond] { get }
}

extension BondSource {
  /// The adapter's bond with a device.
  /// - Parameters:
  ///   - local: the adapter's address.
  ///   - peer: the device's identity address.
  public func find(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bond? {
    all.first { $0.local == local && $0.peer == peer }
  }
}
