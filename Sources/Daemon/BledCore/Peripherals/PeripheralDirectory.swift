import Adapter
import Bluetooth
import FoundationEssentials

/// The known devices, by identifier and by address; the least recently used are forgotten at the limit. Devices with a
/// requested connection are stored, so their identifiers last, though one only requested never replaces one that was
/// connected; devices only discovered are not stored.
final class PeripheralDirectory {
  /// The directory's limits.
  struct Limits {
    /// Devices in memory.
    var peripherals = 4096
    /// Devices in the store, at most half of the devices in memory.
    var stored = 256
    /// Octets of cached attributes for one device.
    var cache = 16 << 10
    /// Octets of all attributes cached.
    var caches = 256 << 10
  }

  /// How often the limits were reached.
  struct Counters: Hashable {
    /// Devices forgotten to make room.
    var forgotten = 0
    /// Devices removed from the store.
    var evicted = 0
    /// Caches dropped to make room, or too large.
    var droppedCaches = 0
    /// How often all private addresses were forgotten to make room.
    var droppedAliases = 0
  }

  var limits: Limits
  private(set) var counters = Counters()

  private var byAddress: [DeviceAddress: Peripheral] = [:]
  private var byID: [OctetText: Peripheral] = [:]
  /// The received private addresses of bonded devices. Any other address is its own device in `byAddress`, so each
  /// address is resolved once.
  private var aliases: [DeviceAddress: Peripheral] = [:]
  private static let maximumAliases = 1024
  /// Called when a device's bond was made or removed.
  var onBondsChanged: () -> Void = {}
  /// Length of an identifier, a UUID.
  private static let identifierLength = 36
  private var stored: Set<Peripheral> = []
  /// Stored devices whose adapter was not added yet, with its identifier.
  private var awaited: [Peripheral: String] = [:]
  private var lastNumber = 0
  private let bonds: BondDirectory
  private let store: Store
  private let makeIdentifier: () -> String
  private let scheduler: any Scheduler
  private var document: StoredDocument<PeripheralRecords>?

  /// - Parameter makeIdentifier: makes a unique identifier.
  init(
    bonds: BondDirectory, store: Store, scheduler: any Scheduler, limits: Limits = Limits(),
    makeIdentifier: @escaping () -> String = { UUID().uuidString }
  ) {
    self.makeIdentifier = makeIdentifier
    self.bonds = bonds
    self.store = store
    self.scheduler = scheduler
    self.limits = limits
    bonds.observer = self
  }

  // MARK: The store

  /// An adapter was added. The first one loads the stored devices.
  func added(_ slot: AdapterSlot) {
    if document == nil {
      let document = store.document("peripherals", version: 1) { [unowned self] in records }
      self.document = document
      // Backwards: the latest addition counts as used last.
      for record in (document.load()?.peripherals ?? []).prefix(limits.stored).reversed() { restore(record, on: slot) }
    }
    for (peripheral, id) in awaited where id.utf8.elementsEqual(slot.id.utf8) {
      peripheral.adapter = slot
      awaited[peripheral] = nil
    }
  }

  private func restore(_ record: PeripheralRecord, on slot: AdapterSlot) {
    guard let listed = record.deviceAddress, let id = record.identifier, byID[OctetText(id)] == nil else { return }
    // The daemon may have been killed before it stored the pairing.
    let address = bonds.resolver.identity(of: listed) ?? listed
    guard byAddress[address] == nil else { return }
    let peripheral = add(id, address, on: slot, name: record.deviceName)
    peripheral.wasConnected = record.wasConnected ?? true
    peripheral.wasMet = record.wasMet ?? true
    peripheral.isPrivate = record.usesPrivateAddresses ?? (peripheral.wasConnected ? address != listed : nil)
    peripheral.unansweredExchange = record.ignoresMTUSince.flatMap { since in
      scheduler.secondsSinceEpoch - since <= QuirkRecords.longestAge ? since : nil
    }
    peripheral.resolvesAddresses = record.resolvesAddresses
    adopt(record.formerIdentifiers, for: peripheral)
    for user in record.users ?? [] { peripheral.used(by: user) }
    stored.insert(peripheral)
    if !record.adapter.utf8.elementsEqual(slot.id.utf8) { awaited[peripheral] = record.adapter }
    peripheral.cache = record.cache.map { GATTCache(hash: $0.hash.octets, attributes: $0.attributes.octets) }
  }

