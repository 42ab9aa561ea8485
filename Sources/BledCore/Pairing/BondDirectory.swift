import Adapter
import Bluetooth
import Logging

/// The keys that this machine shares with devices. They are kept in the store, and each adapter is told of them before
/// it starts.
final class BondDirectory {
  /// How many bonds there may be: the one that was made first gives way.
  static let most = 256

  /// The last one is first.
  private(set) var all: [Bond] = []
  /// What else belongs to the bonds.
  let clients: BondedClients
  private let store: Store
  private let logger: Logger
  private var document: StoredDocument<BondRecords>?

  init(store: Store, logger: Logger) {
    self.store = store
    self.logger = logger
    clients = BondedClients(store: store)
    let document = store.document("bonds", version: 1) { [unowned self] in
      BondRecords(bonds: all.map { BondRecord($0) })
    }
    self.document = document
    for bond in (document.load()?.bonds ?? []).prefix(Self.most).compactMap(\.bond)
    where find(bond.local, bond.peer) == nil {
      all.append(bond)
    }
    clients.forgetAll(except: all)
    for bond in all { clients.reserveCounters(of: bond) }
  }

  /// The bond of an adapter with a device.
  func find(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bond? {
    all.first { $0.local == local && $0.peer == peer }
  }

  /// A bond was made, or its keys have changed.
  /// - Returns: the bond that gave way.
  func keep(_ bond: Bond) -> Bond? {
    let before = find(bond.local, bond.peer)
    guard before != bond else { return nil }
    if let before { clients.forget(before, for: bond) }
    all.removeAll { $0.local == bond.local && $0.peer == bond.peer }
    all.insert(bond, at: 0)
    document?.changed()
    clients.reserveCounters(of: bond)
    guard all.count > Self.most else { return nil }
    logger.warning("\(Self.most) devices are paired, which is the limit: the first of them is forgotten")
    let oldest = all.removeLast()
    clients.forget(oldest)
    return oldest
  }

  /// The keys are gone.
  /// - Returns: whether there were any.
  @discardableResult
  func remove(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bool {
    guard let bond = find(local, peer) else { return false }
    clients.forget(bond)
    all.removeAll { $0.local == local && $0.peer == peer }
    document?.changed()
    return true
  }

  /// Calls back when all bonds are on disk, or could not be written.
  func whenStored(_ done: @escaping (_ isStored: Bool) -> Void) {
    store.flush { [document] in done(document?.isStored ?? true) }
  }
}
