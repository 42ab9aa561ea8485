import Adapter
import Bluetooth
import Glibc
import HCI
import Logging
import Radio

/// The user of `KernelLinks`.
protocol KernelLinksOwner: AnyObject {
  /// A link has its socket and is to be announced.
  /// - Parameter identity: the device's address in the kernel.
  func linkBegan(_ link: KernelLink, identity: DeviceAddress)
  /// The encryption of a link changed; its users are notified next.
  func securityChanges(on link: KernelLink)
  /// A link ends, for this reason; its users are notified next.
  func linkEnds(_ link: KernelLink, _ error: BluetoothError)
  /// The users of a link were notified of its end.
  func linkHasEnded()
  /// The links that waited for their sockets have them.
  func linksAreAccepted()
  /// The kernel no longer offers links.
  func listeningFailed(_ error: SystemError)
}

/// The links of one controller, each under its handle in two halves: the controller's, from Connection Complete to
/// Disconnection Complete, and the kernel's socket.
///
/// The kernel offers every new LE link to the listener on channel 4, including links initiated here; a socket that
/// connects as well would race with that. So links of both directions come from the listener, once the other device has
/// responded for the first time (until then the link may still fail with 0x3E).
///
/// | Controller | Socket  | Input                     | Then                                                         |
/// |------------|---------|---------------------------|--------------------------------------------------------------|
/// | none       | none    | linkUp, attach            | up; one that we initiated waits 10 s for its socket          |
/// | up         | none    | the kernel offers it      | announced; an earlier link of the handle ends                |
/// | up         | none    | linkDown                  | gone; one that we initiated has failed                       |
/// | up         | open    | linkDown                  | down: the socket's end or 1 s ends the link                  |
/// | up         | open    | the socket ends           | linkDown or 1 s ends the link, which is then disconnected    |
/// | down       | open    | the socket ends           | the link ends with the controller's reason                   |
final class KernelLinks {
  /// A link that we initiated, waiting for its socket.
  private struct Attachment {
    let device: DeviceAddress
    let attempts: Int
    /// Rings when the kernel has not offered the link in time.
    var alarm: any ScheduledWork
  }

  private struct Entry {
    /// Our role, while the controller has the link.
    var role: LinkRole?
    var attachment: Attachment?
    /// The link from its announcement to its end.
    var link: KernelLink?
    /// The error with which the link ends if the other source stays silent.
    var ending: (error: BluetoothError, alarm: any ScheduledWork)?

    var isEmpty: Bool { role == nil && attachment == nil && link == nil && ending == nil }
  }

  /// The kernel's time for offering a link.
  private static let offerTime = Duration.seconds(10)
  /// The kernel's time for processing an event that it has already passed on.
  private static let lag = Duration.milliseconds(100)

  weak var owner: (any KernelLinksOwner)?
  weak var channels: (any LinkChannels)?
  weak var protection: (any LinkProtection)?
  let requester: LinkRequester
  private let listener: LinkListener
  private let radio: RadioRunner
  private let context: LoopContext
  private var entries: [ConnectionHandle: Entry] = [:]
  /// Rings when the kernel's list of links is to be read, after lost events.
  private var doubtAlarm: (any ScheduledWork)?

  init(_ kernel: any KernelSockets, _ radio: RadioRunner, in context: LoopContext) {
    self.radio = radio
    self.context = context
    listener = LinkListener(kernel, radio, in: context)
    requester = LinkRequester(radio.activities, in: context)
    listener.owner = self
    requester.onChange = { [weak self] handle in self?.link(handle)?.updateParameters() }
  }

  // MARK: - Questions

  /// The announced link of a handle.
  func link(_ handle: ConnectionHandle) -> KernelLink? { entries[handle]?.link }

  /// The announced links.
  var all: [KernelLink] { entries.keys.sorted().compactMap { entries[$0]?.link } }

  /// The handles of the controller's links, announced or not.
  var handles: [ConnectionHandle] { entries.filter { $0.value.role != nil }.keys.sorted() }

  /// True if the controller has any link.
  var isAnyUp: Bool { entries.values.contains { $0.role != nil } }

  /// True if a link that we initiated waits for its socket.
  var isAttaching: Bool { entries.values.contains { $0.attachment != nil } }

  /// True if links wait to be accepted.
  var hasWaitingLinks: Bool { listener.hasWaitingLinks }

  /// True if a link is up, after all that the controller has reported: if a pairing or a channel is requested after the
  /// link's end, the kernel connects to the device by itself, without a time limit.
  func isUp(_ link: KernelLink) -> Bool {
    radio.isUp(link.handle) && link.isUsable && self.link(link.handle) === link
  }

  // MARK: - The listener

  /// Lets the kernel offer links.
  /// - Parameter address: the controller's.
  func listen(at address: DeviceAddress) throws(SystemError) { try listener.open(at: address) }

