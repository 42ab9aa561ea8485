import Adapter
import Bluetooth
import CBlueZ
import HCI
import Radio

/// A channel on a link, or the opening of one.
protocol LinkChannel: AnyObject {
  /// The link has ended, for this reason.
  func linkEnded(_ error: BluetoothError)
}

/// The work for a link that is not its own.
protocol LinkServices: AnyObject {
  /// Whether the kernel has enhanced channels, and they are switched on.
  var hasEnhancedChannels: Bool { get }
  /// Opens a channel to a listener of the device.
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters, on link: KernelLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void)
  /// Raises the protection of a link to a level, 2 to 4.
  func raiseSecurity(
    of link: KernelLink, to level: Int, as capability: PairingCapability, _ done: @escaping (BluetoothError?) -> Void)
  /// Has a link encrypted with the keys of its bond.
  func encrypt(_ link: KernelLink, to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// The protection of a link changed, or may have.
  func securityMayHaveChanged(_ link: KernelLink)
}

/// A link, with its ATT packets on the kernel's L2CAP socket of channel 4.
final class KernelLink: AdapterLink {
  let id: LinkID
  let peer: DeviceAddress
  /// The reason for which the controller could not encrypt it: then the kernel ends it.
  var failure: HCIStatus?
  let role: LinkRole
  var mustReceive: Bool { KernelFault.endsWithSilentLinks }
  let attempts: Int
  /// The HCI handle.
  let handle: UInt16
  let maximumMTU: Int
  var parameters: LinkParameters?
  var layer: LinkLayer
  var onEvent: ((LinkEvent) -> Void)?

  /// The protection that was last told.
  private var toldSecurity: LinkSecurity

  /// The channels on it, pending ones included.
  private var channels: [any LinkChannel] = []
  private let socket: PacketSocket
  /// The packets that wait while the kernel encrypts the link: until then it refuses every packet (ENOTCONN).
  private var early: [[UInt8]]?
  /// Delays the end of the link until sent packets have left.
  private var departure: Departure
  private var departureAlarm: (any ScheduledWork)?
  private unowned let links: KernelLinks
  private unowned let services: any LinkServices
  private let radio: RadioHost
  private let context: AdapterContext
  /// Whether we end the link.
  private(set) var isDisconnecting = false
  /// Why we end it by ourselves, in words.
  private(set) var cause: String?
  /// Whether the controller has reported the end, or is known not to have the link any more.
  var isDown = false
  /// Whether the kernel has ended the socket.
  private(set) var socketHasEnded = false
  private var hasEnded = false
  /// Whether the link has ended, known or not.
  var isOver: Bool { isDown || hasEnded || earlyEnd != nil }
  private var hasStarted = false
  /// The end that came before `start`.
  private var earlyEnd: BluetoothError?

  /// A larger MTU than this is of no use: no attribute value is longer than 512 octets.
  static let longestMTU = 517
  /// How many packets wait while the link is encrypted.
  private static let maximumEarly = 256
  /// The kernel doubles it; some 20 packets in flight.
  static let sendBuffer: Int32 = 16384

  init(
    id: LinkID, peer: DeviceAddress, role: LinkRole, handle: UInt16, attempts: Int,
    descriptor: Descriptor, links: KernelLinks, services: any LinkServices, radio: RadioHost, in context: AdapterContext
  ) {
    self.id = id
    self.peer = peer
    self.role = role
    self.handle = handle
    self.attempts = attempts
    (parameters, layer) = links.requester.parameters(of: handle)
    self.links = links
    self.services = services
    self.radio = radio
    self.context = context
    departure = Departure(fragment: radio.fragmentLength)
    var incoming: UInt16 = 0
    var outgoing: UInt16 = 0
    if cbz_att_get_mtu(descriptor.number, &incoming, &outgoing) == 0, min(incoming, outgoing) >= 23 {
      maximumMTU = min(Int(min(incoming, outgoing)), Self.longestMTU)
    } else {
      maximumMTU = 23
    }
    _ = cbz_set_send_buffer(descriptor.number, Self.sendBuffer)
    toldSecurity = Self.security(of: descriptor)
    socket = PacketSocket(descriptor, on: context.loop, priority: .high, longest: Self.longestMTU)
    socket.onEvent = { [weak self] event in self?.handle(event) }
  }

  var requester: LinkRequester { links.requester }

  var isReading: Bool {
    get { socket.isReading }
    set { socket.isReading = newValue }
  }

  var isWritable: Bool { socket.isWritable && early == nil }

  /// Asked of the kernel each time.
  var security: LinkSecurity { socket.descriptor.isOpen ? Self.security(of: socket.descriptor) : toldSecurity }

  func send(_ packet: [UInt8]) {
    guard !hasEnded, !isDisconnecting else { return }
    if let waiting = early {
      // As many as wait in a socket; a peer that exceeds this is misbehaving.
      guard waiting.count < Self.maximumEarly else {
        cause = "too many packets waited for the encryption of the link"
        isDisconnecting = true
        return leave()
      }
      early?.append(packet)
      return
    }
    radio.packetSent()
    departure.sent(packet.count)
    guard socket.send(packet) else {
      context.logger.warning("a link is too slow for the data sent to it", metadata: ["peer": "\(peer)"])
      cause = "the link is too slow for the data sent to it"
      isDisconnecting = true
      return leave()
    }
  }

