import Bluetooth

/// A client of the proxy: its frames, its hello, and the check that it is connected.
package final class ProxyClient {
  /// The version 1.minor of the API: clients request the capabilities from 1.15 on; the later ones concern other
  /// devices, but for connections that the proxy opens.
  static let minor: UInt32 = 19
  private static let helloTime = Duration.seconds(15)
  private static let pingTime = Duration.seconds(60)
  private static let longestSilence = Duration.seconds(150)
  private static let advertisementLimit = 64 << 10
  private static let unsentLimit = 1 << 20
  /// The octets of a client's name that are used.
  private static let longestName = 64

  private enum State {
    case silent
    case served(minor: UInt32)
    case ended
  }

  /// The side that has ended the connection.
  enum EndCause {
    /// The client, or its violation of the protocol.
    case client
    /// The proxy, for lack of a sign of life.
    case silence
    /// The proxy, which has ended or has another identity.
    case proxy
  }

  let number: Int
  private let context: ProxyContext
  private unowned let proxy: Proxy
  private let stream: any ClientStream
  private var transport: APITransport
  private var state = State.silent
  private var links: ClientLinks?
  private var lastHeard: Instant
  private var alarm: (any ScheduledWork)?
  private(set) var hearsSlots = false
  /// True if the proxy has opened the connection.
  let isOutgoing: Bool
  /// True if it is Home Assistant, as far as the proxy connects to it by itself: no other connection is required.
  private(set) var isTarget = false

  init(
    _ number: Int, _ context: ProxyContext, _ proxy: Proxy, _ stream: any ClientStream, _ transport: APITransport,
    isOutgoing: Bool = false
  ) {
    self.number = number
    self.isOutgoing = isOutgoing
    self.context = context
    self.proxy = proxy
    self.stream = stream
    self.transport = transport
    lastHeard = context.clock.now
    watch(after: Self.helloTime)
  }

  var isSilent: Bool {
    if case .silent = state { true } else { false }
  }

  /// True if it has connected to the proxy, and has shown neither a key nor a hello.
  var isStranger: Bool { isSilent && !isOutgoing && !transport.hasShownKey }

  var origin: [UInt8] { stream.origin }

  private var isEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// Sends this side's hello, on a connection that the proxy has opened.
  func announce() {
    if let octets = transport.announce() { write(octets) }
  }

  // MARK: From the stream

  /// Octets of the client.
  package func receive(_ octets: some Sequence<UInt8>) {
    guard !isEnded else { return }
    lastHeard = context.clock.now
    transport.append(octets)
    while !isEnded, let event = transport.next() {
      switch event {
      case .message(let frame): received(frame)
      case .send(let octets): write(octets)
      case .end(let octets, let fault):
        if fault == .wrongKey { context.counters.wrongKeys += 1 } else { context.counters.malformed += 1 }
        if !octets.isEmpty { stream.send(octets) }
        end(.client)
      }
    }
  }

  /// The connection has ended.
  package func ended() { end(.client) }

  private func received(_ frame: APIFrame) {
    guard let request = APIRequest(frame) else {
      context.counters.malformed += 1
      return end(.client)
    }
    switch (state, request) {
    case (.silent, .hello(let name, let minor, let isTarget)):
      state = .served(minor: min(minor, Self.minor))
      self.isTarget = isTarget || isOutgoing
      let name = Self.readable(name)
      links = ClientLinks(context, client: number, name: "Home Assistant proxy for \(name)") { [weak self] in
        self?.send($0)
      }
      send(.hello(minor: Self.minor, server: "bled \(proxy.device?.version ?? "")", name: proxy.device?.name ?? ""))
      proxy.served(self)
    case (.silent, _):
      context.counters.malformed += 1
      end(.client)
    case (.served(let minor), let request): serve(request, minor)
    case (.ended, _): break
    }
  }

  private func serve(_ request: APIRequest, _ minor: UInt32) {
    switch request {
    case .hello, .pong, .other: break
    case .authenticate: send(.authenticated)
    case .disconnect:
      send(.disconnected)
      end(.client)
    case .disconnected: end(.client)
    case .ping: send(.pong)
    case .deviceInfo: if let device = proxy.device { send(.deviceInfo(device)) }
    case .deviceCapabilities: if let device = proxy.device { send(.deviceCapabilities(device)) }
    case .listEntities: send(.entitiesDone)
    case .subscribeAdvertisements(let isRaw): proxy.subscribe(self, raw: isRaw)
    case .unsubscribeAdvertisements: proxy.unsubscribe(self)
    case .setScannerMode(let isActive): proxy.setScannerMode(active: isActive)
    case .subscribeConnectionsFree:
      hearsSlots = true
      send(context.slots.frame)
    case .connect(let address, let type): links?.connect(address, type)
    case .disconnectDevice(let address): links?.disconnect(address)
    case .pair(let address): links?.pair(address)
    case .unpair(let address): links?.unpair(address)
    case .clearCache(let address): links?.clearCache(address)
    case .services(let address): links?.services(address, minor: minor)
    case .attribute(let address, let handle, let access): links?.access(address, handle, access)
    case .setParameters(let address, let parameters): links?.setParameters(address, parameters)
    }
  }

  /// The beginning of a name without control characters.
  private static func readable(_ octets: [UInt8]) -> String {
    String(
      decoding: octets.prefix(longestName).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  // MARK: To the stream

  func send(_ frame: APIFrame) {
    if !isEnded, let octets = transport.octets(frame) { write(octets) }
  }

  /// Sends a batch of advertisements, unless too much waits.
  func sendAdvertisements(_ frame: APIFrame) {
    guard stream.unsent <= Self.advertisementLimit else { return context.counters.batchesDropped += 1 }
    send(frame)
  }

  private func write(_ octets: [UInt8]) {
    stream.send(octets)
    guard stream.unsent > Self.unsentLimit else { return }
    context.counters.slow += 1
    end(.client)
  }

  // MARK: The end

  /// Notifies the client that the proxy ends.
  func dismiss() {
    send(.disconnect)
    end(.proxy)
  }

  /// The client is silent, or another one needs the place.
  func giveWay() {
    context.counters.silent += 1
    end(.silence)
  }

  private func end(_ cause: EndCause) {
    guard !isEnded else { return }
    state = .ended
    alarm?.cancel()
    links?.close()
    stream.close()
    proxy.left(self, cause)
  }

  private func watch(after delay: Duration) {
    alarm = context.clock.schedule(after: delay) { [weak self] in self?.check() }
  }

  private func check() {
    let silence = lastHeard.duration(to: context.clock.now)
    switch state {
    case .silent: giveWay()
    case .served where silence >= Self.longestSilence: giveWay()
    case .served:
      if silence >= Self.pingTime { send(.ping) }
      watch(after: silence >= Self.pingTime ? Self.pingTime / 2 : Self.pingTime - silence)
    case .ended: break
    }
  }
}
