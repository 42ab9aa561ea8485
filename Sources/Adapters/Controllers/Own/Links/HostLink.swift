import Adapter
import Bluetooth
import DequeModule
import HCI
import Host
import Radio

/// A link whose ATT packets go over channel 4 of our own L2CAP.
final class HostLink: AdapterLink {
  let id = LinkID.next()
  let peer: DeviceAddress
  let role: LinkRole
  let attempts: Int
  /// The HCI handle.
  let handle: ConnectionHandle
  var parameters: LinkParameters?
  var layer: LinkLayer
  var onEvent: ((LinkEvent) -> Void)?

  /// A larger MTU than this is of no use: no attribute value is longer than 512 octets.
  static let longestMTU = 517
  /// How many packets wait while they are not read.
  private static let limit = 256

  private unowned let links: HostLinks
  private let context: AdapterContext
  /// The packets that are not delivered yet.
  private var incoming: Deque<[UInt8]> = []
  private var hasStarted = false
  /// Whether sent packets wait, and the user was or can be told so.
  private var isBlocked = false
  /// Whether we end the link.
  private(set) var isDisconnecting = false { didSet { if isDisconnecting { dropIncoming() } } }
  /// The reason for which it could not be encrypted, and is ended.
  private(set) var failure: HCIStatus?
  /// Why we end it by ourselves, in words.
  private(set) var cause: String?
  /// Rings when sent packets have had their time to leave before the end.
  private var departure: (any ScheduledWork)?
  private(set) var isOver = false
  /// The end that came before `start`.
  private var earlyEnd: BluetoothError?

  init(
    _ peer: DeviceAddress, _ role: LinkRole, _ handle: ConnectionHandle, attempts: Int, links: HostLinks,
    in context: AdapterContext
  ) {
    self.peer = peer
    self.role = role
    self.handle = handle
    self.attempts = attempts
    self.links = links
    self.context = context
    (parameters, layer) = links.requester.parameters(of: handle)
  }

  var maximumMTU: Int { Self.longestMTU }
  var security: LinkSecurity { isOver ? .none : links.pairing.security(of: handle) }
  var isWritable: Bool { !isBlocked }

  var isReading = true {
    didSet { if isReading, !oldValue { context.loop.execute { [weak self] in self?.proceed() } } }
  }

  /// Whether packets wait to be read.
  var isHolding: Bool { !isReading && !isDisconnecting && !incoming.isEmpty }

  func send(_ packet: [UInt8]) {
    guard !isOver, !isDisconnecting else { return }
    switch links.sender.send(L2CAPFrame(channel: L2CAPFrame.Fixed.attribute, payload: packet), on: handle, .data) {
    case .taken: break
    case .waiting: isBlocked = true
    case .refused:
      context.logger.warning("a link is too slow for the data sent to it", metadata: ["peer": "\(peer)"])
      cause = "the link is too slow for the data sent to it"
      isDisconnecting = true
      leave()
    }
  }

  func disconnect() { disconnect(because: nil) }

  /// The link may not outlast its pairing, which failed or took too long.
  func pairingFailed() { disconnect(because: .authenticationFailure) }

  private func disconnect(because failure: HCIErrorCode?) {
    guard !isOver, !isDisconnecting else { return }
    (isDisconnecting, self.failure) = (true, failure.map { HCIStatus($0) })
    guard links.sender.isUnsent(on: handle) else { return leave() }
    departure = context.scheduler.schedule(after: Departure.timeout) { [weak self] in self?.leave() }
    links.sender.awaitTransmission(on: handle)
  }

  /// The device has acknowledged nothing for too long.
  func giveUp() {
    guard !isOver else { return }
    context.logger.warning("a device acknowledges no data and is disconnected", metadata: ["peer": "\(peer)"])
    cause = cause ?? "the device acknowledged no data for 40 s"
    isDisconnecting = true
    leave()
  }

