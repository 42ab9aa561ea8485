import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Radio

/// The user of `HostLinks`.
protocol HostLinksOwner: AnyObject {
  /// A link is up, to be announced.
  func linkBegan(_ link: HostLink)
  /// The users of a link were notified of its end.
  func linkHasEnded()
  /// Reported events are to be delivered now.
  func deliverEvents()
}

/// The links of one controller, each under its handle, with the data on them.
///
/// | Link      | Input                           | Then                                                              |
/// |-----------|---------------------------------|-------------------------------------------------------------------|
/// | none      | `linkUp` as peripheral          | announced, with the data received before                          |
/// | none      | `linkUp`, `attach` as central   | the same; the other controller is asked for its features          |
/// | announced | `linkDown`                      | none: frames, reassembly and signalling end with it               |
/// | any       | `close`                         | none                                                              |
///
/// A link that we initiated is announced before its device responds, which it may never do (0x3E): data are sent in its
/// first connection event, and nothing waits for the features, which some devices do not report. A link is disconnected
/// if its device acknowledges nothing. If advertising sets have their own addresses, Security Manager packets on a link
/// as peripheral wait for the end of its set, which reveals our address, for 1 s at most. All other packets wait while
/// such a link is being encrypted (`EncryptionHold`).
final class HostLinks {
  /// Maximum delay between a link and the end of its set.
  private static let holding = Duration.seconds(1)

  weak var owner: (any HostLinksOwner)?
  let requester: LinkRequester
  let pairing: HostPairing
  /// The channels on them; set once.
  var channels: (any ChannelService)?
  private(set) lazy var signalling = HostSignalling(self, in: context)
  private let controller: ControllerHost
  private let context: AdapterContext
  let sender: FrameSender
  private let unowned: UnownedData
  private var sets = SetAddresses()
  let room: HostRoom
  /// The largest ATT MTU of new links.
  var maximumMTU = HostLink.longestMTU
  private var entries = NumberTable<LinkEntry>()

  init(_ controller: ControllerHost, in context: AdapterContext) {
    self.controller = controller
    self.context = context
    sender = FrameSender(controller, in: context)
    room = HostRoom(controller, in: context)
    unowned = UnownedData(room, in: context)
    requester = LinkRequester(controller.activities, in: context)
    pairing = HostPairing(controller.activities, in: context)
    pairing.owner = self
    sender.onRoom = { [weak self] handle in self?.proceed(handle) }
    sender.onStall = { [weak self] handle in
      self?.entries[handle]?.link?.giveUp("the device acknowledged no data for 40 s")
    }
    requester.onChange = { [weak self] handle in self?.entries[handle]?.link?.updateParameters() }
    requester.askHost = { [weak self] wanted, link, done in self?.signalling.askHost(wanted, link, done) ?? false }
  }

  /// The announced link of a handle.
  func link(_ handle: ConnectionHandle) -> HostLink? { entries[handle]?.link }

  /// The announced links.
  var all: [HostLink] { entries.values.compactMap(\.link) }

  /// The handles of all links, announced or not.
  var handles: [ConnectionHandle] { entries.numbers }

  /// The controller is set up: devices see it under this address, and resolve its private addresses with this key.
  func begin(_ controller: HostController, seenAs address: DeviceAddress, _ key: Key128?) {
    sender.begin(controller)
    unowned.reset()
    room.begin(isUsed: controller.isSlowable)
    pairing.bonds.local = controller.profile.address
    (pairing.addressOnAir, pairing.identityResolvingKey) = (address, key)
    sets = SetAddresses()
  }

  /// Ends all links.
  func close(_ error: BluetoothError) {
    for handle in entries.numbers { end(handle, error) }
    unowned.reset()
    requester.endAll()
  }

  // MARK: - The controller's half

  /// Handles an event before the radio machines do.
  func receive(_ event: HCIEvent) {
    switch event {
    // The parameters that its controller negotiates are accepted as if its host had requested them.
    case .leRemoteConnectionParameterRequest(let request):
      controller.activities.run(.command(request.reply(by: policy(on: request.handle))))
    case .leAdvertisingSetTerminated(let event): connected(event)
    case .encryptionChange(let change):
      pairing.receive(event, arrived: controller.arrival)
      deliverHeld(change.handle)
    case .encryptionKeyRefreshComplete(let refresh):
      pairing.receive(event, arrived: controller.arrival)
      deliverHeld(refresh.handle)
    default: pairing.receive(event)
    }
  }

