import CMosquitto
import EventLoop
import Glibc
import MQTTGateway

/// One connection to the broker: libmosquitto on the event loop. It is used once.
final class MosquittoClient: Broker {
  /// The reason for a missing connection.
  struct Failure: Error, Sendable {
    let text: String
    var cause = Cause.other
  }

  /// A cause that the next attempt depends on.
  enum Cause: Sendable {
    case other
    /// The broker does not speak this version of the protocol.
    case version
    /// Another client with this identifier has connected.
    case takenOver
  }

  /// The longest packet that the broker may send, in octets.
  private static let longestPacket: UInt32 = 65536
  /// The time of a request to connect, in nanoseconds: once TCP is connected, or in all where another address follows.
  private static let timeout: Int64 = 15_000_000_000

  /// A client of libmosquitto on its way to the worker and back: one thread at a time uses it.
  private struct Handle: @unchecked Sendable {
    let client: OpaquePointer
  }

  private let client: OpaquePointer
  private let events: MosquittoEvents
  private let configuration: BrokerConfiguration
  private let address: BrokerAddress
  private let isVersion5: Bool
  private let loop: EventLoop
  /// The thread that connects, until it has done that.
  private var worker: Worker?
  private var watch: Watch?
  private var timer: Timer?
  private var isConnected = false
  private var isEnded = false
  private var isDrainPending = false

  /// The broker has accepted the connection.
  var connected: () -> Void = {}
  var confirmed: (Int32, _ isRefused: Bool) -> Void = { _, _ in }
  var received: (IncomingMessage) -> Void = { _ in }
  /// The broker does not permit this client to subscribe.
  var subscriptionRefused: () -> Void = {}
  /// The connection has ended, or could not be made; nil: it was closed here. Called once, as the last of all.
  var ended: (Failure?) -> Void = { _ in }

  /// - Parameters:
  ///   - attempt: the address and the version of the protocol.
  ///   - will: the message that the broker sends when the connection is lost.
  init(
    _ configuration: BrokerConfiguration, _ attempt: Reconnection, _ credentials: BrokerCredentials?,
    identifier: String, will: OutgoingMessage, _ loop: EventLoop
  ) throws(Failure) {
    guard let client = mosquitto_new(identifier, true, nil) else {
      throw Failure(text: "the client cannot be made: \(String(cString: strerror(errno)))")
    }
    self.client = client
    self.configuration = configuration
    self.loop = loop
    address = attempt.address
    isVersion5 = attempt.version == .v5
    events = MosquittoEvents(isVersion5: isVersion5)
    events.attach(to: client)
    mosquitto_int_option(
      client, MOSQ_OPT_PROTOCOL_VERSION, isVersion5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311)
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
    let result = will.payload.withUnsafeBytes {
      mosquitto_will_set(
        client, will.topic, Int32($0.count), $0.baseAddress, Int32(will.quality.rawValue), will.isRetained)
    }
    try Self.check(result, "the will cannot be set")
    if let credentials {
      try Self.check(
        mosquitto_username_pw_set(client, credentials.user, credentials.password), "the password cannot be set")
    }
    if let tls = configuration.tls { try Self.set(tls, client) }
  }

  deinit {
    watch?.cancel()
    mosquitto_destroy(client)
  }

  private static func set(_ tls: BrokerConfiguration.TLS, _ client: OpaquePointer) throws(Failure) {
    let result = mosquitto_tls_set(
      client, tls.authority, tls.authority == nil ? "/etc/ssl/certs" : nil, tls.certificate, tls.key,
      // A key with a password would prompt for it on a terminal.
      { _, _, _, _ in 0 })
    try check(result, "the files for TLS cannot be used")
  }

  private static func check(_ result: Int32, _ text: String) throws(Failure) {
    let code = mosq_err_t(result)
    guard code != MOSQ_ERR_SUCCESS else { return }
    throw Failure(text: "\(text): \(String(cString: mosquitto_strerror(result)))")
  }

