import Adapter
import BledRPC
import Bluetooth
import GATT

/// The settings of bonded devices at our server, and the counters of signed writes in both directions. Each belongs to
/// a bond and is kept as long as the bond (Core 5.4, Vol 3, Part G, 2.5.2.1 and 3.3.3.3, and Part H, 2.4.5).
///
/// A counter of ours must never be used twice, not even after a crash: they are reserved on disk in blocks before the
/// first is used. The daemon's end skips the rest of a block.
final class BondedClients {
  /// Counters available for signing.
  private struct Reserve {
    var next: UInt32
    /// The first counter that is not on disk.
    var end: UInt32
    var isGrowing = false
  }

  /// Counters reserved at once: more than writes can use while a block is being stored.
  static let block: UInt32 = 1024

  private var records: [Bond.ID: ClientRecord] = [:]
  /// Reads the state of linked devices that is not recorded yet: it contains a hash of all attributes.
  private var unread: [Bond.ID: () -> GATTClientState?] = [:]
  private var reserves: [Bond.ID: Reserve] = [:]
  private let store: Store
  private var document: StoredDocument<ClientRecords>?
  private var isFrozen = false

  init(store: Store) {
    self.store = store
    let document = store.document("clients", version: 1) { [unowned self] in
      readStates()
      return ClientRecords(clients: records.values.sorted { ($0.local, $0.peer) < ($1.local, $1.peer) })
    }
    self.document = document
    for record in (document.load()?.clients ?? []).prefix(BondEviction.maximum) {
      if let bond = record.bond { records[bond.id] = record }
    }
  }

  /// Records without their bond are useless: the daemon may have ended between storing other keys and this.
  func forgetAll(except bonds: [Bond]) {
    let marks = Dictionary(bonds.map { ($0.id, KeyMarks($0)) }) { first, _ in first }
    for (key, record) in records {
      var kept = record
      guard let marks = marks[key] else {
        records[key] = nil
        continue
      }
      kept.removeState(notOf: marks)
      records[key] = kept.isEmpty ? nil : kept
    }
  }

  /// The settings of a device when it was last connected; nil if it never was with this bond.
  func state(of bond: Bond) -> GATTClientState? {
    readStates()
    return records[bond.id]?.state
  }

  /// The counter of the device's last signed write; nil before the first.
  func signCounter(of bond: Bond) -> UInt32? { records[bond.id]?.signCounter }

  /// A device has changed its settings, or knows more services.
  func store(_ state: GATTClientState, of bond: Bond) {
    guard !isFrozen else { return }
    unread[bond.id] = nil
    let record = change(bond) { $0.server = ClientRecord.State(state) }
    guard record != records[bond.id] else { return }
    records[bond.id] = record
    // Devices cause any number of these.
    document?.changed(isUrgent: false)
  }

  /// Like `store(_:of:)`, after the services have changed: reading the state means hashing them all.
  /// - Parameter state: reads the state, when it is stored, or the link ends.
  func storeLater(of bond: Bond, _ state: @escaping () -> GATTClientState?) {
    guard !isFrozen else { return }
    if records[bond.id] == nil { records[bond.id] = ClientRecord(bond) }
    unread[bond.id] = state
    document?.changed(isUrgent: false)
  }

  /// Reads the states deferred by `storeLater`, before they are lost or useless.
  func readStates() {
    for (key, state) in unread {
      if let state = state() { records[key]?.server = ClientRecord.State(state) }
    }
    unread = [:]
  }

  /// A signed write with this counter was taken; after a crash none with a lower one may be.
  func store(signCounter: UInt32, of bond: Bond) {
    records[bond.id] = change(bond) { $0.signCounter = signCounter }
    document?.changed()
  }

  /// Our client's features as sent to the device; nil before that with this bond.
  func toldFeatures(of bond: Bond) -> [UInt8]? { records[bond.id]?.toldFeatures?.octets }

  /// Our client has sent its features to the device, which keeps them with the bond.
  func store(toldFeatures features: [UInt8], of bond: Bond) {
    records[bond.id] = change(bond) { $0.toldFeatures = HexBytes(features) }
    document?.changed(isUrgent: false)
  }

  /// True if the device reports changed services, also those while it was not connected (Core 5.4, Vol 3, Part G, 7.1).
  func tellsChanges(_ bond: Bond) -> Bool { records[bond.id]?.tellsChanges ?? false }

  /// Our client has subscribed to changed services of the device, which keeps the subscription with the bond; or it was
  /// refused.
  func store(tellsChanges: Bool, of bond: Bond) {
    guard tellsChanges != self.tellsChanges(bond) else { return }
    records[bond.id] = change(bond) { $0.tellsChanges = tellsChanges ? true : nil }
    document?.changed(isUrgent: false)
  }

  /// The next counter for signing a write; nil if none could be reserved.
  func nextCounter(of bond: Bond) -> UInt32? {
    defer { reserveCounters(of: bond) }
    guard let reserve = reserves[bond.id], reserve.next < reserve.end else { return nil }
    reserves[bond.id]?.next += 1
    return reserve.next
  }

  /// Reserves counters if there are few, and we have a key to sign with.
  func reserveCounters(of bond: Bond) {
    let key = bond.id
    let first = records[key]?.ownCounters ?? 0
    let reserve = reserves[key] ?? Reserve(next: first, end: first)
    // A key has as many counters as there are numbers; then the devices have to pair anew.
    guard bond.signatureKey != nil, !reserve.isGrowing, reserve.end - reserve.next < Self.block / 2,
      first < UInt32.max - Self.block
    else { return }
    records[key] = change(bond) { $0.ownCounters = first + Self.block }
    reserves[key] = reserve
    reserves[key]?.isGrowing = true
    document?.changed()
    store.flush { [weak self] in
      // The reservation may have been for a key removed since.
      guard let self, reserves[key]?.isGrowing == true, records[key]?.ownCounters == first + Self.block else { return }
      reserves[key]?.isGrowing = false
      if document?.isStored ?? true { reserves[key]?.end = first + Self.block }
    }
  }

  private func change(_ bond: Bond, _ body: (inout ClientRecord) -> Void) -> ClientRecord {
    var record = records[bond.id] ?? ClientRecord(bond)
    body(&record)
    return record
  }

  /// A bond was removed, or has new keys.
  /// - Parameter next: the bond that replaces it.
  func forget(_ bond: Bond, for next: Bond? = nil) {
    if next?.signatureKey != bond.signatureKey { reserves[bond.id] = nil }
    readStates()
    guard var record = records[bond.id] else { return }
    if let next {
      record.removeState(notOf: KeyMarks(next))
      records[bond.id] = record.isEmpty ? nil : record
    } else {
      records[bond.id] = nil
    }
    document?.changed()
  }

  /// The services go because the daemon ends: hides their removal from devices until the next start.
  func freeze() {
    readStates()
    isFrozen = true
  }
}

extension Bond {
  /// The device's signing key.
  var peerSignatureKey: SignatureKey? { signatureKeys.first { !$0.isOurs } }

  /// Our signing key.
  var signatureKey: SignatureKey? { signatureKeys.first { $0.isOurs } }
}
