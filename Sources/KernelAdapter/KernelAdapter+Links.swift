import Adapter
import Bluetooth
import Glibc
import HCI
import Logging

/// A link that we initiated and that waits for its ATT socket.
///
/// The kernel offers every new LE link to the listener on channel 4, including those initiated here; a socket that
/// connects as well would race with that. So links of both directions come from the listener, once the other device has
/// responded for the first time (until then the link may still fail with 0x3E).
struct Attachment {
  let handle: UInt16
  let attempts: Int
  /// Rings when the kernel has not offered the link in time.
  let alarm: any ScheduledWork
}

extension KernelAdapter {
  /// A device answers the kernel's own request for other parameters within a few connection intervals.
  private static let probation = Duration.milliseconds(100)

  func prepareAttachment(to device: DeviceAddress, handle: UInt16, attempts: Int) {
    let alarm = scheduler.schedule(after: .seconds(10)) { [weak self] in self?.attachmentExpired(device) }
    attaching[device] = Attachment(handle: handle, attempts: attempts, alarm: alarm)
  }

  private func attachmentExpired(_ device: DeviceAddress) {
    guard attaching[device] != nil else { return }
    acceptLinks()
    guard attaching[device] != nil else { return }
    tellTheft()
    listenAgain()
    guard let attachment = attaching.removeValue(forKey: device) else { return }
    run(radio: .command(Self.disconnect(attachment.handle)))
    let error = GAPError.connectionFailed.error("No connection to \(device): the kernel did not take over the link.")
    run(radio: .attachFailed(device, error))
  }

  /// The link is no longer wanted; the initiator disconnects it.
  func abandonAttachment(to device: DeviceAddress) { attaching.removeValue(forKey: device)?.alarm.cancel() }

  // MARK: - The listener on channel 4

  /// Listens. Any number of programs may; the kernel offers each link to the one that began last.
  func listen() throws(SystemError) {
    listener?.close()
    listener = nil
    let new = try kernel.listen(at: address, mtu: KernelLink.longestMTU)
    // Links may have to wait, so each is reported once.
    try new.whenReady(on: loop, interest: .news, priority: .high) { [weak self] _ in self?.linksOffered() }
    listener = new
  }

  /// Changes the links that the kernel is to offer.
  @discardableResult
  func expect<Result>(_ change: (inout ExpectedOffers) -> Result) -> Result {
    defer {
      offerAlarm?.cancel()
      offerAlarm = expectedOffers.deadline.map { deadline in
        scheduler.schedule(at: deadline) { [weak self] in self?.offersAreDue() }
      }
    }
    return change(&expectedOffers)
  }

  private func offersAreDue() {
    // One that waits to be accepted was offered.
    acceptLinks()
    let taken = expect { $0.overdue(at: scheduler.now) }
    guard !taken.isEmpty else { return }
    tellTheft()
    listenAgain()
    for handle in taken where radio != nil { run(radio: .command(Self.disconnect(handle))) }
  }

  /// A link ended that the kernel should have offered by then: another program may have it, and would get the next one.
  private func mayBeTaken(_ handle: UInt16) {
    loop.execute {
      guard self.listener != nil, self.radio != nil else { return }
      self.acceptLinks()
      if self.links[handle] == nil { self.listenAgain() }
    }
  }

  private func tellTheft() {
    if let rival = kernel.rival {
      logger.warning("a link went to bluetoothd; bled listens again", metadata: ["process": "\(rival)"])
    } else {
      let users = kernel.usersOfChannels.map { "\($0)" }.joined(separator: " ")
      logger.error(
        "a link was taken by another program that listens for ATT; it is ended, and bled listens again (docs/security.md)",
        metadata: ["users with L2CAP sockets": "\(users.isEmpty ? "unknown" : users)"])
    }
  }

  /// Begins to listen anew, so that the kernel offers links here and not to another program.
  private func listenAgain() {
    acceptLinks()
    do { try listen() } catch {
      closeRadio(GAPError.adapterFailed.error("The adapter cannot be used."))
      run(lifecycle: .radioFailed(Self.problem(error, "ATT on \(information.id)")))
    }
  }

