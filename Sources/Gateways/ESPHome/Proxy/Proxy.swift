import BledConnection
import BledRPC
import Bluetooth

/// A Bluetooth proxy for Home Assistant, on top of bled: its clients, the scan, and the connections. It does no I/O and
/// belongs to one thread.
package final class Proxy {
  /// The settings that the configuration has.
  package struct Settings {
    /// A label of a host name, by which clients know the proxy.
    package var name: String
    package var friendlyName: String
    /// 32 octets; nil: the proxy does not encrypt.
    package var key: [UInt8]?
    /// The adapter to use; nil: all, with the identity of the first.
    package var adapter: String?
    /// The connections to devices at a time.
    package var connections: Int
    /// True if the scan is active until a client chooses.
    package var scansActively: Bool
    /// True if the proxy connects to Home Assistant by itself; only with a key.
    package var connectsOut: Bool

    package init(
      name: String, friendlyName: String, key: [UInt8]?, adapter: String? = nil, connections: Int = 8,
      scansActively: Bool = true, connectsOut: Bool = false
    ) {
      self.name = name
      self.friendlyName = friendlyName
      self.key = key
      self.adapter = adapter
      self.connections = connections
      self.scansActively = scansActively
      self.connectsOut = connectsOut && key != nil
    }
  }

  package enum OutgoingState: Hashable, Sendable {
    /// Home Assistant is connected, by either side.
    case connected
    /// Home Assistant has ended the connection before its hello, or has another key.
    case refused
    /// Home Assistant cannot be connected to in time, or does not say hello.
    case timeout
  }

  /// The clients that have said hello; the clients that have not yet, but have shown the key; and the clients without
  /// either.
  private static let clientLimit = 16
  private static let silentLimit = 16
  private static let strangerLimit = 16

  /// The proxy can serve clients: at first, and when bled or the adapter is available again.
  package var whenReady: (DeviceDescription) -> Void = { _ in }
  /// bled is available, and its adapter is awaited, with the reason.
  package var whenWaiting: (String) -> Void = { _ in }
  /// The connection to bled is lost, or cannot be made.
  package var whenLost: (BluetoothError) -> Void = { _ in }
  /// Begin to connect to Home Assistant; `opened` or `openFailed` follows.
  package var whenConnecting: () -> Void = {}
  /// Stop connecting to Home Assistant.
  package var whenCancelled: () -> Void = {}
  /// The state of the connection to Home Assistant, if the proxy opens it.
  package var whenOutgoing: (OutgoingState) -> Void = { _ in }

  /// The identity; nil until the adapter's address is known.
  package private(set) var device: DeviceDescription?
  private let settings: Settings
  private let context: ProxyContext
  private let own: LastingSession
  private let scanner: Scanner
  private let outgoing: OutgoingConnection
  private var isClosed = false
  /// True if clients can be served, as far as the last call of `whenReady`, `whenWaiting` or `whenLost` says.
  private var isReady = false
  private var features = ProxyFeatures()
  private var adapters: [AdapterDescription] = []
  /// In the order of their arrival.
  private var clients: [ProxyClient] = []
  /// The clients that receive advertisements, by their numbers, each with true if it reads AD structures itself.
  private var subscribers: [Int: Bool] = [:]
  private var lastNumber = 0

  package init(_ settings: Settings, _ connector: any DaemonConnector, _ clock: any Scheduler) {
    self.settings = settings
    context = ProxyContext(connector, clock, adapter: settings.adapter, slots: settings.connections)
    own = LastingSession(named: "Home Assistant proxy", connector, clock)
    scanner = Scanner(clock, adapter: settings.adapter, isActive: settings.scansActively)
    outgoing = OutgoingConnection(clock)
    outgoing.connect = { [unowned self] in whenConnecting() }
    outgoing.cancel = { [unowned self] isTimeout in
      whenCancelled()
      if isTimeout { whenOutgoing(.timeout) }
    }
    own.began = { [unowned self] in began($0) }
    own.notified = { [unowned self] in notified($0, $1) }
    own.lost = { [unowned self] in lost($0) }
    context.slotsChanged = { [unowned self] in
      for client in clients where client.hearsSlots { client.send(context.slots.frame) }
    }
    scanner.changed = { [unowned self] in
      for client in clients where subscribers[client.number] != nil { client.send(scanner.frame) }
    }
    scanner.heard = { [unowned self] frame in
      for client in clients where subscribers[client.number] == true { client.sendAdvertisements(frame) }
    }
    scanner.heardByOldClients = { [unowned self] frame in
      for client in clients where subscribers[client.number] == false { client.sendAdvertisements(frame) }
    }
  }

  package var counters: ProxyCounters { context.counters }

  /// The number of clients that have said hello.
  package var clientCount: Int { clients.count { !$0.isSilent } }

  package func start() { own.start() }

  /// Ends the sessions of all clients.
  package func close() {
    isClosed = true
    requireOutgoing()
    dismissAll()
    own.close()
  }

  private func dismissAll() {
    for client in clients { client.dismiss() }
  }

  // MARK: Clients

  /// A client has connected.
  /// - Returns: nil without a place for it; the stream is then closed.
  package func accept(_ stream: any ClientStream) -> ProxyClient? { add(stream, isOutgoing: false) }

  /// The proxy has connected to Home Assistant.
  /// - Returns: nil without a place for it; the stream is then closed.
  package func opened(_ stream: any ClientStream) -> ProxyClient? {
    guard let client = add(stream, isOutgoing: true) else {
      outgoing.failed()
      return nil
    }
    outgoing.opened()
    client.announce()
    return client
  }

  /// Home Assistant cannot be connected to.
  package func openFailed() { outgoing.failed() }

  private func add(_ stream: any ClientStream, isOutgoing: Bool) -> ProxyClient? {
    guard let device, clientCount < Self.clientLimit else {
      context.counters.refused += 1
      stream.close()
      return nil
    }
    if !isOutgoing { makeRoom(for: stream.origin) }
    context.counters.accepted += 1
    lastNumber += 1
    let identity = APITransport.Identity(name: device.name, address: device.compactAddress)
    let client = ProxyClient(
      lastNumber, context, self, stream, APITransport(identity: identity, key: settings.key), isOutgoing: isOutgoing)
    clients.append(client)
    return client
  }

  /// Connections without a hello must not exclude others: one is closed, the oldest of the clients with the key, and
  /// among the others the oldest from the most frequent origin.
  private func makeRoom(for origin: [UInt8]) {
    let silent = clients.filter { $0.isSilent && !$0.isStranger }
    for client in silent.dropLast(Self.silentLimit - 1) { client.giveWay() }
    let strangers = clients.filter(\.isStranger)
    guard strangers.count >= Self.strangerLimit else { return }
    var counts: [[UInt8]: Int] = [origin: 1]
    for client in strangers { counts[client.origin, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    // Among equals it is the turn of the newcomer's own.
    let isOwn = counts[origin] == most && strangers.contains { $0.origin == origin }
    strangers.first { isOwn ? $0.origin == origin : counts[$0.origin] == most }?.giveWay()
  }

  func left(_ client: ProxyClient, _ cause: ProxyClient.EndCause) {
    clients.removeAll { $0 === client }
    unsubscribe(client)
    requireOutgoing()
    guard client.isOutgoing else { return }
    outgoing.ended()
    guard !client.isTarget, !clients.contains(where: \.isTarget) else { return }
    switch cause {
    case .client: whenOutgoing(.refused)
    case .silence: whenOutgoing(.timeout)
    case .proxy: break
    }
  }

  /// A client has said hello.
  func served(_ client: ProxyClient) {
    if client.isOutgoing { outgoing.served() }
    requireOutgoing()
    if client.isTarget, settings.connectsOut { whenOutgoing(.connected) }
  }

  private func requireOutgoing() {
    outgoing.require(settings.connectsOut && !isClosed && device != nil && !clients.contains(where: \.isTarget))
  }

  /// - Parameter isRaw: true if the client reads AD structures itself.
  func subscribe(_ client: ProxyClient, raw isRaw: Bool) {
    // The state is reported with its change if this is the first subscriber, else now.
    let isFirst = subscribers.isEmpty
    subscribers[client.number] = isRaw
    wantScan()
    if !isFirst { client.send(scanner.frame) }
  }

  func unsubscribe(_ client: ProxyClient) {
    if subscribers.removeValue(forKey: client.number) != nil { wantScan() }
  }

  private func wantScan() {
    scanner.want(raw: subscribers.values.contains(true), parsed: subscribers.values.contains(false))
  }

  func setScannerMode(active: Bool) { scanner.setMode(active: active) }

  // MARK: bled

  private func began(_ opened: SessionOpen.Result) {
    features = ProxyFeatures(opened)
    adapters = opened.adapters
    scanner.use(own.session)
    adapterChanged()
  }

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case ScanReport.name:
      if let report = message.concerned(ScanReport.Outline.self) { scanner.report(report) }
    case AdapterChanged.name:
      guard let change = try? message.params(AdapterDescription.self) else { return }
      if let place = adapters.firstIndex(where: { $0.adapter.utf8.elementsEqual(change.adapter.utf8) }) {
        adapters[place] = change
      } else if adapters.count < 64 {
        adapters.append(change)
      }
      adapterChanged()
    default: break
    }
  }

  private func lost(_ error: BluetoothError) {
    scanner.use(nil)
    isReady = false
    whenLost(error)
  }

  private func waits(_ reason: String) {
    isReady = false
    whenWaiting(reason)
  }

  private func adapterChanged() {
    let adapter =
      settings.adapter.map { name in
        adapters.first { $0.adapter.utf8.elementsEqual(name.utf8) }
      } ?? adapters.first
    guard let adapter else {
      let names = adapters.map(\.adapter).joined(separator: ", ")
      return waits("bled has no adapter \(settings.adapter ?? ""), but \(names.isEmpty ? "none" : names)")
    }
    scanner.adapterChanged(isOn: adapter.state.known == .on)
    guard let address = adapter.address else {
      if device == nil { waits("the address of the adapter \(adapter.adapter) is not known yet") }
      return
    }
    let new = DeviceDescription(
      name: settings.name, friendlyName: settings.friendlyName, address: address, features: features,
      connectsOut: settings.connectsOut)
    guard new != device || !isReady else { return }
    // Clients that know another identity connect again.
    if new != device { dismissAll() }
    device = new
    isReady = true
    whenReady(new)
    requireOutgoing()
  }
}
