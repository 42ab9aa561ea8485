import Adapter
import Bluetooth
import DequeModule
import HCI
import Host
import Radio

/// A link with ATT packets on channel 4 of our own L2CAP.
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
  var life = LinkLife() { didSet { if life.isDisconnecting, !oldValue.isDisconnecting { dropIncoming() } } }
  var departure: (any ScheduledWork)?
  let context: AdapterContext

  /// A larger MTU is useless: no attribute value exceeds 512 octets.
  static let longestMTU = 517
  /// Maximum packets queued while they are not read.
  private static let limit = 256

  private unowned let links: HostLinks
  /// The undelivered packets.
  private var incoming: Deque<[UInt8]> = []
  /// True if sent packets wait, and the user was or can be notified of that.
  private var isBlocked = false

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

  var requester: LinkRequester { links.requester }
  var maximumMTU: Int { links.maximumMTU }
  var security: LinkSecurity { isOver ? .none : links.pairing.security(of: handle) }
  var isWritable: Bool { !isBlocked }
  var isOver: Bool { life.isOver }

  var isReading = true {
    didSet { if isReading, !oldValue { context.scheduler.execute { [weak self] in self?.proceed() } } }
  }

  /// True if packets wait to be read.
  var isHolding: Bool { !isReading && !life.isDisconnecting && !incoming.isEmpty }

  let hasEnhancedChannels = true

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) { links.channels?.open(to: psm, parameters, on: self, done) }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    links.pairing.raise(
      self, to: level, as: capability, usesOwnData: usesOwnData, replacesBond: replacesBond, done)
  }

  func setWish(_ parameters: ConnectionParameters?) { links.signalling.setWish(parameters, on: handle) }

  func send(_ packet: [UInt8]) {
    guard isUsable else { return }
    switch links.sender.send(L2CAPFrame(channel: L2CAPFrame.Fixed.attribute, payload: packet), on: handle, .data) {
    case .taken: break
    case .waiting: isBlocked = true
    case .refused: giveUp("the link is too slow for the data sent to it")
    }
  }

  /// The link could not be encrypted with its bond's keys: it is ended, as the kernel ends it.
  /// - Parameter reason: the reported reason.
  func encryptionFailed(_ reason: HCIErrorCode) {
    guard life.leave() else { return }
    life.failure = HCIStatus(reason)
    leave()
  }

  // MARK: - The life of the link

  var isUnsent: Bool { links.sender.isUnsent(on: handle) }

  func departureChanged() { if departure != nil { links.sender.awaitTransmission(on: handle) } }

  func hangUp() {
    links.disconnect(self, life.failure == nil ? .remoteUserTerminatedConnection : .authenticationFailure)
  }

  func open() { proceed() }

  /// Delivers the waiting packets, whether or not they are read.
  func close(_ error: BluetoothError) {
    while !life.isDisconnecting, let packet = incoming.popFirst() { onEvent?(.received(packet)) }
  }

  /// An ATT packet was received.
  func receive(_ packet: [UInt8]) {
    guard packet.count <= Self.longestMTU else { return lost("a packet of a device is longer than the MTU") }
    guard !incoming.isEmpty || !mayDeliver else { return tell(.received(packet)) }
    guard incoming.count < Self.limit else {
      guard life.isOpen, let first = incoming.popFirst() else { return lost("packets of a device were not awaited") }
      // Without room the oldest packet is delivered anyway.
      incoming.append(packet)
      return tell(.received(first))
    }
    incoming.append(packet)
    deliver()
  }

  private func lost(_ words: String) {
    context.logger.warning("\(words), and dropped", metadata: ["peer": "\(peer)"])
    lost()
  }

  /// A packet was lost between the controller and this host.
  func lost() { if life.isOpen { tell(.lost(1)) } }

  /// Drops the undelivered packets.
  private func dropIncoming() {
    incoming.removeAll()
    links.room.read(handle)
  }

  /// The user reads again.
  private func proceed() {
    deliver()
    if !isOver, incoming.isEmpty { links.room.read(handle) }
  }

  private var mayDeliver: Bool { life.isOpen && isReading }

  private func deliver() {
    while mayDeliver, let packet = incoming.popFirst() { tell(.received(packet)) }
  }

  /// The controller has transmitted packets of this link.
  func transmitted() {
    if departure != nil, !isUnsent { return leave() }
    guard isBlocked, !links.sender.isWaiting(on: handle) else { return }
    isBlocked = false
    tell(.writable)
  }

  /// The protection of the link changed.
  func updateSecurity() { tell(.securityChanged) }
}
