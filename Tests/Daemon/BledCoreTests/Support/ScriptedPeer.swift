import ATT
import Adapter
import Bluetooth
import GATT

/// The device at the other end of a link: a GATT connection of its own, server and client.
final class ScriptedPeer {
  let address: DeviceAddress
  var database = AttributeDatabase()
  /// True if it answers nothing.
  var isMute = false
  /// The protection of its bond's keys, with which it encrypts; nil: the test decides the outcome of a request for
  /// security.
  var keys: LinkSecurity?
  /// The time of a packet to it.
  var delay = Duration.milliseconds(1)
  /// The time of a change to another PHY; nil: the time of the call.
  var phyDelay: Duration?
  /// The ATT error that answers a request in place of its database; nil answers as usual.
  var refusing: ([UInt8]) -> UInt8? = { _ in nil }
  /// The packet that answers a request instead; nil answers as usual.
  var answering: ([UInt8]) -> [UInt8]? = { _ in nil }
  /// Its received packets.
  private(set) var received: [[UInt8]] = []
  /// The results of its own procedures, and the values it received.
  private(set) var results: [UInt64: Result<GATTResult, GATTError>] = [:]
  private(set) var values: [(handle: UInt16, value: [UInt8])] = []
  private(set) var subscriptions: [UInt16: ClientConfiguration] = [:]

  private let scheduler: any Scheduler
  private var connection: GATTConnection
  private var actions: [GATTAction] = []
  private weak var link: ScriptedLink?
  private var lastProcedure: UInt64 = 0

  init(_ address: String, mtu: Int = 247, scheduler: any Scheduler) {
    self.address = DeviceAddress(address, kind: .random) ?? .none
    self.scheduler = scheduler
    connection = GATTConnection(maximumMTU: mtu)
  }

  func attach(_ link: ScriptedLink, mtu: Int = 247) {
    self.link = link
    connection = GATTConnection(maximumMTU: mtu)
  }

  /// Forgets the received packets.
  func forget() { received = [] }

  /// Receives a packet as from the air.
  func receive(_ packet: [UInt8]) {
    received.append(packet)
    guard !isMute else { return }
    if let error = refusing(packet) {
      link?.deliver([0x01, packet[0], 1, 0, error])
      return
    }
    if let answer = answering(packet) {
      link?.deliver(answer)
      return
    }
    connection.received(packet, now: scheduler.now, database: &database, actions: &actions)
    execute()
  }

  /// Begins a procedure on our daemon.
  func start(_ procedure: GATTProcedure) -> UInt64 {
    lastProcedure += 1
    connection.start(procedure, id: ProcedureID(lastProcedure), now: scheduler.now, actions: &actions)
    execute()
    return lastProcedure
  }

  /// Sends a packet as it is.
  func send(_ packet: [UInt8]) { link?.deliver(packet) }

  /// Sends a notification, with or without a subscription.
  func notify(_ handle: UInt16, _ value: [UInt8]) {
    link?.deliver([0x1B, UInt8(handle & 0xFF), UInt8(handle >> 8)] + value)
  }

  private func execute() {
    let batch = actions
    actions = []
    for action in batch {
      switch action {
      case .send(_, let packet): link?.deliver(packet)
      case .finished(let id, let result): results[id.value] = result
      case .value(let handle, let value, _): values.append((handle, value))
      case .subscriptionChanged(let handle, let configuration): subscriptions[handle] = configuration
      default: break
      }
    }
  }
}

/// A link in memory: each packet takes a millisecond of virtual time, unless its device is slower.
final class ScriptedLink: Link {
  let id = LinkID.next()
  let role: LinkRole
  private(set) var parameters: LinkParameters?
  private(set) var layer = LinkLayer()
  let attempts = 1
  /// Its protection, reported or not.
  var security = LinkSecurity.none
  let maximumMTU = 517
  var onEvent: ((LinkEvent) -> Void)?
  /// Called with each packet, and true if the daemon sends it.
  var onTraffic: ((_ packet: [UInt8], _ isSent: Bool) -> Void)?
  /// How the daemon ended it, if it did.
  private(set) var wasDisconnected = false
  /// The parameters requested by the daemon.
  private(set) var requested: [ConnectionParameters] = []
  /// The parameters that it would answer to the device's own requests.
  private(set) var wish: ConnectionParameters?
  private(set) var requestedPHYs: [LinkPHY] = []
  private(set) var requestedLengths: [Int] = []
  /// The levels of security requested by the daemon, with the work that waits for the outcome.
  private(set) var raises:
    [(
      level: Int, capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
      done: (BluetoothError?) -> Void
    )] = []
  var hasEnhancedChannels = true
  /// The channels that the daemon opened.
  private(set) var channels: [ScriptedChannel] = []
  /// The number of measurements of the signal strength.
  private(set) var measurements = 0
  private let peerDevice: ScriptedPeer
  private let scheduler: any Scheduler
  private var isOpen = true