  private var records: PeripheralRecords {
    PeripheralRecords(peripherals: Self.inOrder(stored).map { PeripheralRecord($0) })
  }

  /// Stores a requested device, if there is room besides the connected ones. Its new use is written together with the
  /// next change.
  func store(_ peripheral: Peripheral) {
    awaited[peripheral] = nil
    guard !stores(peripheral) else { return }
    if isFull {
      guard let oldest = Self.inOrder(stored).last(where: { $0.references == 0 && !$0.wasConnected }) else { return }
      counters.evicted += 1
      evict(oldest)
    }
    stored.insert(peripheral)
    document?.changed()
  }

  /// A requested device is linked: stores it, replacing another one if necessary.
  func connected(_ peripheral: Peripheral) {
    guard !stores(peripheral) || !peripheral.wasConnected else { return }
    peripheral.wasConnected = true
    if !stores(peripheral), isFull {
      let others = Self.inOrder(stored).filter { $0.references == 0 }
      let strangers = others.filter { !bonds.contains($0.identity) }
      if let oldest = others.last(where: { !$0.wasConnected }) ?? strangers.last ?? others.last {
        counters.evicted += 1
        evict(oldest)
      }
    }
    stored.insert(peripheral)
    document?.changed()
  }

  /// A link ended before the device answered Exchange MTU: after repeated failures the exchange is skipped.
  /// - Parameters:
  ///   - maximum: the number of consecutive links that is too many.
  ///   - isUnanswered: true if the link was up all the time. Only that is stored: bad radio ends links, too.
  /// - Returns: true if the exchange is skipped from now on.
  func lostExchange(with peripheral: Peripheral, maximum: Int, isUnanswered: Bool) -> Bool {
    peripheral.lostExchanges += 1
    guard peripheral.lostExchanges >= maximum, !peripheral.ignoresMTU else { return false }
    if isUnanswered {
      peripheral.unansweredExchange = scheduler.secondsSinceEpoch
    } else {
      peripheral.endsAtExchange = true
    }
    if isUnanswered, stores(peripheral) { document?.changed() }
    return true
  }

  /// A device has answered if its controller resolves private addresses; nil: its keys have changed since it answered.
  func resolvesAddresses(_ peripheral: Peripheral, _ answer: Bool?) {
    guard peripheral.resolvesAddresses != answer else { return }
    peripheral.resolvesAddresses = answer
    if stores(peripheral) { document?.changed() }
  }

  func stores(_ peripheral: Peripheral) -> Bool { stored.contains(peripheral) }

  private var isFull: Bool { stored.count >= min(limits.stored, max(1, limits.peripherals / 2)) }

  private func evict(_ peripheral: Peripheral) {
    stored.remove(peripheral)
    awaited[peripheral] = nil
    peripheral.cache = nil
  }

  /// A device's cache was made, replaced or dropped.
  func cacheChanged(_ peripheral: Peripheral) {
    guard stores(peripheral) else { return peripheral.cache = nil }
    if peripheral.cacheSize > limits.cache { drop(&peripheral.cache) }
    var excess = stored.reduce(0) { $0 + $1.cacheSize } - limits.caches
    for other in Self.inOrder(stored).reversed() where excess > 0 && other.cache != nil && other != peripheral {
      excess -= other.cacheSize
      drop(&other.cache)
    }
    document?.changed()
  }

  private func drop(_ cache: inout GATTCache?) {
    cache = nil
    counters.droppedCaches += 1
  }

  /// Forgets a device: its identifier, its name, its discovered attributes.
  /// - Throws: `BledError.notPermitted` while a session has a connection or a pending connection to it.
  func forget(_ peripheral: Peripheral) throws(BluetoothError) {
    guard peripheral.references == 0 else {
      throw BledError.notPermitted.error(
        "\(peripheral.id) is connected, awaited, or there for a scan: end that in all sessions first")
    }
    discard(peripheral)
  }

