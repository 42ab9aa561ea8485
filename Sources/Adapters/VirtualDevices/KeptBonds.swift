import Adapter
import Bluetooth
import BluetoothCrypto

/// The bonds of a device or a phone, which last as long as the simulation.
final class KeptBonds: BondSource {
  private(set) var all: [Bond] = []

  func keep(_ bond: Bond) { all = all.filter { $0.id != bond.id } + [bond] }

  func forget() { all = [] }

  /// True with a bond for a link to this address, which may be a private one.
  func knows(_ peer: DeviceAddress) -> Bool {
    all.contains { bond in
      let key = bond.identityResolvingKey.flatMap { Key128(littleEndian: $0) }
      return bond.peer == peer || key.map { peer.isResolved(by: $0) } == true
    }
  }
}
