import Adapter
import Bluetooth
import HCI
import Host

/// The channels on the links of one controller, and the numbers under which devices open them.
final class HostChannels: ChannelService {
  private struct Opening {
    let psm: UInt16
    let mode: ChannelMode
    let receiving: ChannelFlow.Sizes
    let done: (Result<any Channel, BluetoothError>) -> Void
  }

  /// The longest piece that we receive: with its header it fits into one packet of the link layer.
  private static let piece = 247
  /// Maximum pieces of a link that wait for the controller, so that links and ATT have their turns.
  private static let waiting = 4

  private unowned let links: HostLinks
  private let context: AdapterContext
  private var listeners: [UInt16: ChannelParameters] = [:]
  private var openings: [ConnectionHandle: [UInt16: Opening]] = [:]
  private var channels = NumberTable<NumberTable<HostChannel>>()

  init(_ links: HostLinks, in context: AdapterContext) {
    self.links = links
    self.context = context
    links.channels = self
  }

  // MARK: - Listeners

  func publish(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    let candidates = psm.map { [$0] } ?? Array(ChannelParameters.dynamic)
    guard let free = candidates.first(where: { listeners[$0] == nil }) else {
      if let psm {
        throw BledError.alreadyInProgress.error("PSM \(psm) is taken on \(context.name): leave it out for a free one")
      }
      throw BledError.limitReached.error("all numbers for channels are taken on \(context.name)")
    }
    listeners[free] = parameters
    return free
  }

  func unpublish(_ psm: UInt16) { listeners[psm] = nil }

  func offer(_ psm: UInt16, _ mode: ChannelMode, on handle: ConnectionHandle) -> ChannelOffer {
    guard let parameters = listeners[psm], parameters.mode ?? mode == mode else {
      return .refused(ChannelResult.noListener)
    }
    let security = links.pairing.security(of: handle)
    guard security.level >= parameters.level else {
      if parameters.level >= 4, security.level > 1, security.keySize < LinkSecurity.longestKey {
        return .refused(ChannelResult.insufficientKeySize)
      }
      let isEncryptionEnough = security.level == 1 && links.pairing.bondReaches(parameters.level, on: handle)
      return .refused(
        isEncryptionEnough ? ChannelResult.insufficientEncryption : ChannelResult.insufficientAuthentication)
    }
    return .granted(Self.end(Self.receiving(parameters, mode)))
  }

  private static func receiving(_ parameters: ChannelParameters, _ mode: ChannelMode) -> ChannelFlow.Sizes {
    let range = mode.lengths
    let packet = min(max(parameters.receiveMTU, range.lowerBound), range.upperBound)
    return ChannelFlow.Sizes(packet: packet, piece: min(packet + 2, piece))
  }

  private static func end(_ sizes: ChannelFlow.Sizes) -> ChannelEnd {
    ChannelEnd(
      number: 0, packet: UInt16(clamping: sizes.packet), piece: UInt16(clamping: sizes.piece), credits: sizes.credits)
  }

  // MARK: - Opening

  func open(
    to psm: UInt16, _ parameters: ChannelParameters, on link: HostLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    let mode = parameters.mode ?? .leCreditBased
    open(Opening(psm: psm, mode: mode, receiving: Self.receiving(parameters, mode), done: done), on: link)
  }

  private func open(_ opening: Opening, on link: HostLink) {
    // Another link may have its handle.
    guard link.isUsable else {
      return context.fail(opening.done, GAPError.notConnected.error("\(link.peer) is not connected"))
    }
    var number: UInt16?
    links.signalling.run(link.handle) { (machine, now) in
      let end = Self.end(opening.receiving)
      switch opening.mode {
      case .leCreditBased:
        guard let (free, actions) = machine.open(opening.psm, end, at: now) else { return [] }
        number = free
        return actions
      case .enhanced:
        guard let (free, actions) = machine.open(opening.psm, enhanced: 1, end, at: now) else { return [] }
        number = free.first
        return actions
      }
    }
    guard let number else {
      return context.fail(opening.done, GAPError.connectionFailed.error("\(link.peer) can have no other channel"))
    }
    openings[link.handle, default: [:]][number] = opening
  }

  /// Opens a channel again on a link with more protection, if a bond gives it, or a pairing under way may. Another
  /// pairing would be one that no program requested.
  private func reopen(_ opening: Opening, on handle: ConnectionHandle) -> Bool {
    let level = links.pairing.security(of: handle).level + 1
    guard let link = links.link(handle),
      links.pairing.bondReaches(level, on: handle) || links.pairing.isRaising(handle)
    else { return false }
    links.pairing.raise(link, to: level, as: .none, usesOwnData: false) { [weak self] error in
      if let error { return opening.done(.failure(error)) }
      self?.open(opening, on: link)
    }
    return true
  }