  func disconnect() {
    guard !hasEnded, !isDisconnecting else { return }
    isDisconnecting = true
    radio.readCompletions()
    let now = context.scheduler.now
    guard !departure.end(at: now), let deadline = departure.deadline else { return leave() }
    departureAlarm = context.scheduler.schedule(at: deadline) { [weak self] in
      guard let self, departure.tick(at: context.scheduler.now) else { return }
      leave()
    }
    links.leavingChanged()
  }

  /// Whether its end waits for sent packets.
  var isLeaving: Bool { departureAlarm != nil }

  /// The controller has transmitted so many packets.
  func completed(_ packets: Int) { if departure.completed(packets) { leave() } }

  private func leave() {
    departureAlarm?.cancel()
    departureAlarm = nil
    links.leavingChanged()
    guard !hasEnded, socket.descriptor.isOpen else { return }
    tellUnsent()
    // First the socket, then the link: Debian's kernel 6.1.192 uses freed memory when the last socket of a link on
    // which nothing was ever received is closed after the link.
    socket.close()
    socketHasEnded = true
    links.disconnect(self)
  }

  var hasEnhancedChannels: Bool { services.hasEnhancedChannels }

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) { services.openChannel(to: psm, parameters, on: self, done) }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, _ done: @escaping (BluetoothError?) -> Void
  ) {
    services.raiseSecurity(of: self, to: level, as: capability, done)
  }

  func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void) { services.encrypt(self, to: level, done) }

  /// Has the kernel encrypt the link at this level, 2 to 4. Packets wait until `endSecuring`.
  /// - Returns: why it does not.
  func secure(level: Int) -> BluetoothError? {
    guard !hasEnded, !isDisconnecting, socket.descriptor.isOpen else {
      return GAPError.notConnected.error("\(peer) is not connected")
    }
    let result = cbz_att_set_security(socket.descriptor.number, UInt8(clamping: level))
    guard result >= 0 else {
      // Not `pairingFailed`: the keys may be good, and the kernel refuses for other reasons too.
      if security.level >= level { return nil }
      return GAPError.connectionFailed.error("the kernel does not encrypt the link to \(peer) (errno \(-result))")
    }
    early = early ?? []
    return nil
  }

  /// Whether packets wait for the kernel to encrypt the link.
  var isSecuring: Bool { early != nil }

  /// The kernel takes packets again, or never will.
  func endSecuring() {
    guard let packets = early else { return }
    early = nil
    for packet in packets { send(packet) }
    if isWritable { tell(.writable) }
  }

  // MARK: - The life of the link

  /// The owner knows the link: events may be delivered.
  func start() {
    hasStarted = true
    // Packets of an earlier link of this handle are not ours.
    radio.readCompletions()
    do { try socket.start() } catch {
      // No memory to watch another socket: a link that cannot be read is of no use.
      context.logger.error("a link cannot be watched", metadata: ["peer": "\(peer)", "errno": "\(error.code)"])
      disconnect()
    }
    if let earlyEnd { end(earlyEnd) }
  }

  /// Asks the kernel how the link is protected.
  /// - Returns: whether that has changed.
  @discardableResult
  func updateSecurity() -> Bool {
    guard !hasEnded else { return false }
    let now = security
    guard now != toldSecurity else { return false }
    toldSecurity = now
    onEvent?(.securityChanged)
    services.securityMayHaveChanged(self)
    return true
  }

  /// A channel, or the opening of one, is to end with the link.
  func add(_ channel: any LinkChannel) { channels.append(channel) }

  func remove(_ channel: any LinkChannel) { channels.removeAll { $0 === channel } }

  /// The link has ended: earlier packets are delivered, then the end, once.
  func end(_ error: BluetoothError) {
    guard hasStarted else { return earlyEnd = earlyEnd ?? error }
    guard !hasEnded else { return }
    socket.drain()
    guard !hasEnded else { return }
    hasEnded = true
    if departureAlarm != nil { tellUnsent() }
    departureAlarm?.cancel()
    departureAlarm = nil
    links.leavingChanged()
    socket.close()
    for channel in channels { channel.linkEnded(error) }
    onEvent?(.ended(error))
    onEvent = nil
  }

  /// Logs how much was not sent.
  private func tellUnsent() {
    let unsent = departure.inFlight + (early?.count ?? 0)
    guard unsent > 0 else { return }
    context.logger.warning(
      "a link ended before everything sent on it was transmitted",
      metadata: ["peer": "\(peer)", "packets": "\(unsent)"])
  }

  private func handle(_ event: PacketSocket.Event) {
    switch event {
    case .received(let packet): tell(.received(packet))
    case .lost(let count):
      context.logger.warning("packets from a device were lost", metadata: ["peer": "\(peer)", "count": "\(count)"])
      tell(.lost(count))
    case .writable: tell(.writable)
    case .ended(let error):
      socketHasEnded = true
      links.socketEnded(self, error)
    }
  }

  private static func security(of descriptor: Descriptor) -> LinkSecurity {
    var level: UInt8 = 1
    var keySize: UInt8 = 0
    // Until the link is encrypted the level is the one that was asked for, and the key has no size.
    guard cbz_att_get_security(descriptor.number, &level, &keySize) == 0, level > 1, keySize > 0 else { return .none }
    // Its level 4 does not tell that the key is long enough.
    return LinkSecurity(isAuthenticated: level >= 3, isSecureConnections: level >= 4, keySize: Int(keySize))
  }
}
