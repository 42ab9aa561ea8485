import Adapter
import Bluetooth
import DequeModule
import Scenarios

/// One side of a connection on the air. Devices, phones and adapters all hold such a side.
final class SimulatedLink: Link {
  let id = LinkID.next()
  let peer: DeviceAddress
  let role: LinkRole
  let attempts: Int
  let maximumMTU: Int
  /// The party that pairs on this side; nil if none does.
  let party: (any PairingParty)?
  /// The other side's identity address, which it reveals when it pairs; nil if it never does.
  let peerIdentity: DeviceAddress?
  var onEvent: ((LinkEvent) -> Void)?
  /// Called before `.ended` is reported, so that the link's owner has released it by then.
  var onEnd: (() -> Void)?

  /// Called with the packets between this side's controller and its host, while there is a listener.
  var onTraffic: ((LinkTraffic) -> Void)?

  /// Returns the listener for channels of this number on this side; nil without one.
  var onChannelRequest: ((UInt16) -> ChannelListener?)?

  /// While this side does not read, the other one buffers its packets, and soon has to stop.
  var isReading = true {
    didSet { if isReading, !oldValue { pair?.wake() } }
  }

  /// The packets queued for the next connection event.
  var queue = Deque<[UInt8]>()
  private var isFull = false
  /// Nil once this side has ended.
  weak var pair: LinkPair?
  /// Measures the signal strength of the other side.
  private let signal: Signal
  private let valueLoss: ValueLoss?
  /// The features of this side's radio.
  let radio: RadioDescription

  /// The parts that one side brings into a link.
  struct End {
    var address: DeviceAddress
    var maximumMTU: Int
    var signal: Signal
    /// Nil if none of its packets are lost.
    var valueLoss: ValueLoss?
    /// Nil if it never pairs.
    var party: (any PairingParty)?
    /// The PHYs that it has, and its longest packet.
    var radio = RadioDescription()
  }

  init(role: LinkRole, own: End, other: End, attempts: Int) {
    peer = other.address
    self.role = role
    self.attempts = attempts
    maximumMTU = own.maximumMTU
    signal = other.signal
    valueLoss = other.valueLoss
    party = own.party
    peerIdentity = other.party?.identity
    radio = own.radio
  }

  /// False once `.ended` was reported.
  var isOpen: Bool { pair != nil }

  var parameters: LinkParameters? { pair?.parameters }

  var layer: LinkLayer { pair?.layer(of: role) ?? LinkLayer() }

  var security: LinkSecurity { pair?.security.security ?? .none }

  /// True if this side has a key for the link.
  var isBonded: Bool { pair?.security.longTermKey(of: role) != nil }

  var isWritable: Bool { queue.count < (pair?.room ?? 0) }

  func send(_ packet: [UInt8]) {
    guard let pair, !pair.isLeaving(self) else { return }
    guard queue.count < LinkPair.limit else { return pair.overflow() }
    queue.append(packet)
    isFull = isFull || queue.count >= pair.room
    pair.wake()
  }

  func disconnect() { pair?.terminate(by: role) }

  /// Ends the link, with a reason for the other side.
  func disconnect(telling reason: BluetoothError) { pair?.terminate(by: role, telling: reason) }

  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void) {
    guard let pair else { return done(GAPError.notConnected.error("the link no longer exists")) }
    pair.request(parameters, by: self, done)
  }

  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void) {
    guard let pair else { return done(GAPError.notConnected.error("the link no longer exists")) }
    pair.request(phy.phy, by: self, done)
  }

  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void) {
    guard let pair else { return done(GAPError.notConnected.error("the link no longer exists")) }
    pair.request(longestPacket: octets, by: self)
    done(nil)
  }

  let hasEnhancedChannels = true

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    guard let pair else { return done(.failure(GAPError.notConnected.error("the link no longer exists"))) }
    pair.openChannel(to: psm, parameters, by: self, done)
  }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard let pair else { return done(GAPError.notConnected.error("the link no longer exists")) }
    pair.security.raise(by: role, to: level, as: capability, replacesBond: replacesBond, done)
  }

  /// The trains of this side's controller.
  var trains = TrainReceiver()

  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void) {
    guard let pair else { return done(GAPError.notConnected.error("the link no longer exists")) }
    if let error = lackOfTransfer(pair) { return done(error) }
    guard let advertiser = trains.holder?.advertiser(of: train) else {
      return done(BledError.unknownHandle.error("the train is not on the air, or the adapter does not receive it"))
    }
    let other = pair.other(of: self)
    pair.scheduler.schedule(after: pair.parameters.interval) {
      guard other.isOpen else { return }
      other.trains.receive(advertiser, serviceData: serviceData)?()
    }
    done(nil)
  }

  /// The side that cannot transfer trains, as an error.
  private func lackOfTransfer(_ pair: LinkPair) -> BluetoothError? {
    if !trains.isAble { return Self.noTransfer("the controller of this adapter") }
    return pair.other(of: self).trains.isAble ? nil : Self.noTransfer("the controller of \(peer)")
  }

  private static func noTransfer(_ side: String) -> BluetoothError {
    GAPError.notSupported.error("\(side) does not have periodic advertising sync transfer")
  }

  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) {
    guard let pair else { return done(.failure(GAPError.notConnected.error("the link no longer exists"))) }
    if let error = lackOfTransfer(pair) ?? trains.wait(parameters, done) {
      pair.scheduler.schedule(after: .zero) { done(.failure(error)) }
    }
  }

  func stopReceivingTrain() {
    guard let pair, let end = trains.end(GAPError.cancelled.error("no train is waited for any more")) else { return }
    pair.scheduler.schedule(after: .zero, end)
  }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) {
    guard let pair else { return done(.failure(GAPError.notConnected.error("the link no longer exists"))) }
    // The controller measures it in the next connection event.
    pair.scheduler.schedule(after: pair.parameters.interval) { [self] in
      guard isOpen else { return done(.failure(GAPError.disconnected.error("the link has ended"))) }
      done(.success(signal.next()))
    }
  }

  /// Ends this side, once; nothing is reported afterwards.
  func finish(_ error: BluetoothError) {
    guard let pair else { return }
    // A request that follows an ended one finds no link.
    self.pair = nil
    pair.security.linkEnded(role, error)
    queue.removeAll()
    onTraffic?(.ended(error))
    onTraffic = nil
    let tell = onEvent
    onEvent = nil
    onEnd?()
    onEnd = nil
    trains.end(GAPError.notConnected.error("the link has ended"))?()
    tell?(.ended(error))
  }

  func deliver(_ packet: [UInt8]) {
    onTraffic?(.received(packet))
    onEvent?(valueLoss?.drops(packet) == true ? .lost(1) : .received(packet))
  }

  /// Reports a change of the link.
  func tell(_ change: LinkTraffic.Change) {
    onTraffic?(.changed(change))
    switch change {
    case .parameters: onEvent?(.parametersChanged)
    case .security: onEvent?(.securityChanged)
    }
  }

  func dequeue(_ count: Int) -> [[UInt8]] {
    let packets = Array(queue.prefix(count))
    queue.removeFirst(packets.count)
    if let onTraffic { for packet in packets { onTraffic(.sent(packet)) } }
    return packets
  }

  func tellWhetherWritable() {
    guard isFull, isWritable else { return }
    isFull = false
    onEvent?(.writable)
  }
}

