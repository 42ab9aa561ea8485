import Adapter
import BledRPC
import Bluetooth
import GATT

/// A service or characteristic whose parts are requested.
struct DiscoveryScope {
  /// The handle of the service, or of the characteristic's value.
  let handle: UInt16
  /// Only these are requested; all if nil or empty.
  let uuids: [BluetoothUUID]?

  /// Accepts the requested UUIDs.
  fileprivate var filter: (BluetoothUUID) -> Bool {
    guard let wanted = uuids?.nonEmpty.map(Set.init) else { return { _ in true } }
    return { wanted.contains($0) }
  }
}

/// A session's request to discover.
enum DiscoveryRequest {
  /// All services with their contents, within a time limit.
  case everything(Reply<GATTServices>, DiscoveryClock)
  /// The primary services, or only the ones with the given UUIDs.
  case services([BluetoothUUID], Reply<GATTServices>)
  /// The services included by the one at the scope's handle.
  case includedServices(DiscoveryScope, Reply<GATTServices>)
  /// The characteristics of the service at the scope's handle.
  case characteristics(DiscoveryScope, Reply<GATTDiscoverCharacteristics.Result>)
  /// The descriptors of the characteristic whose value is at the scope's handle.
  case descriptors(DiscoveryScope, Reply<GATTDiscoverDescriptors.Result>)

  /// The clock of a discovery of everything.
  var clock: DiscoveryClock? { if case .everything(_, let clock) = self { clock } else { nil } }

  func succeed(_ answer: DiscoveryAnswer) {
    switch (self, answer) {
    case (.everything(let reply, let clock), .services(let found)):
      clock.stop()
      reply.succeed(GATTServices(services: found))
    case (.services(_, let reply), .services(let found)),
      (.includedServices(_, let reply), .services(let found)):
      reply.succeed(GATTServices(services: found))
    case (.characteristics(_, let reply), .characteristics(let found)): reply.succeed(.init(characteristics: found))
    case (.descriptors(_, let reply), .descriptors(let found)): reply.succeed(.init(descriptors: found))
    default: fail(GATTResult.unexpected())
    }
  }

  func fail(_ error: BluetoothError) {
    switch self {
    case .everything(let reply, let clock):
      clock.stop()
      reply.fail(error)
    case .services(_, let reply), .includedServices(_, let reply): reply.fail(error)
    case .characteristics(_, let reply): reply.fail(error)
    case .descriptors(_, let reply): reply.fail(error)
    }
  }
}

/// A discovery's times: its deadline and its last progress report.
final class DiscoveryClock {
  /// The interval of progress reports.
  private static let pause = Duration.seconds(1)

  private let scheduler: any Scheduler
  private var alarm: (any ScheduledWork)?
  private var reported: Instant

  init(_ scheduler: any Scheduler) {
    self.scheduler = scheduler
    reported = scheduler.now
  }

  /// - Parameter timedOut: called when the time is over, unless it is stopped before.
  func start(_ timeout: Duration, timedOut: @escaping () -> Void) {
    alarm = scheduler.schedule(after: timeout, timedOut)
  }

  func stop() { alarm?.cancel() }

  /// True if progress is due to be reported.
  func isReportDue() -> Bool {
    guard reported.duration(to: scheduler.now) >= Self.pause else { return false }
    reported = scheduler.now
    return true
  }
}

/// The description of a device for a session.
enum DiscoveryAnswer {
  case services([ServiceDescription])
  case characteristics([CharacteristicDescription])
  case descriptors([DescriptorDescription])
}

/// The known attributes of a linked device: discovered on this link, or before under the same database hash. Never
/// copied: it is used where it lies.
struct Discovery: ~Copyable {
  /// The device's database hash, as far as it was read.
  private enum DatabaseHash: Hashable {
    case unread
    case absent
    case read([UInt8])
  }

  private(set) var known = KnownAttributes()
  /// The Service Changed value.
  var serviceChanged: UInt16? { known.serviceChanged }
  /// Read with the first discovery on the link, and again when services have changed.
  private var hash = DatabaseHash.unread
  /// The cached revision of `known`.
  private var cachedRevision = 0
  /// True from when the cache was found valid until `takeRecall`.
  private var wasRecalled = false
  /// True if the device reports changed services, also those between links: the cache then needs no hash.
  private var isTold = false
  /// Findings of sessions with a restoration identifier, by session number.
  private var trees: [Int: DiscoveredTree] = [:]
  private let peripheral: Peripheral
  private let directory: PeripheralDirectory

  init(of peripheral: Peripheral, in directory: PeripheralDirectory) {
    self.peripheral = peripheral
    self.directory = directory
  }

  // MARK: Asking the device