  /// The kernel offers links. Where a link that ends without any packet is a danger, those that devices initiated are
  /// accepted when they have had time to send one: the kernel cleans up those that end earlier.
  func linksOffered() {
    // Links that come while the controller is set up are accepted afterwards.
    guard radio != nil else { return }
    guard KernelFault.endsWithSilentLinks, attaching.isEmpty else { return acceptLinks() }
    guard acceptAlarm == nil else { return }
    acceptAlarm = scheduler.schedule(after: Self.probation) { [weak self] in self?.acceptLinks() }
  }

  /// Accepts the links that the kernel offers.
  func acceptLinks() {
    acceptAlarm?.cancel()
    acceptAlarm = nil
    defer { takeHeldPairing() }
    // The controller's events about them come first.
    hci?.control.drain()
    do throws(SystemError) {
      while let listener, let offered = try kernel.accept(from: listener) {
        // The controller's events about it were lost, or are about the link that had its handle before.
        if doubtAlarm != nil || roles[offered.handle] == nil { compareLinks(offered: offered.peer) }
        guard radio != nil else { return }
        take(offered.descriptor, offered.peer, offered.handle)
      }
    } catch {
      logger.warning("a connection could not be accepted", metadata: ["errno": "\(error.code)"])
      // Without a free descriptor (EMFILE) or memory it keeps waiting, and nothing signals when there is room.
      acceptAlarm = scheduler.schedule(after: .milliseconds(500)) { [weak self] in self?.acceptLinks() }
    }
  }

  private func take(_ descriptor: Descriptor, _ peer: DeviceAddress, _ handle: UInt16) {
    guard roles[handle] == .central else {
      return announce(descriptor, peer, kernelPeer: peer, .peripheral, handle: handle, attempts: 1)
    }
    guard let (device, attachment) = attaching.first(where: { $0.value.handle == handle }) else {
      // The link is not wanted any more and is being disconnected.
      return descriptor.close()
    }
    abandonAttachment(to: device)
    targets.connects[device] = nil
    run(radio: .attached(device))
    announce(descriptor, device, kernelPeer: peer, .central, handle: handle, attempts: attachment.attempts)
  }

  private func announce(
    _ descriptor: Descriptor, _ peer: DeviceAddress, kernelPeer: DeviceAddress, _ role: LinkRole, handle: UInt16,
    attempts: Int
  ) {
    expect { $0.offered(handle) }
    // A link whose end went unnoticed must not be mistaken for the new one.
    endLink(handle, GAPError.disconnected.error("The link to \(peer) ended."))
    let link = KernelLink(
      id: .next(), peer: peer, role: role, handle: handle, attempts: attempts,
      record: records[handle] ?? LinkRecord(), descriptor: descriptor, adapter: self)
    links[handle] = link
    keys.linkBegan(handle, peer, identity: kernelPeer)
    emit(.connected(link))
    loop.execute { link.start() }
  }

  // MARK: - What links have transmitted

  /// A packet is about to be sent on a link.
  func packetSent() { hci?.completions.packetSent(at: scheduler.now) }

  /// Tells the links what the controller has transmitted.
  func readCompletions() { hci?.completions.read() }

  /// A link begins or ends to wait for its last packets.
  func leavingChanged() { hci?.completions.isAwaited = links.values.contains { $0.isLeaving } }

  // MARK: - The end of links

  func disconnect(_ link: KernelLink) {
    guard radio != nil else {
      return loop.execute { link.end(HCIStatus(.terminatedByLocalHost).error()) }
    }
    run(radio: .command(Self.disconnect(link.handle)))
    // The machine gives the link up before.
    armEnd(of: link, after: .seconds(10), HCIStatus(.terminatedByLocalHost).error())
  }

