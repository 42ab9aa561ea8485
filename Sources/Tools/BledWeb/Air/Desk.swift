import BledClient
import FoundationEssentials
import ValueFormats

/// The session with the daemon that all pages share: its scan, its links and subscriptions, and the status.
@MainActor final class Desk {
  private static let maximumLinks = 16
  private static let maximumSubscriptions = 64
  private static let maximumEnds = 50
  /// Maximum descriptors of a device that are read for names and formats.
  private static let maximumDescriptions = 64
  /// The limit for the sessions in the status.
  private static let maximumSessions = 200
  /// Devices that are silent for longer are removed, in seconds.
  private static let silence = 30.0
  private static let connectTimeout = Duration.seconds(15)

  let recordings = Recordings()
  let pairings = Pairings()
  private let socket: String
  private let feed: Feed
  private let words: Words
  private let keys: [ScanStart.Key]?
  private var names = NameList()
  private var client: BledClient?
  private var links: [String: Link] = [:]
  /// The connections that are being made.
  private var connecting: [String: Task<Result<Tree, BluetoothError>, Never>] = [:]
  private var subscriptions: [Status.Subscription: Task<Void, Never>] = [:]
  private var status: Status
  private var isScanning = false
  private var isRefreshing = false
  private var audience = Audience()
  private let begun = ContinuousClock.now
  private var now: Duration { .now - begun }
  /// The number of open pages: 30 s after the last one there is no scan and no link.
  var pages = 0 {
    didSet {
      audience.count(pages, at: now)
      if oldValue == 0 { Task { await refresh() } }
    }
  }

  init(socket: String, feed: Feed, words: Words, allowsWrites: Bool, keys: [ScanStart.Key]?) {
    self.keys = keys
    self.socket = socket
    self.feed = feed
    self.words = words
    status = Status(release: Release.version, writes: allowsWrites)
    recordings.changed = { [weak self] in self?.publish() }
    pairings.changed = { [weak self] in self?.publish() }
    publish()
  }