  /// The link could not be encrypted with the keys of its bond: it is ended, as the kernel ends it.
  /// - Parameter reason: the one to tell.
  func encryptionFailed(_ reason: HCIErrorCode) {
    guard !isOver, !isDisconnecting else { return }
    (isDisconnecting, failure) = (true, HCIStatus(reason))
    leave()
  }

  private func leave() {
    departure?.cancel()
    departure = nil
    guard !isOver else { return }
    links.disconnect(self, failure == nil ? .remoteUserTerminatedConnection : .authenticationFailure)
  }

  var requester: LinkRequester { links.requester }

  func setWish(_ parameters: ConnectionParameters?) { links.signalling.setWish(parameters, on: handle) }

  let hasEnhancedChannels = true

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    guard !isOver, !isDisconnecting, let channels = links.channels else {
      return context.fail(done, GAPError.notConnected.error("\(peer) is not connected"))
    }
    channels.open(to: psm, parameters, on: self, done)
  }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, _ done: @escaping (BluetoothError?) -> Void
  ) {
    links.pairing.raise(self, to: level, as: capability, usesOwnData: usesOwnData, done)
  }

  // MARK: - The life of the link

  /// The owner knows the link: events may be delivered.
  func start() {
    hasStarted = true
    if let earlyEnd { tellEnd(earlyEnd) } else { proceed() }
  }

  /// An ATT packet came.
  func receive(_ packet: [UInt8]) {
    guard packet.count <= Self.longestMTU else { return lost("a packet of a device is longer than the MTU") }
    guard !incoming.isEmpty || !mayDeliver else { return tell(.received(packet)) }
    guard incoming.count < Self.limit else {
      guard hasStarted, let first = incoming.popFirst() else { return lost("packets of a device were not awaited") }
      // No room is left: the oldest one is delivered anyway.
      incoming.append(packet)
      return tell(.received(first))
    }
    incoming.append(packet)
    deliver()
  }

  private func lost(_ words: String) {
    context.logger.warning("\(words), and dropped", metadata: ["peer": "\(peer)"])
    if hasStarted { tell(.lost(1)) }
  }

  /// No packet that waits is delivered any more.
  private func dropIncoming() {
    incoming.removeAll()
    links.room.read(handle)
  }

  /// The user reads again.
  private func proceed() {
    deliver()
    if !isOver, incoming.isEmpty { links.room.read(handle) }
  }

  private var mayDeliver: Bool { hasStarted && isReading && !isOver }

  private func deliver() {
    while mayDeliver, let packet = incoming.popFirst() { tell(.received(packet)) }
  }

  /// The controller has transmitted packets of this link.
  func transmitted() {
    if departure != nil, !links.sender.isUnsent(on: handle) { return leave() }
    guard isBlocked, !links.sender.isWaiting(on: handle) else { return }
    isBlocked = false
    tell(.writable)
  }

  /// The protection of the link changed.
  func updateSecurity() { tell(.securityChanged) }

  /// The link has ended: earlier packets are delivered, then the end, once.
  /// - Parameter unsent: how many frames and packets did not leave.
  func end(_ reason: BluetoothError, unsent: Int) {
    guard !isOver else { return }
    if hasStarted { deliverAll() }
    isOver = true
    departure?.cancel()
    departure = nil
    if unsent > 0 {
      context.logger.debug(
        "a link ended before everything sent on it was transmitted",
        metadata: ["peer": "\(peer)", "packets": "\(unsent)"])
    }
    if hasStarted { tellEnd(reason) } else { earlyEnd = reason }
  }

  private func tellEnd(_ reason: BluetoothError) {
    deliverAll()
    onEvent?(.ended(reason))
    onEvent = nil
  }

  /// Delivers the packets that wait, whether or not they are read.
  private func deliverAll() {
    while !isDisconnecting, let packet = incoming.popFirst() { onEvent?(.received(packet)) }
  }
}