  // MARK: Connecting

  /// Connects. To find the broker's address and to open the connection may block, which a thread of its own does; each
  /// of the addresses of the name is tried.
  /// - Parameter isLimited: true to give up when that takes long. The thread then ends later by itself, with this
  ///   client.
  func connect(isLimited: Bool) {
    let handle = Handle(client: client)
    let (host, port) = (address.host, Int32(address.port))
    let keepAlive = Int32(configuration.keepAlive)
    let isVersion5 = isVersion5
    let worker = Worker(loop: loop)
    self.worker = worker
    if isLimited { setTimeout() }
    worker.submit {
      let result: Int32
      if isVersion5 {
        result = MosquittoProperties.withMaximumPacket(Self.longestPacket) {
          mosquitto_connect_bind_v5(handle.client, host, port, keepAlive, nil, $0)
        }
      } else {
        result = mosquitto_connect(handle.client, host, port, keepAlive)
      }
      let code = errno
      guard mosq_err_t(result) != MOSQ_ERR_SUCCESS else { return }
      switch mosq_err_t(result) {
      case MOSQ_ERR_EAI: throw Failure(text: String(cString: gai_strerror(code)))
      case MOSQ_ERR_ERRNO: throw Failure(text: String(cString: strerror(code)))
      default: throw Failure(text: String(cString: mosquitto_strerror(result)))
      }
    } _: { [self] result in
      // The worker is at work in this call.
      loop.execute { [self] in self.worker = nil }
      guard !isEnded else { return }
      switch result {
      case .success: opened()
      case .failure(let error): end(error as? Failure ?? Failure(text: "\(error)"))
      }
    }
  }

  private func opened() {
    do {
      watch = try Watch(mosquitto_socket(client), on: loop, interest: Self.readable) { [unowned self] in ready($0) }
    } catch {
      return end(Failure(text: "\(error)"))
    }
    setTimeout()
    drain()
  }

  private func setTimeout() {
    timer?.cancel()
    timer = loop.schedule(at: EventLoop.now + Self.timeout) { [weak self] in
      self?.end(Failure(text: "it does not answer"))
    }
  }

  // MARK: The socket

  /// Also the end of the data to read.
  private static let readable: Watch.Readiness = [.readable, .failed]

  private func ready(_ readiness: Watch.Readiness) {
    // The owner may drop its last reference to this while it handles an event.
    withExtendedLifetime(self) {
      var result = MOSQ_ERR_SUCCESS
      // While TLS is set up, writing is part of reading.
      if !readiness.isDisjoint(with: [.readable, .failed]) || !isConnected {
        result = mosq_err_t(mosquitto_loop_read(client, 1))
      }
      if result == MOSQ_ERR_SUCCESS, readiness.contains(.writable) {
        result = mosq_err_t(mosquitto_loop_write(client, 1))
      }
      let code = errno
      drain()
      guard !isEnded else { return }
      if result != MOSQ_ERR_SUCCESS { return end(result, code) }
      if readiness.contains(.failed), isAtEnd { end(MOSQ_ERR_CONN_LOST, 0) }
    }
  }

  /// True if the broker has closed the connection, and nothing is left to read.
  private var isAtEnd: Bool {
    var octet: UInt8 = 0
    let count = recv(mosquitto_socket(client), &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
  }

  /// Handles the events of libmosquitto.
  private func drain() {
    isDrainPending = false
    var taken = events.take()
    while !taken.isEmpty, !isEnded {
      for event in taken where !isEnded { handle(event) }
      taken = events.take()
    }
    updateInterest()
  }

  private func handle(_ event: MosquittoEvents.Event) {
    switch event {
    case .connected(nil):
      isConnected = true
      timer?.cancel()
      scheduleCheck()
      connected()
    case .connected(let refusal?):
      end(
        Failure(text: "it refuses the connection: \(refusal.text)", cause: refusal.concernsVersion ? .version : .other))
    case .published(let number, let isRefused): confirmed(number, isRefused)
    case .received(let message): received(message)
    case .subscribed(true): subscriptionRefused()
    case .subscribed(false): break
    case .dismissed(let reason):
      let isTakenOver = reason == Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)
      let text = mosquitto_reason_string(reason).map { String(cString: $0) } ?? "reason \(reason)"
      end(Failure(text: "it ends the connection: \(text)", cause: isTakenOver ? .takenOver : .other))
    }
  }

