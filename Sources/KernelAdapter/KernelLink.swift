import Adapter
import Bluetooth
import CBlueZ
import Radio

/// A link whose ATT packets go through the kernel's L2CAP socket of channel 4.
final class KernelLink: Link {
  let id: LinkID
  let peer: DeviceAddress
  /// Whether the device said that it has no key for us.
  var peerLacksKeys = false
  let role: LinkRole
  let attempts: Int
  /// The HCI handle.
  let handle: UInt16
  let maximumMTU: Int
  private(set) var parameters: LinkParameters?
  private(set) var layer: LinkLayer
  var onEvent: ((LinkEvent) -> Void)?

  /// The protection that was last told.
  private var toldSecurity: LinkSecurity

  /// The channels on it that are open.
  var channels: [KernelChannel] = []
  /// The channels that we are opening.
  private var openings: [ChannelOpening] = []
  private let socket: PacketSocket
  /// The packets that wait while the kernel encrypts the link: until then it refuses every packet (ENOTCONN).
  private var held: [[UInt8]]?
  /// Holds the end of the link until what was sent has left.
  private var departure: Departure
  private var departureAlarm: (any ScheduledWork)?
  private unowned let adapter: KernelAdapter
  /// Whether we end the link.
  private(set) var isDisconnecting = false
  /// Whether the controller has reported the end, or is known not to have the link any more.
  var isDown = false
  /// Whether the kernel has ended the socket.
  private(set) var socketHasEnded = false
  private var hasEnded = false
  private var hasStarted = false
  /// The end that came before `start`.
  private var earlyEnd: BluetoothError?

  /// A larger MTU than this is of no use: no attribute value is longer than 512 octets.
  static let longestMTU = 517
  /// How many packets wait while the link is encrypted.
  private static let mostHeld = 256
  /// The kernel doubles it; some 20 packets in flight.
  static let sendBuffer: Int32 = 16384

  init(
    id: LinkID, peer: DeviceAddress, role: LinkRole, handle: UInt16, attempts: Int,
    record: LinkRecord, descriptor: Descriptor, adapter: KernelAdapter
  ) {
    self.id = id
    self.peer = peer
    self.role = role
    self.handle = handle
    self.attempts = attempts
    parameters = record.parameters
    layer = record.layer
    self.adapter = adapter
    departure = Departure(fragment: adapter.fragmentLength)
    var incoming: UInt16 = 0
    var outgoing: UInt16 = 0
    if cbz_att_get_mtu(descriptor.number, &incoming, &outgoing) == 0, min(incoming, outgoing) >= 23 {
      maximumMTU = min(Int(min(incoming, outgoing)), Self.longestMTU)
    } else {
      maximumMTU = 23
    }
    _ = cbz_set_send_buffer(descriptor.number, Self.sendBuffer)
    toldSecurity = Self.security(of: descriptor)
    socket = PacketSocket(descriptor, on: adapter.loop, priority: .high, longest: Self.longestMTU)
    socket.onEvent = { [weak self] event in self?.handle(event) }
  }

  var isReading: Bool {
    get { socket.isReading }
    set { socket.isReading = newValue }
  }

  var isWritable: Bool { socket.isWritable && held == nil }

  /// Asked of the kernel each time.
  var security: LinkSecurity { socket.descriptor.isOpen ? Self.security(of: socket.descriptor) : toldSecurity }

  func send(_ packet: [UInt8]) {
    guard !hasEnded, !isDisconnecting else { return }
    if let waiting = held {
      // As many as wait in a socket; who sends so much that it would have to wait for answers has a fault.
      guard waiting.count < Self.mostHeld else {
        isDisconnecting = true
        return leave()
      }
      held?.append(packet)
      return
    }
    adapter.packetSent()
    departure.sent(packet.count)
    guard socket.send(packet) else {
      adapter.logger.warning("a link is too slow for the data sent to it", metadata: ["peer": "\(peer)"])
      isDisconnecting = true
      return leave()
    }
  }

  func disconnect() {
    guard !hasEnded, !isDisconnecting else { return }
    isDisconnecting = true
    adapter.readCompletions()
    let now = adapter.scheduler.now
    guard !departure.end(at: now), let deadline = departure.deadline else { return leave() }
    departureAlarm = adapter.scheduler.schedule(at: deadline) { [weak self] in
      guard let self, departure.tick(at: adapter.scheduler.now) else { return }
      leave()
    }
    adapter.leavingChanged()
  }

  /// Whether its end waits for what was sent.
  var isLeaving: Bool { departureAlarm != nil }

  /// The controller has transmitted so many packets.
  func completed(_ packets: Int) { if departure.completed(packets) { leave() } }