  /// A central chooses the connection interval itself.
  private func policy(on handle: ConnectionHandle) -> ParameterPolicy {
    entries[handle]?.role == .central ? signalling.policy(on: handle) : ParameterPolicy()
  }

  /// Packets have left the controller.
  func transmitted(_ report: CompletedPackets) { sender.completed(report) }

  /// Handles a command sent to the controller.
  func sent(_ packet: CommandPacket) {
    sets.sent(packet)
    guard packet.opcode == LELongTermKeyRequestReply.opcode,
      let handle = try? LELongTermKeyRequestReply(decoding: packet).handle, let entry = entries[handle],
      !entry.encryption.hasBegun
    else { return }
    entry.encryption.begin(at: context.scheduler.now)
    entry.encryptionAlarm = context.scheduler.schedule(after: EncryptionHold.timeout) { [weak self] in
      self?.deliverHeld(handle)
    }
  }

  /// The link is encrypted, or its frames have waited long enough.
  private func deliverHeld(_ handle: ConnectionHandle) {
    guard let entry = entries[handle] else { return }
    entry.encryptionAlarm?.cancel()
    entry.encryptionAlarm = nil
    let frames = entry.encryption.end()
    // A pairing is delivered before the requests that follow it.
    if !frames.isEmpty { owner?.deliverEvents() }
    for frame in frames { deliver(frame, on: handle, entry) }
  }

  /// A device that connected to an advertising set knows us by the set's address.
  private func connected(_ event: LEAdvertisingSetTerminated) {
    guard event.status.isSuccess else { return }
    let (handle, set) = (event.handle, event.advertisingHandle)
    guard entries[handle] != nil else { return sets.ended(set, by: handle, at: context.scheduler.now) }
    if let address = sets.address(of: set) { pairing.connected(handle, to: address) }
    release(handle)
  }

  /// Our address on a link is known, as far as possible.
  private func release(_ handle: ConnectionHandle) {
    for packet in entries[handle]?.release() ?? [] { pairing.receive(packet, on: handle) }
  }

  /// Handles the radio's actions about links.
  func perform(_ action: RadioAction) {
    switch action {
    case .linkUp(let handle, let role, let peer, let parameters): if let peer { linkUp(handle, role, peer, parameters) }
    case .attach(let handle, let device, let attempts): attach(handle, to: device, attempts: attempts)
    case .link(let handle, let news): requester.receive(news, handle)
    case .linkDown(let handle, let reason): linkDown(handle, reason)
    case .send, .scanning, .watching, .presence, .advertising, .periodic, .responses, .trainReceived, .trainNotReceived,
      .attemptFailed, .connectWaiting, .sharing, .faulty, .quirk, .renewed, .encryptionChanged, .keysMissing, .answered,
      .broken, .quiet, .resumed, .log:
      break
    }
  }

  private func linkUp(
    _ handle: ConnectionHandle, _ role: LinkRole, _ peer: DeviceAddress, _ parameters: LinkParameters?
  ) {
    entries[handle] = LinkEntry(peer: peer, role: role)
    sender.linkBegan(handle)
    room.linkBegan(handle)
    signalling.began(handle, role, peer)
    pairing.began(handle, role, peer)
    requester.began(handle, parameters)
    guard role == .peripheral else { return }
    if let end = sets.takeEnd(by: handle, at: context.scheduler.now) {
      if let address = end.address { pairing.connected(handle, to: address) }
    } else if sets.mayDiffer(from: pairing.addressOnAir) {
      entries[handle]?.held = []
      wait(handle, Self.holding) { [weak self] in self?.release(handle) }
    }
    announce(handle, attempts: 1)
  }

  private func attach(_ handle: ConnectionHandle, to device: DeviceAddress, attempts: Int) {
    guard entries[handle]?.peer == device else { return }
    announce(handle, attempts: attempts)
    controller.activities.ask(CommandPacket(LEReadRemoteFeatures(handle: handle))) { _ in }
  }

  private func wait(_ handle: ConnectionHandle, _ time: Duration, _ end: @escaping () -> Void) {
    entries[handle]?.patience = context.scheduler.schedule(after: time, end)
  }

  private func announce(_ handle: ConnectionHandle, attempts: Int) {
    guard let entry = entries[handle], entry.link == nil, controller.activities.isReady else { return }
    let link = HostLink(entry.peer, entry.role, handle, attempts: attempts, links: self, in: context)
    entries[handle]?.link = link
    if entry.role == .central { controller.activities.attached(to: entry.peer) }
    owner?.linkBegan(link)
    context.scheduler.execute { link.start() }
    for packet in unowned.take(handle) { receive(packet) }
  }

