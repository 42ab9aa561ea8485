import Adapter
import Bluetooth
import GATT

/// What bonded devices have set at our server, and the counters of their signed writes: it belongs to the bond, and
/// is kept as long (Core 5.4, Vol 3, Part G, 2.5.2.1 and 3.3.3.3, and Part H, 2.4.5).
final class BondedClients {
  /// Between which devices a bond is.
  private struct Key: Hashable {
    let local: DeviceAddress
    let peer: DeviceAddress

    init(_ bond: Bond) { (local, peer) = (bond.local, bond.peer) }
  }

  private var records: [Key: ClientRecord] = [:]
  private var document: StoredDocument<ClientRecords>?
  private var isFrozen = false

  init(store: Store) {
    let document = store.document("clients", version: 1) { [unowned self] in
      ClientRecords(clients: records.values.sorted { ($0.local, $0.peer) < ($1.local, $1.peer) })
    }
    self.document = document
    for record in (document.load()?.clients ?? []).prefix(BondDirectory.most) {
      if let bond = record.bond { records[Key(bond)] = record }
    }
  }

  /// What was stored is of no use without a bond.
  func forgetAll(except bonds: [Bond]) {
    let known = Set(bonds.map(Key.init))
    records = records.filter { known.contains($0.key) }
  }

  /// What a device had set when it was last connected; nil if it never was with this bond.
  func state(of bond: Bond) -> GATTClientState? { records[Key(bond)]?.state }

  /// The counter of the device's last signed write; nil before the first.
  func signCounter(of bond: Bond) -> UInt32? { records[Key(bond)]?.signCounter }

  /// A device has set something, or knows more of the services.
  func keep(_ state: GATTClientState, of bond: Bond) {
    guard !isFrozen else { return }
    let record = ClientRecord(bond, state, signCounter: signCounter(of: bond))
    guard record != records[Key(bond)] else { return }
    records[Key(bond)] = record
    // Devices cause any number of these.
    document?.changed(isUrgent: false)
  }

  /// A signed write with this counter was taken; after a crash none with a lower one may be.
  func keep(signCounter: UInt32, of bond: Bond) {
    records[Key(bond)] = ClientRecord(bond, state(of: bond), signCounter: signCounter)
    document?.changed()
  }

  /// A bond is gone, or has other keys.
  /// - Parameter next: the bond that takes its place.
  func forget(_ bond: Bond, for next: Bond? = nil) {
    guard records[Key(bond)] != nil else { return }
    let keepsState = next?.longTermKeys == bond.longTermKeys
    let keepsCounter = next.map { $0.peerSignatureKey == bond.peerSignatureKey } ?? false
    let state = keepsState ? state(of: bond) : nil
    let counter = keepsCounter ? signCounter(of: bond) : nil
    records[Key(bond)] = state == nil && counter == nil ? nil : ClientRecord(bond, state, signCounter: counter)
    document?.changed()
  }

  /// The services go because the daemon ends: that is not what devices are to find the next time.
  func freeze() { isFrozen = true }
}

extension Bond {
  /// With what the device signs.
  var peerSignatureKey: SignatureKey? { signatureKeys.first { !$0.isOurs } }
}