  private func leave() {
    departureAlarm?.cancel()
    departureAlarm = nil
    adapter.leavingChanged()
    guard !hasEnded, socket.descriptor.isOpen else { return }
    tellUnsent()
    // First the socket, then the link: Debian's kernel 6.1.192 uses freed memory when the last socket of a link on
    // which nothing was ever received is closed after the link.
    socket.close()
    socketHasEnded = true
    adapter.disconnect(self)
  }

  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void) {
    adapter.request(parameters, on: self, done)
  }

  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void) { adapter.request(phy, on: self, done) }

  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void) {
    adapter.request(longestPacket: octets, on: self, done)
  }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) { adapter.readRSSI(of: self, done) }

  var hasEnhancedChannels: Bool { adapter.hasEnhancedChannels }

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) { adapter.openChannel(to: psm, parameters, on: self, done) }

  func raiseSecurity(to level: Int, as capability: PairingCapability, _ done: @escaping (BluetoothError?) -> Void) {
    adapter.raiseSecurity(of: self, to: level, as: capability, done)
  }

  /// Has the kernel encrypt the link at this level, 2 to 4. Packets wait until `endSecuring`.
  /// - Returns: why it does not.
  func secure(level: Int) -> BluetoothError? {
    guard !hasEnded, !isDisconnecting, socket.descriptor.isOpen else {
      return GAPError.notConnected.error("\(peer) is not connected.")
    }
    let result = cbz_att_set_security(socket.descriptor.number, UInt8(clamping: level))
    guard result >= 0 else {
      return GAPError.pairingFailed.error("The kernel does not encrypt the link to \(peer) (errno \(-result)).")
    }
    held = held ?? []
    return nil
  }

  /// Whether packets wait for the kernel to encrypt the link.
  var isSecuring: Bool { held != nil }

  /// The kernel takes packets again, or never will.
  func endSecuring() {
    guard let packets = held else { return }
    held = nil
    for packet in packets { send(packet) }
    if isWritable { tell(.writable) }
  }

  // MARK: - What the adapter tells

  /// The owner knows the link: events may be delivered.
  func start() {
    hasStarted = true
    // Packets of an earlier link of this handle are not ours.
    adapter.readCompletions()
    do { try socket.start() } catch {
      // No memory to watch another socket: a link that cannot be read is of no use.
      adapter.logger.error("a link cannot be watched", metadata: ["peer": "\(peer)", "errno": "\(error.code)"])
      disconnect()
    }
    if let earlyEnd { end(earlyEnd) }
  }

  func update(_ parameters: LinkParameters?, _ layer: LinkLayer) {
    guard parameters != self.parameters || layer != self.layer else { return }
    (self.parameters, self.layer) = (parameters, layer)
    onEvent?(.parametersChanged)
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
    adapter.securityMayHaveChanged(self)
    return true
  }

  /// We open a channel.
  func began(_ opening: ChannelOpening) {
    openings.removeAll(where: \.isFinished)
    openings.append(opening)
  }

  /// The device opened a channel.
  func opened(_ channel: KernelChannel) {
    guard !hasEnded, !isDisconnecting, let onEvent else { return channel.close() }
    onEvent(.channel(channel))
  }

  /// The link has ended: what came before is delivered, then the end, once.
  func end(_ error: BluetoothError) {
    guard hasStarted else { return earlyEnd = earlyEnd ?? error }
    guard !hasEnded else { return }
    socket.drain()
    guard !hasEnded else { return }
    hasEnded = true
    if departureAlarm != nil { tellUnsent() }
    departureAlarm?.cancel()
    departureAlarm = nil
    adapter.leavingChanged()
    socket.close()
    for channel in channels { channel.linkEnded(error) }
    for opening in openings { opening.fail(error) }
    onEvent?(.ended(error))
    onEvent = nil
  }

  /// Tells what the end of the link leaves behind.
  private func tellUnsent() {
    let unsent = departure.inFlight + (held?.count ?? 0)
    guard unsent > 0 else { return }
    adapter.logger.warning(
      "a link ended before everything sent on it was transmitted",
      metadata: ["peer": "\(peer)", "packets": "\(unsent)"])
  }

  private func handle(_ event: PacketSocket.Event) {
    switch event {
    case .received(let packet): tell(.received(packet))
    case .lost(let count):
      adapter.logger.warning("packets from a device were lost", metadata: ["peer": "\(peer)", "count": "\(count)"])
      tell(.lost(count))
    case .writable: tell(.writable)
    case .ended(let error):
      socketHasEnded = true
      adapter.socketEnded(self, error)
    }
  }

  /// Nobody waits for more on a link that is being disconnected.
  private func tell(_ event: LinkEvent) { if !isDisconnecting { onEvent?(event) } }

  private static func security(of descriptor: Descriptor) -> LinkSecurity {
    var level: UInt8 = 1
    var keySize: UInt8 = 0
    // Until the link is encrypted the level is the one that was asked for, and the key has no size.
    guard cbz_att_get_security(descriptor.number, &level, &keySize) == 0, level > 1, keySize > 0 else { return .none }
    return LinkSecurity(level: Int(level), keySize: Int(keySize))
  }
}