  /// Starts accepting links, waiting ones included.
  func begin() { listener.offered() }

  /// Accepts the links that the kernel offers.
  func accept() { listener.accept() }

  /// Ends all links, and accepts no more.
  func close(_ error: BluetoothError) {
    doubtAlarm?.cancel()
    doubtAlarm = nil
    listener.close()
    for handle in entries.keys.sorted() {
      entries[handle]?.attachment?.alarm.cancel()
      entries[handle]?.attachment = nil
      end(handle, error)
    }
    requester.endAll()
    entries = [:]
  }

  // MARK: - The controller's half

  /// Handles the radio's actions about links.
  func perform(_ action: RadioAction) {
    switch action {
    case .attach(let handle, let device, let attempts): attach(handle, to: device, attempts: attempts)
    case .linkUp(let handle, let role, _, let parameters): linkUp(handle, role, parameters)
    case .link(let handle, let news): receive(news, handle)
    case .linkDown(let handle, let reason): linkDown(handle, reason)
    case .encryptionChanged(let handle, let status):
      link(handle)?.life.failure = status.isSuccess ? nil : status
      guard radio.isInCall else { return updateSecurity(handle) }
      // The key, delivered after the user's call, is reported first.
      context.scheduler.execute { [weak self] in self?.updateSecurity(handle) }
    default: break
    }
  }

  /// A link was established.
  private func linkUp(_ handle: ConnectionHandle, _ role: LinkRole, _ parameters: LinkParameters?) {
    entries[handle, default: Entry()].role = role
    requester.began(handle, parameters)
    if role == .peripheral { listener.began(handle) }
  }

  /// A link that we initiated was established; it is used when the kernel offers it.
  private func attach(_ handle: ConnectionHandle, to device: DeviceAddress, attempts: Int) {
    let alarm = attachmentAlarm(handle, after: Self.offerTime)
    entries[handle]?.attachment?.alarm.cancel()
    entries[handle, default: Entry()].attachment = Attachment(device: device, attempts: attempts, alarm: alarm)
  }

  /// The link to a device is no longer wanted; the initiator disconnects it.
  func abandonAttachment(to device: DeviceAddress) {
    for (handle, entry) in entries where entry.attachment?.device == device { removeAttachment(handle) }
  }

  @discardableResult
  private func removeAttachment(_ handle: ConnectionHandle) -> Attachment? {
    guard let attachment = entries[handle]?.attachment else { return nil }
    attachment.alarm.cancel()
    entries[handle]?.attachment = nil
    return attachment
  }

  private func attachmentAlarm(_ handle: ConnectionHandle, after delay: Duration) -> any ScheduledWork {
    context.scheduler.schedule(after: delay) { [weak self] in self?.attachmentExpired(handle) }
  }

  private func attachmentExpired(_ handle: ConnectionHandle) {
    guard entries[handle]?.attachment != nil else { return }
    // A link that cannot be accepted for lack of a descriptor may be this one.
    guard listener.accept() else {
      entries[handle]?.attachment?.alarm = attachmentAlarm(handle, after: .seconds(1))
      return
    }
    guard entries[handle]?.attachment != nil else { return }
    listener.isRobbed()
    guard let attachment = removeAttachment(handle) else { return }
    radio.activities.disconnect(handle)
    let device = attachment.device
    let error = GAPError.connectionFailed.error("no connection to \(device): the kernel did not take over the link")
    radio.activities.run(.attachFailed(device, error))
  }

  /// The controller reported something about a link.
  private func receive(_ news: LinkNews, _ handle: ConnectionHandle) {
    requester.receive(news, handle)
    if case .features = news { listener.receivedFeatures(handle) }
  }

  private func linkDown(_ handle: ConnectionHandle, _ reason: HCIStatus) {
    listener.ended(handle) { [weak self] in self?.link(handle) != nil }
    requester.ended(handle)
    entries[handle]?.role = nil
    if let device = removeAttachment(handle)?.device {
      radio.activities.run(.attachFailed(device, reason.error("no connection to \(device)")))
    }
    guard let link = link(handle) else { return tidy(handle) }
    link.isDown = true
    // The socket ends a little later, behind the last packets.
    let error = link.life.error(reason)
    if link.socketHasEnded { end(handle, error) } else { armEnd(of: link, after: .seconds(1), error) }
  }

  /// The kernel dropped events of the controller: the state of its links is unknown.
  func eventsLost() {
    requester.repeatAll()
    doubtAlarm =
      doubtAlarm
      ?? context.scheduler.schedule(after: Self.lag) { [weak self] in
        guard let self else { return }
        doubtAlarm = nil
        radio.compareLinks(offered: nil)
        for link in all { updateSecurity(link.handle) }
      }
  }

  /// The encryption of a link changed; reported to its users next.
  func securityChanges(on link: KernelLink) { owner?.securityChanges(on: link) }