  /// Forgets an unused device that was never discovered or linked, unless there is a bond with it: its address may be
  /// mistyped.
  func forgetUnmet(_ peripheral: Peripheral) {
    guard !peripheral.wasMet, peripheral.references == 0, byAddress[peripheral.address] === peripheral,
      !bonds.contains(peripheral.identity)
    else { return }
    discard(peripheral)
  }

  private func discard(_ peripheral: Peripheral) {
    let wasStored = stores(peripheral)
    remove(peripheral)
    if wasStored { document?.changed() }
  }

  // MARK: Look-ups

  /// The device at this address, remembered from now on.
  func peripheral(at address: DeviceAddress, on adapter: AdapterSlot) -> Peripheral {
    if let known = byAddress[address] ?? aliases[address] {
      known.lastUse = scheduler.now
      return known
    }
    if let identity = bonds.resolver.identity(of: address) {
      let peripheral = peripheral(at: identity, on: adapter)
      alias(address, peripheral)
      return peripheral
    }
    if byAddress.count >= limits.peripherals { forgetOldest() }
    return add(makeIdentifier(), address, on: adapter, name: nil)
  }

  /// The device at this address, if known.
  func known(at address: DeviceAddress) -> Peripheral? {
    byAddress[address] ?? aliases[address] ?? bonds.resolver.identity(of: address).flatMap { byAddress[$0] }
  }

  /// The addresses where an adapter's controller may discover the device with this address number, of either type; nil
  /// if the host has to discover it, to resolve its private addresses.
  func audible(_ number: UInt64, on slot: AdapterSlot) -> [DeviceAddress]? {
    let possible = [DeviceAddress.Kind.public, .random].map { DeviceAddress(value: number, kind: $0) }
    for address in possible where !slot.adapter.resolves(address) {
      let isPrivate = known(at: address).map(mustBeHeard) ?? bonds.resolver.resolves(address)
      if isPrivate { return nil }
    }
    let known = possible.filter { self.known(at: $0)?.wasMet == true || bonds.contains($0) }
    return known.isEmpty ? possible : known
  }

  private func add(_ id: String, _ address: DeviceAddress, on adapter: AdapterSlot, name: String?) -> Peripheral {
    lastNumber += 1
    let new = Peripheral(
      id: id, number: lastNumber, address: address, adapter: adapter, now: scheduler.now, name: name)
    byAddress[address] = new
    byID[OctetText(new.id)] = new
    return new
  }

  /// The device with this identifier.
  func find(_ id: String) throws(BluetoothError) -> Peripheral {
    guard id.utf8.count == Self.identifierLength,
      let found = byID[OctetText(id)] ?? byID[OctetText(id.uppercased())]
    else {
      throw GAPError.unknownDevice.error(
        "no device \"\(id.excerpt)\" is known: scan for it, or connect by its address")
    }
    found.lastUse = scheduler.now
    return found
  }

  /// The device with this identifier; nil for an unknown one. That is no use of it.
  func known(_ id: String) -> Peripheral? { byID[OctetText(id)] }

  /// Number of known devices.
  var count: Int { byID.count }

  /// The device with this identity address.
  func find(identity address: DeviceAddress) -> Peripheral? {
    byAddress.values.first { $0.identity == address && $0.address != address } ?? byAddress[address]
  }

  /// All devices, the last received first.
  var all: [Peripheral] { Self.inOrder(byAddress.values) }

  private static func inOrder(_ peripherals: some Sequence<Peripheral>) -> [Peripheral] {
    peripherals.sorted { ($0.lastUse, $0.number) > ($1.lastUse, $1.number) }
  }

  /// Forgets an eighth of the devices at once, so that the search for the oldest is rare.
  private func forgetOldest() {
    let candidates = Self.inOrder(byAddress.values.filter { $0.references == 0 && !stored.contains($0) }).reversed()
    for peripheral in candidates.prefix(max(1, limits.peripherals / 8)) {
      remove(peripheral)
      counters.forgotten += 1
    }
  }

