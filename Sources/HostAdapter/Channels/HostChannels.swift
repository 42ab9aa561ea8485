import Adapter
import AdapterParts
import Bluetooth
import HCI
import Host

/// The channels on the links of one controller, and the numbers under which devices open them.
final class HostChannels {
  private struct Opening {
    let psm: UInt16
    let receiving: ChannelFlow.Sizes
    let done: (Result<any Channel, BluetoothError>) -> Void
  }

  /// The longest piece that we take: with its header it fits into one packet of the link layer.
  private static let piece = 247
  /// So many pieces of a link wait for the controller, so that links and ATT have their turns.
  private static let waiting = 4
  /// Results of a request for a channel (Core 5.4, Vol 3, Part A, 4.23).
  private enum ResultCode {
    static let noListener: UInt16 = 0x0002
    static let insufficientAuthentication: UInt16 = 0x0005
    static let insufficientEncryption: UInt16 = 0x0008
  }

  private unowned let links: HostLinks
  private let context: AdapterContext
  private var listeners: [UInt16: ChannelParameters] = [:]
  private var openings: [ConnectionHandle: [UInt16: Opening]] = [:]
  private var channels: [ConnectionHandle: [UInt16: HostChannel]] = [:]

  init(_ links: HostLinks, in context: AdapterContext) {
    self.links = links
    self.context = context
  }

  private static let noEnhanced = GAPError.notSupported.error(
    "this adapter has no enhanced channels: leave out \"mode\"")

  // MARK: - Listeners

  func publish(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    guard parameters.mode != .enhanced else { throw Self.noEnhanced }
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

  /// The answer to a device that asks for a channel.
  func offer(_ psm: UInt16, on handle: ConnectionHandle) -> ChannelOffer {
    guard let parameters = listeners[psm] else { return .refused(ResultCode.noListener) }
    let level = links.pairing.security(of: handle).level
    guard level >= parameters.level else {
      let isEncryptionEnough = level == 1 && links.pairing.bondReaches(parameters.level, on: handle)
      return .refused(isEncryptionEnough ? ResultCode.insufficientEncryption : ResultCode.insufficientAuthentication)
    }
    return .granted(Self.end(Self.receiving(parameters)))
  }

  private static func receiving(_ parameters: ChannelParameters) -> ChannelFlow.Sizes {
    let range = ChannelParameters.lengths
    let packet = min(max(parameters.receiveMTU, range.lowerBound), range.upperBound)
    return ChannelFlow.Sizes(packet: packet, piece: min(packet + 2, piece))
  }

  private static func end(_ sizes: ChannelFlow.Sizes) -> ChannelEnd {
    ChannelEnd(
      number: 0, packet: UInt16(clamping: sizes.packet), piece: UInt16(clamping: sizes.piece), credits: sizes.credits)
  }

  // MARK: - Opening

  /// Opens a channel to a listener of a device.
  func open(
    to psm: UInt16, _ parameters: ChannelParameters, on link: HostLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    guard parameters.mode != .enhanced else { return context.fail(done, Self.noEnhanced) }
    let receiving = Self.receiving(parameters)
    var number: UInt16?
    links.run(link.handle) { (machine, now) in
      guard let (free, actions) = machine.open(psm, Self.end(receiving), at: now) else { return [] }
      number = free
      return actions
    }
    guard let number, !link.isOver else {
      let error = link.isOver ? GAPError.notConnected : GAPError.connectionFailed
      return context.fail(done, error.error("\(link.peer) can have no other channel"))
    }
    openings[link.handle, default: [:]][number] = Opening(psm: psm, receiving: receiving, done: done)
  }

  /// Takes the actions of the signalling of a link that are about channels.
  func perform(_ action: SignallingMachine.Action, _ handle: ConnectionHandle) {
    switch action {
    case .opened(let number, let end):
      guard let opening = openings[handle]?.removeValue(forKey: number) else { return }
      let channel = add(number, opening.psm, handle, opening.receiving, end)
      context.loop.execute { opening.done(.success(channel)) }
    case .refused(let number, let refusal):
      guard let opening = openings[handle]?.removeValue(forKey: number) else { return }
      context.fail(opening.done, ChannelRefusal(refusal).error(opening.psm, .leCreditBased))
    case .accepted(let number, let psm, let end):
      guard let parameters = listeners[psm] else { return }
      let channel = add(number, psm, handle, Self.receiving(parameters), end)
      context.loop.execute { [weak links] in
        guard let link = links?.link(handle) else { return channel.close() }
        link.opened(channel)
      }
    case .credited(let number, let count): channels[handle]?[number]?.credited(count)
    case .closed(let number):
      if let channel = channels[handle]?[number] { links.drop(channel.remote, on: handle) }
      channels[handle]?[number]?.end(GAPError.disconnected.error("the device closed the channel"))
    case .send, .update, .settled: break
    }
  }

  private func add(
    _ number: UInt16, _ psm: UInt16, _ handle: ConnectionHandle, _ receiving: ChannelFlow.Sizes, _ end: ChannelEnd
  ) -> HostChannel {
    let channel = HostChannel(number, to: psm, on: handle, receiving: receiving, end, owner: self, in: context)
    channels[handle, default: [:]][number] = channel
    return channel
  }

  // MARK: - Links

  /// A frame came.
  /// - Returns: false if there is no such channel.
  func receive(_ piece: [UInt8], on number: UInt16, of handle: ConnectionHandle) -> Bool {
    guard let channel = channels[handle]?[number] else { return false }
    channel.receive(piece)
    return true
  }

  /// The controller has transmitted packets of a link: its channels take turns.
  func transmitted(_ handle: ConnectionHandle) {
    guard let all = channels[handle], !all.isEmpty else { return }
    let first = all.keys.sorted()
    let start = (lastServed[handle] ?? 0) % first.count
    lastServed[handle] = start + 1
    for number in first[start...] + first[..<start] { channels[handle]?[number]?.proceed() }
  }

  /// Counts up, so that each channel of a link is first in its turn.
  private var lastServed: [ConnectionHandle: Int] = [:]

  /// A link has ended.
  func linkEnded(_ handle: ConnectionHandle, _ error: BluetoothError) {
    lastServed[handle] = nil
    let reason = GAPError.disconnected.error("the link ended: \(error)")
    for opening in (openings.removeValue(forKey: handle) ?? [:]).values { context.fail(opening.done, reason) }
    for channel in (channels.removeValue(forKey: handle) ?? [:]).values { channel.end(reason) }
  }
}

extension HostChannels: HostChannelOwner {
  func hasRoom(for channel: HostChannel) -> Bool { links.waitingPieces(on: channel.handle) < Self.waiting }
  func isEmpty(for channel: HostChannel) -> Bool { links.waitingPieces(on: channel.handle) == 0 }

  func send(_ piece: [UInt8], of channel: HostChannel) {
    links.send(L2CAPFrame(channel: channel.remote, payload: piece), on: channel.handle)
  }

  func give(_ credits: UInt16, on channel: HostChannel) {
    links.run(channel.handle) { (machine, _) in machine.give(credits, on: channel.number) }
  }

  func disconnect(_ channel: HostChannel) {
    guard isCurrent(channel) else { return }
    links.drop(channel.remote, on: channel.handle)
    links.run(channel.handle) { (machine, now) in machine.close(channel.number, at: now) }
  }

  func remove(_ channel: HostChannel) {
    if isCurrent(channel) { channels[channel.handle]?[channel.number] = nil }
  }

  /// Whether the link of a channel has not ended.
  private func isCurrent(_ channel: HostChannel) -> Bool { channels[channel.handle]?[channel.number] === channel }
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