  /// The machine that discovers the attributes a request lacks.
  func machine(for request: DiscoveryRequest) -> DiscoveryMachine {
    switch request {
    case .everything: return DiscoveryMachine(.everything)
    case .services(let uuids, _):
      let isMany = known.searched.count + uuids.count > KnownAttributes.maximumSearches
      return DiscoveryMachine(.services(isMany ? [] : uuids))
    case .includedServices(let scope, _): return DiscoveryMachine(.includes(scope.handle))
    case .characteristics(let scope, _): return DiscoveryMachine(.characteristics(scope.handle))
    case .descriptors(let scope, _): return DiscoveryMachine(.descriptors(scope.handle))
    }
  }

  /// Adds the result of the last procedure.
  /// - Returns: true if the database differs from the cached one, so all handles are invalid.
  mutating func add(
    _ result: Result<GATTResult, BluetoothError>, to machine: inout DiscoveryMachine
  ) throws -> Bool {
    if machine.isReadingHash { return try readHash(result) }
    switch result {
    case .success(let found): try machine.receive(found, &known)
    case .failure(let error): try machine.receive(error, &known)
    }
    return false
  }

  /// The next procedure; nil when everything requested is known. It is then cached, if there is a hash to identify it
  /// by, or the device reports changes.
  mutating func next(_ machine: inout DiscoveryMachine) throws -> GATTProcedure? {
    let next = try machine.next(known, isVerified: hash != .unread, hasCache: peripheral.cache != nil)
    if next == nil { updateCache() }
    return next
  }

  /// The device disclosed a part only: discovery is repeated on the next link.
  mutating func isIncomplete() { known.isIncomplete = true }

  /// The device is bonded, and reports changed services, also those between links.
  mutating func changesAreTold() {
    isTold = true
    updateCache()
    // Without the Service Changed characteristic, the next change would go unnoticed.
    guard hash == .unread, let cache = peripheral.cache, cache.hash.isEmpty,
      let cached = KnownAttributes(octets: cache.attributes), cached.serviceChanged != nil
    else { return }
    hash = .absent
    recall(cached)
  }

  /// The device does not report changes: a cache without a hash is useless on later links.
  mutating func changesAreNotTold() {
    isTold = false
    if peripheral.cache?.hash.isEmpty == true { setCache(nil) }
  }

  /// Adds a characteristic's descriptors, discovered in order to subscribe to it.
  mutating func add(_ descriptors: [DiscoveredDescriptor], of value: UInt16) { known.add(descriptors, of: value) }

  /// The device's database hash is here: if the cache was made under the same, its attributes are known.
  private mutating func readHash(_ result: Result<GATTResult, BluetoothError>) throws -> Bool {
    var value: [UInt8]?
    switch result {
    case .success(.value(let octets)): value = octets
    case .success: throw GATTResult.unexpected()
    // The device has none, does not let us read it, or its answer is malformed.
    case .failure(let error) where error.domain == .att || error.isUnusableAnswer: break
    case .failure(let error): throw error
    }
    // Another operation may have read it by now.
    guard hash == .unread else { return false }
    hash = value.flatMap { Self.isPlausible($0) ? .read($0) : nil } ?? .absent
    guard let cache = peripheral.cache else { return false }
    if hash == .read(cache.hash), let cached = KnownAttributes(octets: cache.attributes) {
      recall(cached)
      return false
    }
    setCache(nil)
    // Without a hash the cache belonged to another bond, and no program has its handles.
    return !cache.hash.isEmpty
  }

  private mutating func recall(_ cached: KnownAttributes) {
    (known, cachedRevision, wasRecalled) = (cached, cached.revision, true)
  }

  /// Returns true once after the attributes of an earlier link were found valid.
  mutating func takeRecall() -> Bool {
    defer { wasRecalled = false }
    return wasRecalled
  }

  /// True if it can be a database hash. Some devices have the characteristic with nothing in it.
  private static func isPlausible(_ hash: [UInt8]) -> Bool {
    hash.count == 16 && hash.contains { $0 != hash[0] }
  }

  private mutating func updateCache() {
    guard cachedRevision != known.revision, !known.isIncomplete else { return }
    switch hash {
    case .read(let hash): setCache(GATTCache(hash: hash, attributes: known.octets))
    case .absent where isTold && known.serviceChanged != nil:
      setCache(GATTCache(hash: [], attributes: known.octets))
    case .absent, .unread: return
    }
    cachedRevision = known.revision
  }

  private func setCache(_ cache: GATTCache?) {
    peripheral.cache = cache
    directory.cacheChanged(peripheral)
  }

  // MARK: Invalidation

  /// The procedure that checks if the discovered database is still current: reads the hash or, without one, the
  /// services; nil if nothing is known.
  var check: GATTProcedure? {
    switch hash {
    case .read: .readDatabaseHash
    case .absent: .discoverServices(.primary)
    case .unread: nil
    }
  }

