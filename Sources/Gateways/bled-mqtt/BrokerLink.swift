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

  func start() {
    let configuration = settings.configuration
    address = reconnection.address
    do throws(MosquittoClient.Failure) {
      let client = try MosquittoClient(
        configuration.broker, reconnection, settings.credentials,
        identifier: configuration.broker.client ?? "bled-\(configuration.topics.gateway)", will: gateway.will, loop)
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
    lastReasons = [:]
    say("connected to \(broker)")
    report.say(.ok, "connected to \(broker)")
    sd_notify(0, "STATUS=connected to \(broker)")
    if let filter = gateway.commandFilter {
      client?.subscribe(filter, quality: reconnection.hasOthers ? .atMostOnce : .atLeastOnce)
    }
    if let client { gateway.connected(client) }
  }

  private func confirmed(_ number: Int32, _ isRefused: Bool) {
    gateway.confirmed(number, isRefused: isRefused)
    if isClosing, gateway.isIdle { loop.stop() }
  }

  private func ended(_ failure: MosquittoClient.Failure?) {
    let wasConnected = isConnected
    if wasConnected { gateway.disconnected() }
    isConnected = false
    // The client is at work in this call.
    let old = client
    client = nil
    loop.execute { withExtendedLifetime(old) {} }
    guard !isClosing, let failure else { return loop.stop() }
    report.say(.problem, "\(broker) cannot be used: \(failure.text)")
    if lastReasons[address] != failure.text {
      lastReasons[address] = failure.text
      say("\(broker) cannot be used, which is tried again: \(failure.text)")
      sd_notify(0, "STATUS=no connection to \(broker): \(failure.text)")
    }
    let chance = Double.random(in: 0...1)
    let pause =
      wasConnected
      ? reconnection.lost(chance: chance)
      : failure.concernsVersion
        ? reconnection.versionRefused(chance: chance) : reconnection.failed(chance: chance)
    timer = loop.schedule(at: EventLoop.now + pause.wholeNanoseconds) { [unowned self] in start() }
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
