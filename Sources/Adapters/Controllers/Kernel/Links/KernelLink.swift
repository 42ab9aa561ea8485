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

/// The channels of a controller's links.
protocol LinkChannels: AnyObject {
  /// True if the kernel has enhanced channels, and they are enabled.
  var hasEnhancedChannels: Bool { get }
  /// Opens a channel to a listener of the device.
  func open(
    to psm: UInt16, _ parameters: ChannelParameters, on link: KernelLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void)
}

/// The protection of a controller's links.
protocol LinkProtection: AnyObject {
  /// Raises the protection of a link to a level, 2 to 4.
  func raise(
    _ link: KernelLink, to level: Int, as capability: PairingCapability, isPassive: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void)
  /// Encrypts a link with the keys of its bond.
  func encrypt(_ link: KernelLink, to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// The protection of a link changed, or may have.
  func securityMayHaveChanged(_ link: KernelLink)
}

/// A link, with its ATT packets on the kernel's L2CAP socket of channel 4.
final class KernelLink: AdapterLink {
  let id = LinkID.next()
  let peer: DeviceAddress
  let role: LinkRole
  let attempts: Int
  /// The HCI handle.
  let handle: ConnectionHandle
  let maximumMTU: Int
  var mustReceive: Bool { KernelFault.endsWithSilentLinks }
  var parameters: LinkParameters?
  var layer: LinkLayer
  var onEvent: ((LinkEvent) -> Void)?
  var life = LinkLife()
  var departure: (any ScheduledWork)?
  let context: AdapterContext

  /// The last reported protection.
  private var toldSecurity: LinkSecurity
  /// The channels on it, pending ones included.
  private var channels: [any LinkChannel] = []
  private let socket: PacketSocket
  /// The packets queued while the kernel encrypts the link: until then it refuses every packet (ENOTCONN).
  private var early: [[UInt8]]?
  private var inFlight: PacketsInFlight
  private unowned let links: KernelLinks
  private let radio: RadioRunner
  /// True if the controller has reported the end, or is known to have no such link.
  var isDown = false
  /// True once the kernel has ended the socket.
  private(set) var socketHasEnded = false
  /// True if the link has ended, even if that is not reported yet.
  var isOver: Bool { isDown || life.isOver }

  /// A larger MTU is useless: no attribute value exceeds 512 octets.
  static let longestMTU = 517
  /// Maximum packets queued while the link is encrypted.
  private static let maximumEarly = 256
  /// The kernel doubles it; some 20 packets in flight.
  static let sendBuffer: Int32 = 16384

  init(
    _ peer: DeviceAddress, _ role: LinkRole, _ handle: ConnectionHandle, attempts: Int, over descriptor: Descriptor,
    links: KernelLinks, radio: RadioRunner, in context: LoopContext
  ) {
    self.peer = peer
    self.role = role
    self.handle = handle
    self.attempts = attempts
    (parameters, layer) = links.requester.parameters(of: handle)
    self.links = links
    self.radio = radio
    self.context = context
    inFlight = PacketsInFlight(fragment: radio.fragmentLength)
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

  /// Read from the kernel each time.
  var security: LinkSecurity { socket.descriptor.isOpen ? Self.security(of: socket.descriptor) : toldSecurity }

  func send(_ packet: [UInt8]) {
    guard !life.isOver, !life.isDisconnecting else { return }
    if let waiting = early {
      // As many as a socket holds; a peer that exceeds this is misbehaving.
      guard waiting.count < Self.maximumEarly else {
        return giveUp("too many packets waited for the encryption of the link")
      }
      early?.append(packet)
      return
    }
    radio.packetSent()
    inFlight.sent(packet.count)
    if !socket.send(packet) { giveUp("the link is too slow for the data sent to it") }
  }

  var hasEnhancedChannels: Bool { links.channels?.hasEnhancedChannels == true }

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) { links.channels?.open(to: psm, parameters, on: self, done) }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    links.protection?.raise(self, to: level, as: capability, isPassive: false, replacesBond: replacesBond, done)
  }

  func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    links.protection?.encrypt(self, to: level, done)
  }

  /// Makes the kernel encrypt the link at this level, 2 to 4. Packets wait until `endSecuring`.
  /// - Returns: the reason for a refusal; nil without one.
  func secure(level: Int) -> BluetoothError? {
    guard !life.isOver, !life.isDisconnecting, socket.descriptor.isOpen else {
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

  /// True while packets wait for the kernel to encrypt the link.
  var isSecuring: Bool { early != nil }

  /// The kernel accepts packets again, or never will.
  func endSecuring() {
    guard let packets = early else { return }
    early = nil
    for packet in packets { send(packet) }
    if isWritable { tell(.writable) }
  }

  // MARK: - The life of the link

  var isUnsent: Bool { unsent > 0 }

  /// The packets that have not left the controller.
  var unsent: Int {
    radio.readCompletions()
    return inFlight.count
  }

  func departureChanged() { links.leavingChanged() }

  /// The controller has transmitted this number of packets.
  func completed(_ packets: Int) {
    inFlight.completed(packets)
    if departure != nil, inFlight.count == 0 { leave() }
  }

  func hangUp() {
    guard socket.descriptor.isOpen else { return }
    // First the socket, then the link: Debian's kernel 6.1.192 uses freed memory when the last socket of a link on
    // which nothing was ever received is closed after the link.
    socket.close()
    socketHasEnded = true
    links.disconnect(self)
  }

  func open() {
    // Packets of an earlier link of this handle are not ours.
    radio.readCompletions()
    do { try socket.start() } catch {
      // No memory to watch another socket: a link that cannot be read is useless.
      context.logger.error("a link cannot be watched", metadata: ["peer": "\(peer)", "errno": "\(error.code)"])
      disconnect()
    }
  }

  func close(_ error: BluetoothError) {
    socket.drain()
    socket.close()
    for channel in channels { channel.linkEnded(error) }
  }

  /// Reads the link's protection from the kernel.
  /// - Returns: true if it has changed.
  @discardableResult
  func updateSecurity() -> Bool {
    guard !life.isOver else { return false }
    let now = security
    guard now != toldSecurity else { return false }
    toldSecurity = now
    links.securityChanges(on: self)
    guard !life.isOver else { return true }
    onEvent?(.securityChanged)
    links.protection?.securityMayHaveChanged(self)
    return true
  }

  /// Adds a channel, or an opening one, to end with the link.
  func add(_ channel: any LinkChannel) { channels.append(channel) }

  func remove(_ channel: any LinkChannel) { channels.removeAll { $0 === channel } }

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
    // Until the link is encrypted the level is the requested one, and the key has no size.
    guard cbz_att_get_security(descriptor.number, &level, &keySize) == 0, level > 1, keySize > 0 else { return .none }
    // Its level 4 does not imply a long enough key.
    return LinkSecurity(isAuthenticated: level >= 3, isSecureConnections: level >= 4, keySize: Int(keySize))
  }
}
