import Adapter
import Bluetooth
import BluetoothCrypto

/// The bonds of one controller, stored by their owner above the seam.
struct HostBonds {
  /// The owner of all adapters' bonds.
  var kept: (any BondSource)?
  /// The controller's own address.
  var local = DeviceAddress.none

  /// The bond with the device of this identity.
  func find(_ identity: DeviceAddress) -> Bond? { kept?.find(local, identity) }

  /// The identity of a bonded device; the shown address of any other device.
  func identity(of peer: DeviceAddress) -> DeviceAddress {
    guard peer.isResolvablePrivate, let kept else { return peer }
    let bond = kept.all.first { bond in
      let key = bond.identityResolvingKey.flatMap { Key128(littleEndian: $0) }
      return bond.local == local && key.map { peer.isResolved(by: $0) } == true
    }
    return bond?.peer ?? peer
  }
}
