import Adapter
import Bluetooth

/// The owner of an adapter's bonds.
final class StoredBonds: BondSource {
  private(set) var all: [Bond]

  init(_ all: [Bond] = []) { self.all = all }

  /// A pairing brought keys.
  func store(_ bond: Bond) {
    all.removeAll { $0.id == bond.id }
    all.append(bond)
  }

  func remove(_ peer: DeviceAddress) { all.removeAll { $0.peer == peer } }
}