  func linkDown(_ handle: UInt16, _ reason: HCIStatus) {
    if expect({ $0.ended(handle) }) { mayBeTaken(handle) }
    linkForgotten(handle)
    roles[handle] = nil
    if let (device, _) = attaching.first(where: { $0.value.handle == handle }) {
      abandonAttachment(to: device)
      run(radio: .attachFailed(device, reason.error("No connection to \(device)")))
    }
    guard let link = links[handle] else { return }
    link.isDown = true
    // The other end of the socket comes a little later, behind the last packets.
    // A controller that does not know the link ended it before we asked for that.
    let isOurs =
      link.isDisconnecting
      && (reason.code == .remoteUserTerminatedConnection || reason.code == .unknownConnectionIdentifier)
    // The kernel ends a link that could not be encrypted, for whatever reason, with Authentication Failure.
    let lacksKeys = link.peerLacksKeys && reason.code == .authenticationFailure
    let told = isOurs ? HCIStatus(.terminatedByLocalHost) : lacksKeys ? HCIStatus(.pinOrKeyMissing) : reason
    let error = told.error()
    if link.socketHasEnded { endLink(handle, error) } else { armEnd(of: link, after: .seconds(1), error) }
  }

  /// The socket ended. The reason comes over HCI, before or after.
  func socketEnded(_ link: KernelLink, _ error: SystemError?) {
    if link.isDown, let reason = ending[link.handle]?.error {
      return endLink(link.handle, reason)
    }
    let text = error.map { String(cString: strerror($0.code)) } ?? "closed"
    armEnd(of: link, after: .seconds(1), GAPError.disconnected.error("The link to \(link.peer) ended: \(text)."))
  }

  /// Waits for the other report of the end. If that of the controller does not come the link is disconnected, for the
  /// machine to learn what has become of it.
  private func armEnd(of link: KernelLink, after delay: Duration, _ error: BluetoothError) {
    ending[link.handle]?.alarm.cancel()
    let alarm = scheduler.schedule(after: delay) { [weak self, weak link] in
      guard let self, let link, links[link.handle] === link else { return }
      let isLost = !link.isDown
      endLink(link.handle, error)
      if isLost { run(radio: .command(Self.disconnect(link.handle))) }
    }
    ending[link.handle] = (error, alarm)
  }

  func endLink(_ handle: UInt16, _ error: BluetoothError) {
    ending.removeValue(forKey: handle)?.alarm.cancel()
    if let link = links[handle] { cancelPairing(on: link) }
    endRaise(handle, error.ofRaise(with: links[handle]))
    guard let link = links.removeValue(forKey: handle) else { return }
    keys.linkEnded(handle)
    pairingQuestions[link.peer] = nil
    logger.debug(
      "a link ended",
      metadata: ["peer": "\(link.peer)", "reason": "\(error)", "by socket": "\(link.socketHasEnded)"])
    link.end(error)
    loadNewBonds()
    if !stopping.isEmpty, links.isEmpty { run(radio: .quiet) }
  }

  private static func disconnect(_ handle: UInt16) -> CommandPacket {
    CommandPacket(Disconnect(handle: handle, reason: HCIStatus(.remoteUserTerminatedConnection)))
  }

  // MARK: - Questions about links

  func readRSSI(of link: KernelLink, _ done: @escaping (Result<Int, BluetoothError>) -> Void) {
    guard radio != nil, links[link.handle] === link else {
      return loop.execute { done(.failure(GAPError.notConnected.error("\(link.peer) is not connected."))) }
    }
    ask(ReadRSSI(handle: link.handle)) { answer in
      let result: Result<Int, BluetoothError>
      if answer.status.isSuccess, let value = try? answer.complete?.decoded(as: ReadRSSI.self), value.rssi != 127 {
        result = .success(Int(value.rssi))
      } else if answer.status.isSuccess {
        result = .failure(GAPError.notSupported.error("The controller does not know the signal strength."))
      } else {
        result = .failure(answer.status.error("The signal strength could not be read"))
      }
      self.loop.execute { done(result) }
    }
  }

  /// The kernel updates its state a little after the event, so it is asked again.
  func updateSecurity(_ handle: UInt16) {
    guard let link = links[handle], !link.updateSecurity() else { return }
    for delay in [Duration.milliseconds(20), .milliseconds(200)] {
      scheduler.schedule(after: delay) { [weak link] in link?.updateSecurity() }
    }
  }
}