  /// The encryption of a link changed. The kernel updates its state a little after the event, so it is read again.
  private func updateSecurity(_ handle: ConnectionHandle) {
    guard let link = link(handle), !link.updateSecurity() else { return }
    for delay in [Duration.milliseconds(20), .milliseconds(200)] {
      context.scheduler.schedule(after: delay) { [weak link] in link?.updateSecurity() }
    }
  }

  /// The controller has transmitted this number of a link's packets.
  func completed(_ packets: Int, on handle: ConnectionHandle) { link(handle)?.completed(packets) }

  // MARK: - The socket's half

  private func announce(
    _ offered: OfferedLink, as peer: DeviceAddress, _ role: LinkRole, attempts: Int
  ) {
    // A link with an unnoticed end must not be mistaken for the new one.
    end(offered.handle, GAPError.disconnected.error("the link to \(peer) ended"))
    guard let owner else { return }
    let link = KernelLink(
      peer, role, offered.handle, attempts: attempts, over: offered.descriptor, links: self, radio: radio,
      in: context)
    entries[offered.handle, default: Entry()].link = link
    owner.linkBegan(link, identity: offered.peer)
    context.scheduler.execute { link.start() }
  }

  /// A link starts or stops waiting for its last packets.
  func leavingChanged() { radio.awaitCompletions(all.contains { $0.departure != nil }) }

  /// Everything sent on a link has left, or never will: the controller is to end it.
  func disconnect(_ link: KernelLink) {
    let error = HCIStatus(.terminatedByLocalHost).error(link.life.cause)
    guard radio.activities.isReady else { return context.scheduler.execute { link.end(error, unsent: link.unsent) } }
    radio.activities.disconnect(link.handle)
    // The machine gives the link up earlier.
    armEnd(of: link, after: .seconds(10), error)
  }

  /// The socket ended. The reason arrives over HCI, before or after.
  func socketEnded(_ link: KernelLink, _ error: SystemError?) {
    if link.isDown, let reason = entries[link.handle]?.ending?.error { return end(link.handle, reason) }
    let text = error.map { String(cString: strerror($0.code)) } ?? "closed"
    armEnd(of: link, after: .seconds(1), GAPError.disconnected.error("the link to \(link.peer) ended: \(text)"))
  }

  /// Waits for the other report of the end. Without the controller's, the link is disconnected, so that the machine
  /// learns its state.
  private func armEnd(of link: KernelLink, after delay: Duration, _ error: BluetoothError) {
    let handle = link.handle
    guard self.link(handle) === link else { return }
    entries[handle]?.ending?.alarm.cancel()
    let alarm = context.scheduler.schedule(after: delay) { [weak self, weak link] in
      guard let self, let link, self.link(handle) === link else { return }
      let isLost = !link.isDown
      end(handle, error)
      if isLost { radio.activities.disconnect(handle) }
    }
    entries[handle]?.ending = (error, alarm)
  }

  private func end(_ handle: ConnectionHandle, _ error: BluetoothError) {
    guard let link = link(handle) else { return }
    let unsent = link.unsent
    owner?.linkEnds(link, error)
    entries[handle]?.ending?.alarm.cancel()
    entries[handle]?.ending = nil
    entries[handle]?.link = nil
    tidy(handle)
    context.logger.debug(
      "a link ended",
      metadata: ["peer": "\(link.peer)", "reason": "\(error)", "by socket": "\(link.socketHasEnded)"])
    link.end(error, unsent: unsent)
    owner?.linkHasEnded()
  }

  private func tidy(_ handle: ConnectionHandle) {
    if entries[handle]?.isEmpty == true { entries[handle] = nil }
  }
}

extension KernelLinks: LinkListenerOwner {
  var mayAccept: Bool { radio.activities.isReady }
  var isInitiatedLinkAwaited: Bool { isAttaching }

  func accept(_ offered: OfferedLink) {
    let handle = offered.handle
    // The controller's events about it were lost, or concern the earlier link with its handle.
    if doubtAlarm != nil || entries[handle]?.role == nil { radio.compareLinks(offered: offered.peer) }
    guard radio.activities.isReady else { return offered.descriptor.close() }
    guard entries[handle]?.role == .central else {
      return announce(offered, as: offered.peer, .peripheral, attempts: 1)
    }
    // Without an attachment the link is no longer wanted and is being disconnected.
    guard let attachment = removeAttachment(handle) else { return offered.descriptor.close() }
    radio.activities.attached(to: attachment.device)
    announce(offered, as: attachment.device, .central, attempts: attachment.attempts)
  }

  func offersAreTaken() { owner?.linksAreAccepted() }

  func offersAreMissing(_ handles: [ConnectionHandle]) {
    for handle in handles where radio.activities.isReady { radio.activities.disconnect(handle) }
  }

  func listeningFailed(_ error: SystemError) { owner?.listeningFailed(error) }
}
