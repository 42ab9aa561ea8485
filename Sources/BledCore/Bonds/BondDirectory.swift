import Adapter
import Bluetooth
import Logging

/// The keys that this machine shares with devices. They are kept in the store, and each adapter is told of them before
/// it starts.
final class BondDirectory {
  /// The last one is first.
  private(set) var all: [Bond] = []
  /// The users for whom they were made, as far as known.
  private var users: [Key: UInt32] = [:]
  /// The records that belong to the bonds.
  let clients: BondedClients
  private let store: Store
  private let logger: Logger
  private var document: StoredDocument<BondRecords>?

  private struct Key: Hashable {
    let local: DeviceAddress
    let peer: DeviceAddress

    init(_ bond: Bond) {
      local = bond.local
      peer = bond.peer
    }
  }

  init(store: Store, logger: Logger) {
    self.store = store
    self.logger = logger
    clients = BondedClients(store: store)
    let document = store.document("bonds", version: 1) { [unowned self] in
      BondRecords(bonds: all.map { BondRecord($0, user: users[Key($0)]) })
    }
    self.document = document
    for record in (document.load()?.bonds ?? []).prefix(BondEviction.maximum) {
      guard let bond = record.bond, find(bond.local, bond.peer) == nil else { continue }
      all.append(bond)
      users[Key(bond)] = record.user
    }
    clients.forgetAll(except: all)
    for bond in all { clients.reserveCounters(of: bond) }
  }

  /// The bond of an adapter with a device.
  func find(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bond? {
    all.first { $0.local == local && $0.peer == peer }
  }

  /// The user for whom a bond was made; nil if that is not known.
  func user(of bond: Bond) -> UInt32? { users[Key(bond)] }

  /// A bond was made, or its keys have changed.
  /// - Parameters:
  ///   - user: for whom; nil leaves it as it is.
  ///   - isLinked: whether the device of a bond is connected.
  /// - Returns: the bond that has to give way and be removed, see `BondEviction`; possibly this one.
  func keep(_ bond: Bond, for user: UInt32? = nil, isLinked: (Bond) -> Bool) -> Bond? {
    let before = find(bond.local, bond.peer)
    guard before != bond else { return nil }
    if let before { clients.forget(before, for: bond) }
    all.removeAll { $0.local == bond.local && $0.peer == bond.peer }
    all.insert(bond, at: 0)
    if let user { users[Key(bond)] = user }
    document?.changed()
    clients.reserveCounters(of: bond)
    let eviction = BondEviction(
      candidates: all.map { .init(bond: $0, user: users[Key($0)], isLinked: isLinked($0)) })
    guard let victim = eviction.victim else { return nil }
    logger.warning("limit of bonds reached; removing the one with \(victim.peer)")
    return victim
  }

  /// The keys are gone.
  /// - Returns: whether there were any.
  @discardableResult
  func remove(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bool {
    guard let bond = find(local, peer) else { return false }
    clients.forget(bond)
    users[Key(bond)] = nil
    all.removeAll { $0.local == local && $0.peer == peer }
    document?.changed()
    return true
  }

  /// Calls back when all bonds are on disk, or could not be written.
  func whenStored(_ done: @escaping (_ isStored: Bool) -> Void) {
    store.flush { [document] in done(document?.isStored ?? true) }
  }
}