  private func linkDown(_ handle: ConnectionHandle, _ reason: HCIStatus) {
    // Its buffers are free.
    defer { sender.pump() }
    let link = entries[handle]?.link
    end(handle, link?.life.error(reason) ?? reason.error(nil))
  }

  /// Everything of a link ends, and only then its handle is reusable.
  private func end(_ handle: ConnectionHandle, _ error: BluetoothError) {
    deliverHeld(handle)
    // Data of an unused link may have been received.
    guard let entry = entries.remove(handle) else { return unowned.linkEnded(handle, at: controller.arrival) }
    let unsent = forget(handle, error)
    entry.patience?.cancel()
    guard let link = entry.link else { return }
    context.logger.debug("a link ended", metadata: ["peer": "\(link.peer)", "reason": "\(error)"])
    link.end(error, unsent: unsent)
    owner?.linkHasEnded()
  }

  @discardableResult
  private func forget(_ handle: ConnectionHandle, _ error: BluetoothError) -> Int {
    signalling.ended(handle)
    pairing.ended(handle, error)
    channels?.linkEnded(handle, error)
    let unsent = sender.linkEnded(handle)
    unowned.linkEnded(handle, at: controller.arrival)
    room.linkEnded(handle)
    requester.ended(handle)
    return unsent
  }

  /// Makes the controller end a link.
  func disconnect(_ link: HostLink, _ reason: HCIErrorCode) { controller.activities.disconnect(link.handle, reason) }

  // MARK: - Data

  /// A link may have room for more data.
  private func proceed(_ handle: ConnectionHandle) {
    entries[handle]?.link?.transmitted()
    channels?.transmitted(handle)
  }

  /// Handles data from the controller.
  func receive(_ packet: ACLDataPacket) {
    guard let entry = entries[packet.handle] else { return unowned.receive(packet, at: controller.arrival) }
    let output = entry.reassembler.receive(packet)
    for fault in output.faults {
      context.logger.debug("data were dropped: \(fault)", metadata: ["handle": "\(packet.handle)"])
    }
    if let frame = output.frame { receive(frame, on: packet.handle, entry) }
    room.received(on: packet.handle, isHeld: entry.link?.isHolding == true)
  }

  private func receive(_ frame: L2CAPFrame, on handle: ConnectionHandle, _ entry: LinkEntry) {
    // The Security Manager holds its packets itself.
    if entry.encryption.hasBegun, frame.channel != L2CAPFrame.Fixed.securityManager,
      entry.encryption.isHolding(at: controller.arrival)
    {
      guard !entry.encryption.keep(frame) else { return }
      deliverHeld(handle)
    }
    deliver(frame, on: handle, entry)
  }

  private func deliver(_ frame: L2CAPFrame, on handle: ConnectionHandle, _ entry: LinkEntry) {
    switch frame.channel {
    case L2CAPFrame.Fixed.attribute: entry.link?.receive(frame.payload)
    case L2CAPFrame.Fixed.signalling: signalling.receive(frame.payload, on: handle)
    case L2CAPFrame.Fixed.securityManager:
      if !entry.hold(frame.payload) { pairing.receive(frame.payload, on: handle, arrived: controller.arrival) }
    case _ where channels?.receive(frame.payload, on: frame.channel, of: handle) == true: break
    // Devices probe for channels of their own.
    default: context.logger.debug("a frame of channel \(frame.channel) was ignored", metadata: ["handle": "\(handle)"])
    }
  }
}

// MARK: - Pairing

extension HostLinks: HostPairingOwner {
  func send(_ packet: [UInt8], on handle: ConnectionHandle) {
    // A device that sends without reading goes without answers.
    _ = sender.send(L2CAPFrame(channel: L2CAPFrame.Fixed.securityManager, payload: packet), on: handle, .control)
  }

  func pairingFailed(_ handle: ConnectionHandle) {
    entries[handle]?.link?.disconnect(because: HCIStatus(.authenticationFailure))
  }
  func encryptionFailed(_ handle: ConnectionHandle, _ reason: HCIErrorCode) {
    entries[handle]?.link?.encryptionFailed(reason)
  }
  func securityChanged(_ handle: ConnectionHandle) { entries[handle]?.link?.updateSecurity() }
}
