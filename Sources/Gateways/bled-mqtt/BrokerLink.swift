import BledLoop
import CSystemd
import EventLoop
import Glibc
import MQTTGateway

/// The broker, for ever: a connection, and after it the next one.
final class BrokerLink {
  private let settings: Settings
  private let gateway: Gateway
  private let loop: EventLoop
  private let report = ServiceReport()
  private let say: (String) -> Void
  private var reconnection: Reconnection
  /// The address in use.
  private var address: BrokerAddress
  private var client: MosquittoClient?
  private var timer: Timer?
  private var isConnected = false
  private var isClosing = false
  /// The last logged reason of each address since the last connection.
  private var lastReasons: [BrokerAddress: String] = [:]

  /// - Parameter say: writes a line to the log.
  init(_ settings: Settings, _ gateway: Gateway, _ loop: EventLoop, _ say: @escaping (String) -> Void) {
    self.settings = settings
    self.gateway = gateway
    self.loop = loop
    self.say = say
    reconnection = Reconnection(
      settings.configuration.broker, gateway: settings.configuration.topics.gateway)
    address = reconnection.address
  }

  private var broker: String { "the broker at \(address)" }
  /// The identifier of this client at the broker.
  private var identifier: String {
    let configuration = settings.configuration
    return configuration.broker.client ?? "bled-\(configuration.topics.gateway)"
  }

  func start() {
    let configuration = settings.configuration
    address = reconnection.address
    do throws(MosquittoClient.Failure) {
      let client = try MosquittoClient(
        configuration.broker, reconnection, settings.credentials,
        identifier: identifier, will: gateway.will, loop)
      self.client = client
      client.connected = { [unowned self] in connected() }
      client.confirmed = { [unowned self] in confirmed($0, $1) }
      client.received = { [unowned self] in gateway.received($0) }
      client.subscriptionRefused = { [unowned self] in
        say("\(broker) refuses the subscription to commands: allow it in its access list")
      }
      client.ended = { [unowned self] in ended($0) }
      client.connect(isLimited: reconnection.hasOthers)
    } catch {
      ended(error)
    }
  }

  private func connected() {
    isConnected = true
    reconnection.succeeded()
    if !reconnection.isContested { sayConnected() }
    timer = loop.schedule(at: EventLoop.now + Reconnection.settling.wholeNanoseconds) { [unowned self] in
      if reconnection.isContested { sayConnected() }
      reconnection.settled()
    }
    if let filter = gateway.commandFilter {
      client?.subscribe(filter, quality: reconnection.hasOthers ? .atMostOnce : .atLeastOnce)
    }
    if let client { gateway.connected(client) }
  }

  private func sayConnected() {
    lastReasons = [:]
    say("connected to \(broker)")
    report.say(.ok, "connected to \(broker)")
    sd_notify(0, "STATUS=connected to \(broker)")
  }

  private func confirmed(_ number: Int32, _ isRefused: Bool) {
    gateway.confirmed(number, isRefused: isRefused)
    if isClosing, gateway.isIdle { loop.stop() }
  }

  private func ended(_ failure: MosquittoClient.Failure?) {
    timer?.cancel()
    let wasConnected = isConnected
    if wasConnected { gateway.disconnected() }
    isConnected = false
    // The client is at work in this call.
    let old = client
    client = nil
    loop.execute { withExtendedLifetime(old) {} }
    guard !isClosing, let failure else { return loop.stop() }
    let chance = Double.random(in: 0...1)
    let pause =
      wasConnected
      ? reconnection.lost(isTakenOver: failure.cause == .takenOver, chance: chance)
      : failure.cause == .version
        ? reconnection.versionRefused(chance: chance) : reconnection.failed(chance: chance)
    sayUnusable(wasConnected ? reason(failure) : failure.text)
    timer = loop.schedule(at: EventLoop.now + pause.wholeNanoseconds) { [unowned self] in start() }
  }

  private func sayUnusable(_ reason: String) {
    report.say(.problem, "\(broker) cannot be used: \(reason)")
    guard lastReasons[address] != reason else { return }
    lastReasons[address] = reason
    say("\(broker) cannot be used, which is tried again: \(reason)")
    sd_notify(0, "STATUS=no connection to \(broker): \(reason)")
  }

  /// The reason why a connection was lost, with the remedy where two clients use one identifier.
  private func reason(_ failure: MosquittoClient.Failure) -> String {
    let remedy = "give each gateway a name of its own, by \"gateway\" or \"broker.client\""
    if failure.cause == .takenOver { return "another client is called \"\(identifier)\": \(remedy)" }
    // MQTT 3.1.1 has no reason for it (3.1.4), and mosquitto before 2.0.15 gives none.
    guard reconnection.isContested else { return failure.text }
    return "\(failure.text) That happens again and again: if another client is called \"\(identifier)\", \(remedy)"
  }

  /// Ends the loop as soon as the broker has the last messages, or at once without a connection.
  func close() {
    isClosing = true
    timer?.cancel()
    if !isConnected || gateway.isIdle { loop.stop() }
  }

  /// Closes the connection after the loop has ended.
  func disconnect() { client?.disconnect() }
}