  private func updateInterest() {
    guard !isEnded, let watch else { return }
    watch.interest = mosquitto_want_write(client) ? Self.readable.union(.writable) : Self.readable
  }

  /// Pings the broker when that is due, and detects its loss.
  private func scheduleCheck() {
    let seconds = min(15, max(1, configuration.keepAlive / 8))
    timer = loop.schedule(at: EventLoop.now + Int64(seconds) * 1_000_000_000) { [weak self] in
      guard let self, !isEnded else { return }
      let result = mosq_err_t(mosquitto_loop_misc(client))
      drain()
      guard !isEnded else { return }
      if result != MOSQ_ERR_SUCCESS { return end(result, 0) }
      scheduleCheck()
    }
  }

  // MARK: Messages

  /// - Parameter quality: 0 at a cluster. A session of this gateway ends with its connection, so 1 repeats nothing, and
  ///   RabbitMQ keeps the queue of such a subscription on its node: while that is away no other accepts the gateway.
  func subscribe(_ filter: String, quality: QualityOfService) {
    // The broker's retained messages are not wanted (MQTT 5.0, 3.8.3.1).
    let options = Int32(MQTT_SUB_OPT_SEND_RETAIN_NEVER.rawValue)
    if isVersion5 {
      mosquitto_subscribe_v5(client, nil, filter, Int32(quality.rawValue), options, nil)
    } else {
      mosquitto_subscribe(client, nil, filter, Int32(quality.rawValue))
    }
    updateInterest()
  }

  func publish(_ message: OutgoingMessage) -> Handover {
    guard isConnected, !isEnded else { return .notConnected }
    var number: Int32 = 0
    let correlation = isVersion5 ? message.correlation : nil
    let result = MosquittoProperties.withCorrelation(correlation) { properties in
      message.payload.withUnsafeBytes {
        mosquitto_publish_v5(
          client, &number, message.topic, Int32($0.count), $0.baseAddress, Int32(message.quality.rawValue),
          message.isRetained, properties)
      }
    }
    drainSoon()
    switch mosq_err_t(result) {
    case MOSQ_ERR_SUCCESS: return .handed(number)
    case MOSQ_ERR_NO_CONN, MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO, MOSQ_ERR_TLS:
      let code = errno
      loop.execute { [weak self] in self?.end(mosq_err_t(result), code) }
      return .notConnected
    default: return .refused
    }
  }

  private func drainSoon() {
    guard !isDrainPending else { return }
    isDrainPending = true
    loop.execute { [weak self] in self?.drain() }
  }

  /// Disconnects in order: the broker does not send the will.
  func disconnect() {
    guard !isEnded else { return }
    mosquitto_disconnect(client)
    end(nil)
  }

  // MARK: The end

  private func end(_ result: mosq_err_t, _ code: Int32) {
    let text =
      switch result {
      case MOSQ_ERR_ERRNO where code != 0: String(cString: strerror(code))
      case MOSQ_ERR_KEEPALIVE: "it does not answer"
      default: events.error ?? String(cString: mosquitto_strerror(Int32(result.rawValue)))
      }
    end(Failure(text: text))
  }

  private func end(_ failure: Failure?) {
    guard !isEnded else { return }
    isEnded = true
    isConnected = false
    watch?.cancel()
    watch = nil
    timer?.cancel()
    ended(failure)
  }
}

extension mosq_err_t {
  /// The result of a function, which are declared as `int`.
  fileprivate init(_ result: Int32) { self.init(rawValue: result) }
}
