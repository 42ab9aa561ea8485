import Adapter
import Bluetooth
import Logging

/// The observer of a `BondDirectory`.
protocol BondObserver: AnyObject {
  /// A bond was made, changed or removed.
  /// - Parameter earlier: the keys of private addresses before.
  func bondsChanged(from earlier: IdentityResolver)
}

/// The one owner of the keys shared with devices, and of the data that depends on them. They are kept in the store;
/// adapters look them up here.
final class BondDirectory: BondSource {
  private struct Entry {
    let bond: Bond
    /// Its user: the user whose program paired; nil if unknown.
    let user: UInt32?
  }

  /// Notified after each change.
  weak var observer: (any BondObserver)?
  /// Called after the keys shared with a device were stored, or others than before.
  var onStored: (Bond) -> Void = { _ in }
  /// Called after the keys shared with a device were removed.
  var onRemoved: (Bond) -> Void = { _ in }
  /// The last one is first.
  private var entries: [Entry] = []
  /// The keys of private addresses in all bonds.
  private(set) var resolver = IdentityResolver()
  /// Records of the bonds' devices.
  let clients: BondedClients
  private let store: Store
  private let logger: Logger
  private var document: StoredDocument<BondRecords>?

  init(store: Store, logger: Logger) {
    self.store = store
    self.logger = logger
    clients = BondedClients(store: store)
    let document = store.document("bonds", version: 1) { [unowned self] in
      BondRecords(bonds: entries.map { BondRecord($0.bond, user: $0.user) })
    }
    self.document = document
    for record in (document.load()?.bonds ?? []).prefix(BondEviction.maximum) {
      guard let bond = record.bond, entry(bond.id) == nil else { continue }
      entries.append(Entry(bond: bond, user: record.user))
    }
    resolver = IdentityResolver(all)
    clients.forgetAll(except: all)
    for bond in all { clients.reserveCounters(of: bond) }
  }

  /// All bonds, the last one first.
  var all: [Bond] { entries.map(\.bond) }

  /// The bond between an adapter and a device.
  func find(_ local: DeviceAddress, _ peer: DeviceAddress) -> Bond? { entry(Bond.ID(local: local, peer: peer))?.bond }

  /// True if any adapter has a bond with the device.
  func contains(_ peer: DeviceAddress) -> Bool { entries.contains { $0.bond.peer == peer } }

  /// The user whose program made a bond; nil if unknown.
  func user(of bond: Bond) -> UInt32? { entry(bond.id)?.user }

  private func entry(_ id: Bond.ID) -> Entry? { entries.first { $0.bond.id == id } }

  /// A bond was made, or its keys have changed.
  /// - Parameters:
  ///   - user: the pairing user; nil leaves it unchanged.
  ///   - isLinked: true if the bond's device is connected.
  /// - Returns: the bond to remove in exchange, see `BondEviction`; possibly this one.
  func store(_ bond: Bond, for user: UInt32? = nil, isLinked: (Bond) -> Bool) -> Bond? {
    let before = entry(bond.id)
    guard before?.bond != bond else { return nil }
    if let before { clients.forget(before.bond, for: bond) }
    entries.removeAll { $0.bond.id == bond.id }
    entries.insert(Entry(bond: bond, user: user ?? before?.user), at: 0)
    clients.reserveCounters(of: bond)
    changed()
    onStored(bond)
    let eviction = BondEviction(
      candidates: entries.map { .init(bond: $0.bond, user: $0.user, isLinked: isLinked($0.bond)) })
    guard let victim = eviction.victim else { return nil }
    logger.warning("limit of bonds reached; removing the one with \(victim.peer)")
    return victim
  }

  /// Removes the keys.
  /// - Returns: true if there were any.
  @discardableResult
  func remove(_ id: Bond.ID) -> Bool {
    guard let entry = entry(id) else { return false }
    clients.forget(entry.bond)
    entries.removeAll { $0.bond.id == id }
    changed()
    onRemoved(entry.bond)
    return true
  }

  private func changed() {
    document?.changed()
    let earlier = resolver
    resolver = IdentityResolver(all)
    observer?.bondsChanged(from: earlier)
  }

  /// Calls back when all bonds are on disk, or could not be written.
  func whenStored(_ done: @escaping (_ isStored: Bool) -> Void) {
    store.flush { [document] in done(document?.isStored ?? true) }
  }
}