  /// True if the result of `check` differs from the earlier discovery.
  func isOutdated(by result: Result<GATTResult, GATTError>?) -> Bool {
    switch (hash, result) {
    case (.read(let known), .success(.value(let value))): Self.isPlausible(value) && value != known
    case (.absent, .success(.services(let found))): known.differs(fromPrimaries: found)
    default: false
    }
  }

  /// The device reported that its services changed: the hash is read again before the next discovery.
  mutating func databaseChanged() {
    hash = .unread
    setCache(nil)
  }

  /// Forgets the attributes in a range of handles.
  mutating func forget(_ range: ClosedRange<UInt16>) {
    known.forget(range)
    for session in trees.keys { trees[session]?.forget(range) }
  }

  // MARK: Answers

  /// The answer to a request from the known attributes; it is recorded if the session has a restoration identifier.
  mutating func answer(_ request: DiscoveryRequest, of session: Session?) throws -> DiscoveryAnswer {
    switch request {
    case .everything:
      let services = known.tree
      record(for: session) { $0.add(services) }
      return .services(services)
    case .services(let uuids, _):
      let wanted = Set(uuids)
      let services = known.services
        .filter { $0.isPrimary == true && (wanted.isEmpty || wanted.contains($0.uuid)) }
        .map { ServiceDescription($0) }
      record(for: session) { $0.add(services) }
      return .services(services)
    case .includedServices(let scope, _):
      let isWanted = scope.filter
      let wanted = try known.service(at: scope.handle).includes?.filter { isWanted($0.uuid) }
      let services = known.descriptions(of: wanted ?? [])
      record(for: session) { $0.add(includes: services, of: scope.handle) }
      return .services(services)
    case .characteristics(let scope, _):
      let isWanted = scope.filter
      let wanted = try known.service(at: scope.handle).characteristics?.filter { isWanted($0.uuid) }
      let characteristics = (wanted ?? []).map {
        CharacteristicDescription($0, extended: known.extendedProperties(of: $0.valueHandle))
      }
      record(for: session) { $0.add(characteristics, of: scope.handle) }
      return .characteristics(characteristics)
    case .descriptors(let scope, _):
      let isWanted = scope.filter
      let wanted = known.descriptors(of: scope.handle)?.filter { isWanted($0.uuid) }
      let descriptors = (wanted ?? []).map { DescriptorDescription(handle: $0.handle, uuid: $0.uuid) }
      record(for: session) { $0.add(descriptors, of: scope.handle) }
      return .descriptors(descriptors)
    }
  }

  /// True if the attributes can be located without asking the device.
  func isKnown(_ paths: [AttributePath]) throws -> Bool {
    guard paths.contains(where: { $0.handle == nil }) else { return true }
    return try hash != .unread && known.missing(for: paths) == nil
  }

  /// The handle of an attribute, and its UUID if the path has UUIDs; the session receives both.
  mutating func locate(_ path: AttributePath, for session: Session) throws -> (handle: UInt16, uuid: BluetoothUUID?) {
    if let handle = path.handle { return (handle, nil) }
    let found = try known.attribute(at: path)
    record(for: session) { tree in
      tree.add([ServiceDescription(found.service)])
      guard let characteristic = found.characteristic else { return }
      tree.add([CharacteristicDescription(characteristic)], of: found.service.range.lowerBound)
    }
    return (found.handle, found.uuid)
  }

  /// A preserved session's findings; nil if it discovered nothing on this link.
  func services(discoveredBy session: Session) -> [ServiceDescription]? { trees[session.id]?.services }

  /// Records a preserved session's discoveries on an earlier link.
  /// - Returns: true if the device still has these services; otherwise nothing is recorded.
  mutating func restore(_ services: [ServiceDescription], for session: Session) -> Bool {
    var found = DiscoveredTree()
    found.add(known.tree)
    guard found.contains(services) else { return false }
    trees[session.id, default: DiscoveredTree()].add(services)
    return true
  }

  /// Forgets the discoveries made by a session that has disconnected from the device.
  mutating func forget(_ session: Session) { trees[session.id] = nil }

  private mutating func record(for session: Session?, _ add: (inout DiscoveredTree) -> Void) {
    guard let session, session.restoration != nil else { return }
    add(&trees[session.id, default: DiscoveredTree()])
  }
}

extension KnownAttributes {
  /// Everything known, as clients see it.
  fileprivate var tree: [ServiceDescription] {
    services.map { service in
      ServiceDescription(
        service, includes: descriptions(of: service.includes ?? []),
        characteristics: (service.characteristics ?? []).map {
          CharacteristicDescription(
            $0, descriptors: descriptors(of: $0.valueHandle) ?? [], extended: extendedProperties(of: $0.valueHandle))
        })
    }
  }

  fileprivate func descriptions(of includes: [DiscoveredInclude]) -> [ServiceDescription] {
    includes.map { include in
      ServiceDescription(include, isPrimary: service(ifKnown: include.range.lowerBound)?.isPrimary ?? false)
    }
  }
}