  func perform(_ action: SignallingMachine.Action, _ handle: ConnectionHandle) {
    switch action {
    case .opened(let number, let end):
      guard let opening = openings[handle]?.removeValue(forKey: number) else { return }
      let channel = add(number, opening.psm, opening.mode, handle, opening.receiving, end)
      context.scheduler.execute { opening.done(.success(channel)) }
    case .refused(let number, let refusal):
      guard let opening = openings[handle]?.removeValue(forKey: number) else { return }
      guard !refusal.wantsSecurity || !reopen(opening, on: handle) else { return }
      context.fail(opening.done, ChannelRefusal(refusal).error(opening.psm, opening.mode))
    case .accepted(let number, let psm, let mode, let end):
      guard let parameters = listeners[psm] else { return }
      let channel = add(number, psm, mode, handle, Self.receiving(parameters, mode), end)
      context.scheduler.execute { [weak links] in
        guard let link = links?.link(handle) else { return channel.close() }
        link.opened(channel)
      }
    case .resized(let number, let packet, let piece): channels[handle]?[number]?.resize(packet: packet, piece: piece)
    case .credited(let number, let count): channels[handle]?[number]?.credited(count)
    case .closed(let number):
      if let channel = channels[handle]?[number] { links.sender.drop(channel.remote, on: handle) }
      channels[handle]?[number]?.end(GAPError.disconnected.error("the device closed the channel"))
    case .send, .update, .settled: break
    }
  }

  private func add(
    _ number: UInt16, _ psm: UInt16, _ mode: ChannelMode, _ handle: ConnectionHandle,
    _ receiving: ChannelFlow.Sizes, _ end: ChannelEnd
  ) -> HostChannel {
    let channel = HostChannel(number, to: psm, mode, on: handle, receiving: receiving, end, owner: self, in: context)
    var all = channels[handle] ?? NumberTable()
    all[number] = channel
    channels[handle] = all
    return channel
  }

  // MARK: - Links

  func receive(_ piece: [UInt8], on number: UInt16, of handle: ConnectionHandle) -> Bool {
    guard let channel = channels[handle]?[number] else { return false }
    channel.receive(piece)
    return true
  }

  /// The controller has transmitted packets of a link: its channels take turns.
  func transmitted(_ handle: ConnectionHandle) {
    guard let all = channels[handle], !all.isEmpty else { return }
    if all.count == 1 { return all.first?.proceed() ?? () }
    let numbers = all.numbers
    let start = (lastServed[handle] ?? 0) % numbers.count
    lastServed[handle] = start + 1
    for number in numbers[start...] + numbers[..<start] { channels[handle]?[number]?.proceed() }
  }

  /// Increments, so that each channel of a link is first in its turn.
  private var lastServed: [ConnectionHandle: Int] = [:]

  func linkEnded(_ handle: ConnectionHandle, _ error: BluetoothError) {
    lastServed[handle] = nil
    let reason = GAPError.disconnected.error("the link ended: \(error)")
    for opening in (openings.removeValue(forKey: handle) ?? [:]).values { context.fail(opening.done, reason) }
    for channel in channels.remove(handle)?.values ?? [] { channel.end(reason) }
  }
}

extension HostChannels: HostChannelOwner {
  var dataLength: Int { links.sender.dataLength }
  func hasRoom(for channel: HostChannel) -> Bool { links.sender.waitingPieces(on: channel.handle) < Self.waiting }
  func isEmpty(for channel: HostChannel) -> Bool { links.sender.waitingPieces(on: channel.handle) == 0 }

  func send(_ piece: [UInt8], of channel: HostChannel) {
    _ = links.sender.send(L2CAPFrame(channel: channel.remote, payload: piece), on: channel.handle, .channel)
  }

  func give(_ credits: UInt16, on channel: HostChannel) {
    links.signalling.run(channel.handle) { (machine, _) in machine.give(credits, on: channel.number) }
  }

  func disconnect(_ channel: HostChannel) {
    guard isCurrent(channel) else { return }
    links.sender.drop(channel.remote, on: channel.handle)
    links.signalling.run(channel.handle) { (machine, now) in machine.close(channel.number, at: now) }
  }

  func remove(_ channel: HostChannel) {
    if isCurrent(channel) { channels[channel.handle]?[channel.number] = nil }
  }

  /// True if the channel's link has not ended.
  private func isCurrent(_ channel: HostChannel) -> Bool { channels[channel.handle]?[channel.number] === channel }
}

extension SignallingMachine.Refusal {
  /// True if the device requires encryption or authentication.
  fileprivate var wantsSecurity: Bool {
    [.result(ChannelResult.insufficientAuthentication), .result(ChannelResult.insufficientEncryption)].contains(self)
  }
}

extension ChannelRefusal {
  init(_ refusal: SignallingMachine.Refusal) {
    switch refusal {
    case .result(let result): self = .result(result)
    case .notUnderstood: self = .rejected
    case .noAnswer: self = .noAnswer
    }
  }
}