/// The traffic between one side's controller and its host.
enum LinkTraffic {
  case sent([UInt8])
  case received([UInt8])
  case changed(Change)
  case ended(BluetoothError)

  /// A change of a link.
  enum Change { case parameters, security }
}

/// A listener for channels on one side of a link.
struct ChannelListener {
  /// The parameters of its channels.
  var parameters: ChannelParameters
  /// Accepts an opened channel.
  var accept: (SimulatedChannel) -> Void
}

extension SimulatedLink {
  /// This side is switched off.
  func switchOff(_ reason: BluetoothError) { pair?.switchOff(self, reason) }
  /// This side vanishes.
  func vanish(_ reason: BluetoothError) { pair?.vanish(self, reason) }
  /// No more packets are received.
  func lose() { pair?.lose() }
  /// Sends a Security Request, on the peripheral's side.
  func requestSecurity() { pair?.security.requestSecurity() }
}

/// The controller error codes that occur on the simulated air (Core 5.4, Vol 1, Part F, 1.3).
enum HCIReason: Int {
  case hardwareFailure = 0x03
  case authenticationFailure = 0x05
  case pinOrKeyMissing = 0x06
  case memoryCapacityExceeded = 0x07
  case connectionTimeout = 0x08
  case connectionLimitExceeded = 0x09
  case invalidHCICommandParameters = 0x12
  case remoteUserTerminatedConnection = 0x13
  case remoteDeviceTerminatedConnectionDueToPowerOff = 0x15
  case connectionTerminatedByLocalHost = 0x16
  case connectionFailedToBeEstablished = 0x3E
  case packetTooLate = 0x46

  /// As a `BluetoothError`.
  var error: BluetoothError {
    BluetoothError(domain: .hci, code: rawValue, name: "\(self)", message: message)
  }

  /// The error of a code, including codes that never occur by themselves.
  static func error(_ code: UInt8) -> BluetoothError {
    HCIReason(rawValue: Int(code))?.error
      ?? BluetoothError(
        domain: .hci, code: Int(code), name: "simulated", message: "the device ended the connection, error \(code)")
  }

  private var message: String {
    switch self {
    case .hardwareFailure: "the adapter is gone"
    case .authenticationFailure: "the pairing or the encryption of the connection failed"
    case .pinOrKeyMissing: "the other side lost its keys: forget the device on both sides and pair again"
    case .memoryCapacityExceeded: "more was sent than the link can buffer"
    case .connectionTimeout: "the device is out of range: nothing was received from it within the supervision timeout"
    case .connectionLimitExceeded: "the adapter has no room for another link: disconnect one"
    case .invalidHCICommandParameters: "the controller does not accept these parameters"
    case .remoteUserTerminatedConnection: "the device ended the connection"
    case .remoteDeviceTerminatedConnectionDueToPowerOff: "the device was switched off"
    case .connectionTerminatedByLocalHost: "the connection was ended locally"
    case .connectionFailedToBeEstablished: "the device did not respond to the connection attempt"
    case .packetTooLate: "the slot had passed before the controller had the response"
    }
  }
}