  private func remove(_ peripheral: Peripheral) {
    if stores(peripheral) { evict(peripheral) }
    byAddress[peripheral.address] = nil
    for id in peripheral.formerIDs + [peripheral.id] { byID[OctetText(id)] = nil }
    aliases = aliases.filter { $0.value != peripheral }
  }

  // MARK: Identities

  var resolvesAny: Bool { bonds.resolver.resolvesAny }

  /// True if a device must be discovered before it can be connected: it uses resolvable private addresses.
  func mustBeHeard(_ peripheral: Peripheral) -> Bool {
    peripheral.isPrivate != false && bonds.resolver.resolves(peripheral.identity)
  }

  /// A device has paired and disclosed its identity. It keeps its identifier over restarts from now on.
  func paired(_ peripheral: Peripheral, as identity: DeviceAddress) {
    peripheral.identity = identity
    if peripheral.address != identity { unite(peripheral, with: identity) }
    connected(byAddress[identity] ?? peripheral)
  }

  /// A device is no longer used: its identity's entry takes its place.
  func released(_ peripheral: Peripheral) {
    guard peripheral.references == 0, peripheral.identity != peripheral.address else { return }
    unite(peripheral, with: peripheral.identity)
  }

  /// A device known by a private address has this identity. If another entry has that address, the used one replaces
  /// both, and is found by the other's identifier, too. If both are in use they are united when one is released.
  private func unite(_ peripheral: Peripheral, with identity: DeviceAddress) {
    let old = peripheral.address
    if let other = byAddress[identity] {
      let isYielding = other.references == 0 && (peripheral.references > 0 || stores(peripheral) && !stores(other))
      guard isYielding else {
        peripheral.identity = identity
        guard peripheral.references == 0 else { return }
        replace(peripheral, by: other)
        return alias(old, other)
      }
      replace(other, by: peripheral)
    }
    byAddress[old] = nil
    peripheral.rename(to: identity)
    byAddress[identity] = peripheral
    alias(old, peripheral)
    if stores(peripheral) { document?.changed() }
  }

  private func replace(_ old: Peripheral, by new: Peripheral) {
    let former = old.formerIDs + [old.id]
    remove(old)
    new.lastUse = max(new.lastUse, old.lastUse)
    new.wasMet = new.wasMet || old.wasMet
    for user in old.users { new.used(by: user) }
    adopt(former, for: new)
  }

  private func adopt(_ former: [String], for peripheral: Peripheral) {
    for id in former where byID[OctetText(id)] == nil {
      byID[OctetText(id)] = peripheral
      if let dropped = peripheral.wasKnown(as: id) { byID[OctetText(dropped)] = nil }
    }
  }

  private func alias(_ address: DeviceAddress, _ peripheral: Peripheral) {
    if aliases.count >= Self.maximumAliases {
      aliases = [:]
      counters.droppedAliases += 1
    }
    aliases[address] = peripheral
  }

  /// A device can be reached under this address.
  /// - Returns: true if the address has changed.
  func reached(_ peripheral: Peripheral, at address: DeviceAddress) -> Bool {
    let wasPrivate = peripheral.isPrivate
    let hasMoved = peripheral.isReached(at: address, now: scheduler.now)
    if peripheral.isPrivate != wasPrivate, stores(peripheral) { document?.changed() }
    return hasMoved
  }
}

extension PeripheralDirectory: BondObserver {
  /// The bonds' keys resolve private addresses from now on. A device already discovered at one of them is the same
  /// device.
  func bondsChanged(from earlier: IdentityResolver) {
    if bonds.resolver != earlier {
      // The earlier keys were tried with all of them on reception.
      let added = bonds.resolver.subtracting(earlier)
      aliases = [:]
      for peripheral in added.resolvesAny ? all : [] where peripheral.address.isResolvablePrivate {
        if let identity = added.identity(of: peripheral.address) { unite(peripheral, with: identity) }
      }
    }
    onBondsChanged()
  }
}

extension Peripheral {
  fileprivate var cacheSize: Int { cache?.attributes.count ?? 0 }
}