  /// Keeps a connection to the daemon, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do throws(BluetoothError) {
        let client = try await BledClient.connect(to: socket, name: "bleshell web")
        begin(client)
        while client.isConnected, !Task.isCancelled {
          let isWatched = audience.isPresent(at: now)
          if isWatched || isScanning { await refresh() }
          if !isWatched { await releaseLinks() }
          try? await Task.sleep(for: .seconds(1))
        }
        client.close()
        status.problem = "the connection to bled has ended"
      } catch {
        status.problem = error.message
      }
      reset()
      try? await Task.sleep(for: .seconds(2))
    }
  }

  private func begin(_ client: BledClient) {
    self.client = client
    (status.daemon, status.problem) = (client.session.daemon, nil)
    let feed = feed
    _ = client.observeMessages(of: ScanReport.self) { feed.received($0) }
    _ = client.observe(ScanLost.self) {
      feed.lost($0.peripheral)
    } end: { _ in
    }
    _ = client.observe(PeripheralLinkChanged.self) { change in
      guard !change.linked else { return }
      Task { @MainActor [weak self] in self?.ended(change) }
    } end: { _ in
    }
    // Without the permission there are no links to report.
    client.call(PeripheralWatch.self, .init()) { _ in }
  }

  private func reset() {
    for task in subscriptions.values { task.cancel() }
    (client, links, subscriptions, isScanning) = (nil, [:], [:], false)
    (status.daemon, status.adapters, status.sessions, status.links) = (nil, [], [], [])
    feed.clear()
    publish()
  }

  // MARK: The status

  private func refresh() async {
    guard let client, !isRefreshing else { return }
    isRefreshing = true
    defer { isRefreshing = false }
    setNames()
    await setScan(client)
    let timeout = Duration.seconds(5)
    let adapters = try? await client.call(AdapterList.self, Empty(), timeout: timeout)
    let sessions = try? await sessions(client, timeout)
    let devices = try? await client.call(PeripheralList.self, Empty(), timeout: timeout)
    // The connection may have ended meanwhile.
    guard self.client === client else { return }
    if let adapters { status.adapters = adapters.adapters }
    if let sessions { status.sessions = sessions }
    if let devices { setLinks(devices.peripherals.filter { $0.state == "connected" }) }
    publish()
  }

  private func setLinks(_ links: [PeripheralList.Entry]) {
    status.links = links.map { link in
      var named = link
      named.name = names.name(ofDevice: link.address) ?? link.name
      return named
    }
  }

  /// Takes up the names that the user gives now.
  private func setNames() {
    feed.expire(at: Date().timeIntervalSince1970)
    let names = words.names()
    guard names != self.names else { return }
    self.names = names
    for device in links.keys { links[device]?.naming.list = names }
    feed.setNames(names)
    status.named += 1
    publish()
  }

  private func sessions(_ client: BledClient, _ timeout: Duration) async throws -> [SessionDescription] {
    var sessions: [SessionDescription] = []
    var page: SessionList.Result
    repeat {
      page = try await client.call(SessionList.self, .init(after: sessions.last?.session), timeout: timeout)
      sessions += page.sessions
    } while page.more ?? false && sessions.count < Self.maximumSessions
    return sessions
  }

  private func setScan(_ client: BledClient) async {
    let isWatched = audience.isPresent(at: now)
    guard isScanning != isWatched else { return }
    do throws(BluetoothError) {
      if isWatched {
        isScanning = true
        _ = try await client.call(ScanStart.self, .init(duplicates: true, lost: Self.silence, decode: true, keys: keys))
        status.problem = nil
      } else {
        _ = try await client.call(ScanStop.self, .init())
        isScanning = false
        feed.clear()
      }
    } catch {
      guard self.client === client else { return }
      isScanning = false
      status.problem = error.message
    }
  }

  private func publish() {
    status.connected = links.keys.sorted()
    status.subscriptions = subscriptions.keys.sorted { ($0.device, $0.handle) < ($1.device, $1.handle) }
    status.recordings = recordings.descriptions
    status.question = pairings.question
    let users = Set(status.sessions.compactMap(\.user))
    status.users = Dictionary(uniqueKeysWithValues: users.map { ("\($0)", words.user($0) ?? "\($0)") })
    let encoder = JSONEncoder()
    // Equal ones have equal octets.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if let json = try? encoder.encode(status) { feed.setStatus(json) }
  }

  private func ended(_ change: PeripheralLinkChanged.Params) {
    ended(change.peripheral, change.name, change.reason?.message, isOwn: false)
  }

  private func ended(_ device: String, _ name: String?, _ reason: String?, isOwn: Bool) {
    let now = Date().timeIntervalSince1970
    // The daemon reports this program's links, too, but the program itself knows more.
    if let place = status.ends.firstIndex(where: { $0.device == device && now - $0.time < 2 }) {
      if isOwn || status.ends[place].reason == nil { status.ends[place].reason = reason }
      status.ends[place].name = status.ends[place].name ?? name
    } else {
      status.ends.insert(.init(time: now, device: device, name: name, reason: reason), at: 0)
      if status.ends.count > Self.maximumEnds { status.ends.removeLast() }
    }
    publish()
  }

  // MARK: Operations

  private func connection() throws(BluetoothError) -> BledClient {
    guard let client else { throw BledError.daemonUnreachable.error(status.problem ?? "bled is not running") }
    return client
  }

  /// Connects to a device, unless this program is connected to it, and discovers its attributes. Concurrent requests of
  /// pages get the same answer.
  func connect(_ device: String) async throws(BluetoothError) -> Tree {
    if let link = links[device] { return Tree(link, name: words.name) }
    if let other = connecting[device] { return try await other.value.get() }
    guard links.count + connecting.count < Self.maximumLinks else {
      throw BledError.limitReached.error("\(Self.maximumLinks) devices are connected: disconnect one of them")
    }
    let task = Task { () -> Result<Tree, BluetoothError> in
      do throws(BluetoothError) { return .success(try await establish(device)) } catch { return .failure(error) }
    }
    connecting[device] = task
    defer { connecting[device] = nil }
    return try await task.value.get()
  }

  private func establish(_ device: String) async throws(BluetoothError) -> Tree {
    let peripheral = try await connection().connect(.identifier(device), timeout: Self.connectTimeout)
    do throws(BluetoothError) {
      let services = try await peripheral.discover()
      let naming = await naming(of: peripheral, services)
      links[device] = Link(peripheral: peripheral, services: services, naming: naming)
    } catch {
      try? await peripheral.disconnect()
      throw error
    }
    Task { [weak self] in
      for await reason in peripheral.ends { self?.release(peripheral, reason) }
    }
    publish()
    guard let link = links[device] else { throw GAPError.disconnected.error("the device disconnected at once") }
    return Tree(link, name: words.name)
  }

  /// The names and formats that the user and the device give its attributes.
  private func naming(of peripheral: Peripheral, _ services: [ServiceDescription]) async -> AttributeNaming {
    var naming = AttributeNaming(list: names, address: peripheral.link.address)
    var reads = 0
    for characteristic in services.flatMap({ $0.characteristics ?? [] }) {
      for uuid in AttributeNaming.descriptors {
        let descriptors = (characteristic.descriptors ?? []).filter { $0.uuid == uuid }
        guard descriptors.count == 1, reads < Self.maximumDescriptions else { continue }
        reads += 1
        guard let value = try? await peripheral.read(descriptors[0].handle) else { continue }
        naming.received(uuid, value, of: characteristic.handle)
      }
    }
    return naming
  }

  private func release(_ peripheral: Peripheral, _ reason: BluetoothError?) {
    let device = peripheral.identifier
    guard links[device]?.peripheral === peripheral else { return }
    links[device] = nil
    for key in subscriptions.keys where key.device == device { subscriptions.removeValue(forKey: key)?.cancel() }
    ended(device, nil, reason?.message ?? "bleshell web disconnected", isOwn: true)
  }

  private func link(_ device: String) throws(BluetoothError) -> Link {
    guard let link = links[device] else { throw GAPError.notConnected.error("the device is not connected here") }
    return link
  }

  /// Ends this program's use of a device.
  func disconnect(_ device: String) async throws(BluetoothError) {
    try await link(device).peripheral.disconnect()
  }

  /// Ends this program's use of all devices. A device that does not disconnect is tried again.
  private func releaseLinks() async {
    for link in links.values { try? await link.peripheral.disconnect() }
  }

  /// Reads a value or descriptor.
  func read(_ device: String, _ handle: UInt16) async throws(BluetoothError) -> ValueDescription {
    let link = try link(device)
    let octets = try await link.peripheral.read(handle)
    let kind = link.kind(of: handle)
    return ValueDescription(octets, of: kind.uuid, kind.format, at: Date().timeIntervalSince1970)
  }

  /// Writes a value or descriptor.
  /// - Throws: `BledError.notPermitted` unless writes are allowed.
  func write(_ device: String, _ write: AttributeWrite) async throws(BluetoothError) {
    try requireWrites()
    try await link(device).peripheral.write(write.value.octets, to: write.handle, response: write.response)
  }

  private func requireWrites() throws(BluetoothError) {
    guard status.writes else {
      throw BledError.notPermitted.error("this page only reads: start \"bleshell web\" with --allow-writes")
    }
  }

  /// Pairs with a device, or encrypts the link with the keys of an earlier pairing.
  /// - Throws: `BledError.notPermitted` unless writes are allowed.
  func pair(_ device: String, _ request: Pairings.Request) async throws(BluetoothError) -> PeripheralPair.Result {
    try requireWrites()
    return try await pairings.pair(link(device).peripheral, request, connection())
  }

  /// Forgets the keys shared with a device, which ends its link.
  /// - Throws: `BledError.notPermitted` unless writes are allowed; as the daemon's `pairing.forget`.
  func forget(_ device: String) async throws(BluetoothError) {
    try requireWrites()
    _ = try await connection().call(PairingForget.self, .init(peripheral: device))
  }

  /// Gives a device or a characteristic a name of the user's, or its values a format.
  /// - Throws: `BledError.notPermitted` unless writes are allowed.
  func rename(_ device: String, _ naming: AttributeNames) throws(BluetoothError) {
    try requireWrites()
    let address = feed.device(device)?.report.address ?? links[device]?.naming.address
    let known = address ?? status.links.first { $0.peripheral == device }?.address
    let key: NameList.Key?
    if let handle = naming.handle { key = try link(device).key(of: handle) } else { key = known.flatMap { .init($0) } }
    guard let key else { throw BledError.invalidParameter.error("nothing with this handle is known of the device") }
    try words.rename(key, naming.name, naming.format)
    setNames()
  }

  /// Subscribes to a characteristic, unless this program is subscribed.
  func subscribe(_ device: String, _ handle: UInt16) async throws(BluetoothError) {
    let (link, key) = (try link(device), Status.Subscription(device: device, handle: handle))
    guard subscriptions[key] == nil else { return }
    guard subscriptions.count < Self.maximumSubscriptions else {
      throw BledError.limitReached.error("there are \(Self.maximumSubscriptions) subscriptions: end one of them")
    }
    let values = try await link.peripheral.subscribe(handle)
    let feed = feed
    // Two pages may have requested it at once.
    subscriptions[key]?.cancel()
    subscriptions[key] = Task { [weak self] in
      do {
        for try await octets in values {
          // Its format may have changed.
          guard let kind = self?.links[device]?.kind(of: handle) else { return }
          let value = ValueDescription(octets, of: kind.uuid, kind.format, at: Date().timeIntervalSince1970)
          feed.value(.init(device: device, handle: handle, value: value))
        }
      } catch {
        guard !Task.isCancelled else { return }
        self?.unsubscribe(device, handle)
      }
    }
    publish()
  }

  /// Starts a recording.
  func record() async throws(BluetoothError) {
    try await recordings.start(connection(), at: Date().timeIntervalSince1970)
  }

  /// Ends a recording.
  func stopRecording(_ number: Int) async throws(BluetoothError) { try await recordings.stop(number, connection()) }

  /// Ends a subscription of this program.
  func unsubscribe(_ device: String, _ handle: UInt16) {
    subscriptions.removeValue(forKey: .init(device: device, handle: handle))?.cancel()
    publish()
  }
}