  var peer: DeviceAddress { peerDevice.address }
  /// Packets that arrive while the link is not read.
  private var heldBack: [[UInt8]] = []
  var isReading = true {
    didSet {
      guard isReading, !oldValue else { return }
      scheduler.schedule(after: .milliseconds(1)) { [self] in
        while isOpen, isReading, !heldBack.isEmpty { onEvent?(.received(heldBack.removeFirst())) }
      }
    }
  }
  /// The outcome of requests for other parameters.
  var refusal: BluetoothError?
  var isWritable = true {
    didSet { if isWritable, !oldValue { onEvent?(.writable) } }
  }

  init(_ peer: ScriptedPeer, role: LinkRole, _ parameters: LinkParameters?, scheduler: any Scheduler) {
    peerDevice = peer
    self.role = role
    self.parameters = parameters
    self.scheduler = scheduler
    peer.attach(self)
  }

  /// The number of packets that have room; further ones wait until they have some. Nil for any number.
  private var room: Int?

  /// Makes room for this number of packets, and no more.
  func makeRoom(_ packets: Int) {
    let now = (room ?? 0) + packets
    room = now
    isWritable = now > 0
  }

  func send(_ packet: [UInt8]) {
    onTraffic?(packet, true)
    if let now = room {
      room = now - 1
      if now <= 1 { isWritable = false }
    }
    scheduler.schedule(after: peerDevice.delay) { [self] in if isOpen { peerDevice.receive(packet) } }
  }
  func disconnect() {
    wasDisconnected = true
    scheduler.schedule(after: .milliseconds(1)) { [self] in end(reason: 0x16) }
  }
  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void) {
    requested.append(parameters)
    done(refusal)
  }
  func setWish(_ parameters: ConnectionParameters?) { wish = parameters }
  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void) {
    requestedPHYs.append(phy)
    guard let delay = peerDevice.phyDelay else { return done(refusal) }
    scheduler.schedule(after: delay) { [self] in
      if isOpen, refusal == nil { (layer.txPHY, layer.rxPHY) = (phy.phy, phy.phy) }
      done(refusal)
    }
  }
  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void) {
    requestedLengths.append(octets)
    done(refusal)
  }

  /// The controller reports other parameters.
  func change(to parameters: LinkParameters, _ layer: LinkLayer = .initial) {
    (self.parameters, self.layer) = (parameters, layer)
    onEvent?(.parametersChanged)
  }
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    let channel = ScriptedChannel(
      psm, parameters.mode ?? .leCreditBased, pieces: ChannelPieces(receive: 247, send: 96))
    channels.append(channel)
    scheduler.schedule(after: .milliseconds(1)) { [self] in
      if let refusal { done(.failure(refusal)) } else { done(.success(channel)) }
    }
  }
  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard let security = peerDevice.keys else {
      return raises.append((level, capability, usesOwnData, replacesBond, done))
    }
    scheduler.schedule(after: .milliseconds(1)) { [self] in
      if isOpen { protect(security) }
      done(nil)
    }
  }

  /// The first raise that waits ends.
  func endRaise(_ outcome: LinkSecurity?, _ error: BluetoothError? = nil) {
    if let outcome { protect(outcome) }
    raises.removeFirst().done(error)
  }

  /// The kernel encrypts the link.
  func protect(_ security: LinkSecurity) {
    self.security = security
    onEvent?(.securityChanged)
  }

  /// The trains that were transferred, each with the value for the device.
  private(set) var transferred: [(train: TransferredTrain, serviceData: UInt16)] = []
  /// The call that waits for a train.
  private(set) var trainReceiver: ((Result<ReceivedTrain, BluetoothError>) -> Void)?

  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void) {
    transferred.append((train, serviceData))
    done(refusal)
  }
  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) { trainReceiver = done }
  func stopReceivingTrain() { endReceiving(.failure(GAPError.cancelled.error("stopped"))) }

  /// The device transfers a train, or the wait for one ends.
  func endReceiving(_ result: Result<ReceivedTrain, BluetoothError>) {
    guard let done = trainReceiver else { return }
    trainReceiver = nil
    scheduler.schedule(after: .zero) { done(result) }
  }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) {
    measurements += 1
    scheduler.schedule(after: .milliseconds(1)) { done(.success(-42)) }
  }

  /// A packet of the peer.
  func deliver(_ packet: [UInt8]) {
    scheduler.schedule(after: .milliseconds(1)) { [self] in
      guard isOpen else { return }
      onTraffic?(packet, false)
      if isReading, heldBack.isEmpty { onEvent?(.received(packet)) } else { heldBack.append(packet) }
    }
  }

  /// This number of the peer's packets had no room.
  func lose(_ count: Int) { onEvent?(.lost(count)) }

  /// The link ends, once.
  func end(reason: Int) {
    guard isOpen else { return }
    isOpen = false
    endReceiving(.failure(GAPError.notConnected.error("the link has ended")))
    onEvent?(.ended(BluetoothError(domain: .hci, code: reason, name: "reason", message: "the link ended")))
  }
}
