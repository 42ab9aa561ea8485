import BledConnection
import BledRPC
import Bluetooth
import ValueFormats

/// The gateway: bled's session on one side, the broker on the other. It does no I/O.
package final class Gateway {
  /// The interval at which the counters are published.
  private static let statusPause = Duration.seconds(60)

  private let configuration: GatewayConfiguration
  private let clock: any Scheduler
  private let session: LastingSession
  private let outbox: BrokerQueue
  private let subscribed: SubscribedDevices
  private let commands: DeviceCommands
  private var policy: PublishPolicy
  private var discovery: SensorDiscovery?
  private var valueDiscovery: ValueDiscovery?
  private var counters = GatewayCounters()
  /// The number of the last message. It begins with the time, in milliseconds: so it ascends across restarts, too.
  private var sequence: UInt64
  private var isActive: Bool
  /// True if the log says, in this connection, that the broker refuses messages.
  private var hasSaidRefused = false
  /// True if the log says that bled is unavailable.
  private var hasSaidLost = false
  private var heldAlarm: (any ScheduledWork)?
  private var statusAlarm: (any ScheduledWork)?
  private let started: Instant
  /// Something that belongs in the log.
  package var say: (String) -> Void = { _ in } {
    didSet { subscribed.say = say }
  }

  /// - Parameter names: the names and formats that the owner of the machine gives devices and their values.
  package init(
    _ configuration: GatewayConfiguration, _ connector: any DaemonConnector, _ clock: any Scheduler, spool: Spool?,
    names: NameList = NameList()
  ) {
    self.configuration = configuration
    self.clock = clock
    session = LastingSession(named: "mqtt", connector, clock)
    outbox = BrokerQueue(spool: spool)
    subscribed = SubscribedDevices(configuration.devices, names, clock)
    commands = DeviceCommands(subscribed)
    policy = PublishPolicy(configuration.publish, at: clock.now)
    discovery = configuration.discovery.map { SensorDiscovery(prefix: $0, topics: configuration.topics) }
    valueDiscovery = configuration.discovery.map { ValueDiscovery(prefix: $0, topics: configuration.topics) }
    isActive = configuration.scan.isActive
    started = clock.now
    sequence = UInt64(exactly: (clock.secondsSinceEpoch * 1000).rounded()) ?? 0
    session.began = { [unowned self] _ in began() }
    session.notified = { [unowned self] in notified($0, $1) }
    session.lost = { [unowned self] in lost($0) }
    subscribed.received = { [unowned self] in publish($0) }
    outbox.refused = { [unowned self] in refused($0) }
  }

  /// Starts connecting to bled.
  package func start() {
    if configuration.broker.isOlderByDefault {
      say(
        """
        the broker is on another machine without TLS: MQTT 3.1.1, without response topics; broker.version "5" chooses \
        otherwise
        """)
    }
    session.start()
  }

  /// Ends the session of bled, and disconnects from the broker in order.
  package func close() {
    session.close()
    heldAlarm?.cancel()
    statusAlarm?.cancel()
    outbox.close()
    publishStatus()
    statusAlarm?.cancel()
    outbox.sendNow(availability("offline"))
  }

  /// True if no message is on its way to the broker.
  package var isIdle: Bool { outbox.isIdle }

  /// The message that the broker sends after the loss of this gateway.
  package var will: OutgoingMessage { availability("offline") }

  private func availability(_ text: String) -> OutgoingMessage {
    OutgoingMessage(
      topic: configuration.topics.availability, payload: Array(text.utf8), quality: .atLeastOnce, isRetained: true)
  }

  // MARK: The broker

  /// The broker has accepted the connection.
  package func connected(_ broker: any Broker) {
    counters.brokerConnections += 1
    hasSaidRefused = false
    outbox.connected(broker)
    outbox.sendNow(availability("online"))
    if outbox.spool == nil { publishAgain() }
    for message in (discovery?.all() ?? []) + (valueDiscovery?.all() ?? []) { outbox.sendNow(message) }
    publishStatus()
  }

  /// Without a spool earlier reports are lost. A scan that reports a device once begins again.
  private func publishAgain() {
    policy.publishAgain()
    if configuration.publish.every == nil, session.session != nil { beginScan() }
  }

  /// The connection to the broker has ended.
  package func disconnected() {
    statusAlarm?.cancel()
    outbox.lost()
  }

  /// A message is sent or, with a quality of service of 1, acknowledged.
  /// - Parameter isRefused: true if the broker refuses it.
  package func confirmed(_ token: Int32, isRefused: Bool) { outbox.confirmed(token, isRefused: isRefused) }

  private func refused(_ topic: String) {
    guard !hasSaidRefused else { return }
    hasSaidRefused = true
    say("the broker refuses messages, such as those to \(topic): allow them in its access list")
  }

  /// The topic to subscribe to; nil if no commands are accepted.
  package var commandFilter: String? { configuration.commands.isEmpty ? nil : configuration.topics.commandFilter }

  /// A message of the broker.
  package func received(_ message: IncomingMessage) {
    // A command that the broker keeps would be executed again at each connection.
    guard !message.isRetained, configuration.topics.isCommand(message.topic) else {
      counters.commandsIgnored += 1
      return
    }
    counters.commands += 1
    do throws(Command.Failure) {
      let command = try Command(message.payload)
      guard configuration.commands.contains(command.kind) else {
        throw Command.Failure("the configuration of this gateway does not allow this command")
      }
      run(command, for: message)
    } catch {
      answer(nil, .failure(CommandAnswer.Failure(error.message)), to: message)
    }
  }

  private func run(_ command: Command, for message: IncomingMessage) {
    switch command {
    case .read(let target), .write(let target, _, _):
      commands.run(command, target) { [weak self] in self?.answer(command, $0, to: message) }
    case .scan(let isActive):
      self.isActive = isActive
      startScan { [weak self] in self?.answer(command, $0.map { [] }, to: message) }
    }
  }

  private func answer(
    _ command: Command?, _ result: Result<[UInt8], CommandAnswer.Failure>, to message: IncomingMessage
  ) {
    if case .failure = result { counters.commandsFailed += 1 }
    let topic: String
    if let asked = message.responseTopic {
      guard Topics.isAnswerable(asked) else { return counters.commandsIgnored += 1 }
      topic = asked
    } else {
      switch command {
      case .read(let target), .write(let target, _, _): topic = configuration.topics.device(target.address)
      case .scan, nil: topic = configuration.topics.answers
      }
    }
    let answer = CommandAnswer(
      command: command, result: result, gateway: configuration.topics.gateway, time: clock.secondsSinceEpoch)
    guard let payload = try? answer.octets() else { return }
    outbox.sendNow(
      OutgoingMessage(
        topic: topic, payload: payload, quality: configuration.quality, correlation: message.correlation))
  }

  // MARK: bled

  private func began() {
    guard let session = session.session else { return }
    counters.sessions += 1
    hasSaidLost = false
    say("connected to bled")
    beginScan()
    subscribed.began(session)
    commands.began(session)
  }

  private func beginScan() {
    startScan { [weak self] in
      if case .failure(let error) = $0 { self?.say("bled does not scan: \(error.message)") }
    }
  }

  private func lost(_ error: BluetoothError) {
    counters.sessionsLost = counters.sessions
    if !hasSaidLost { say("\(error.message); it is tried again each second") }
    hasSaidLost = true
    subscribed.lost()
    commands.lost()
  }

  private func startScan(_ completion: @escaping (Result<Void, CommandAnswer.Failure>) -> Void) {
    guard let session = session.session else {
      return completion(.failure(CommandAnswer.Failure("bled is not there")))
    }
    let scan = configuration.scan
    let keys = scan.keys.map { ScanStart.Key(address: "\($0.address)", key: HexBytes($0.key)) }
    session.call(
      ScanStart.self,
      ScanStart.Params(
        adapter: scan.adapter, rssi: scan.rssi, duplicates: configuration.publish.every != nil, active: isActive,
        decode: true, keys: keys.isEmpty ? nil : keys)
    ) { completion($0.map { _ in }.mapError { CommandAnswer.Failure($0) }) }
  }

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case ScanReport.name:
      if let outline = message.concerned(ScanReport.Outline.self) { received(outline, message) }
    case GATTValue.name:
      if let value = try? message.params(GATTValue.Params.self) { subscribed.value(value) }
    case PeripheralConnected.name:
      if let link = try? message.params(PeripheralConnect.Result.self) { subscribed.connected(link) }
    case PeripheralDisconnected.name:
      guard let end = try? message.params(PeripheralDisconnected.Params.self) else { return }
      subscribed.disconnected(end)
      commands.disconnected(end)
    case PeripheralConnectFailed.name:
      if let failure = try? message.params(PeripheralConnectFailed.Params.self) { subscribed.connectFailed(failure) }
    case GATTSubscriptionLost.name:
      if let lost = try? message.params(GATTSubscriptionLost.Params.self) { subscribed.subscriptionLost(lost) }
    case GATTServicesChanged.name:
      if let change = try? message.params(GATTServicesChanged.Params.self) { subscribed.servicesChanged(change) }
    default: break
    }
  }

  // MARK: Messages

  private func received(_ outline: ScanReport.Outline, _ report: RPCMessage) {
    counters.heard += 1
    if policy.received(outline, report, at: clock.now) { publish(report) }
    setHeldAlarm()
  }

  private func setHeldAlarm() {
    guard heldAlarm == nil, let deadline = policy.deadline else { return }
    heldAlarm = clock.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      heldAlarm = nil
      for report in policy.due(at: clock.now) { publish(report) }
      setHeldAlarm()
    }
  }

  private func nextSequence() -> UInt64 {
    sequence &+= 1
    return sequence
  }

  private func publish(_ message: RPCMessage) {
    guard let report = try? message.params(ScanReport.Params.self), let kind = report.addressType.known,
      let address = DeviceAddress(report.address, kind: kind)
    else { return }
    for message in discovery?.messages(for: report) ?? [] { outbox.sendNow(message) }
    let payload = ReportPayload(report: report, gateway: configuration.topics.gateway, sequence: nextSequence())
    guard let octets = try? payload.octets() else { return }
    counters.reports += 1
    outbox.send(
      OutgoingMessage(topic: configuration.topics.device(address), payload: octets, quality: configuration.quality))
    // Other decoders read it now or not at all: it is not kept.
    guard configuration.publishesUndecoded, report.decoded == nil, outbox.isConnected else { return }
    outbox.sendNow(
      OutgoingMessage(topic: configuration.topics.undecoded, payload: octets, quality: .atMostOnce))
  }

  private func publish(_ value: SubscribedDevices.Value) {
    counters.values += 1
    let address = value.device.address
    let payload = ValuePayload(
      address: address, peripheral: value.peripheral, name: value.device.name, service: value.characteristic.service,
      characteristic: value.characteristic.characteristic, handle: value.handle, naming: value.naming,
      value: value.octets, gateway: configuration.topics.gateway, sequence: nextSequence(),
      time: clock.secondsSinceEpoch)
    guard let octets = try? payload.octets() else { return }
    for message in valueDiscovery?.messages(for: payload) ?? [] { outbox.sendNow(message) }
    outbox.send(
      OutgoingMessage(
        topic: configuration.topics.value(address, value.characteristic.characteristic), payload: octets,
        quality: configuration.quality))
  }

  // MARK: Status

  private func publishStatus() {
    statusAlarm?.cancel()
    guard outbox.isConnected else { return }
    if let payload = try? status() {
      outbox.sendNow(
        OutgoingMessage(
          topic: configuration.topics.status, payload: payload, quality: .atMostOnce, isRetained: true))
    }
    statusAlarm = clock.schedule(after: Self.statusPause) { [weak self] in self?.publishStatus() }
  }

  private func status() throws -> [UInt8] {
    try counters.octets(
      GatewayCounters.State(
        gateway: configuration.topics.gateway, uptime: started.duration(to: clock.now).inSeconds,
        time: clock.secondsSinceEpoch, isBledThere: session.session != nil, devices: policy.count,
        dropped: policy.dropped, linked: subscribed.linked, connections: subscribed.connections,
        described: discovery?.count ?? 0, outbox: outbox.counters, spool: outbox.spool?.counters,
        spoolLength: outbox.spool?.length ?? 0))
  }
}
