import Adapter
import Bluetooth
import HCI
import Host

/// The way from a channel to its link.
protocol HostChannelOwner: AnyObject {
  /// Octets in a packet of the controller.
  var dataLength: Int { get }
  /// True if more pieces may wait for the controller's buffers.
  func hasRoom(for channel: HostChannel) -> Bool
  /// True if none of the link's pieces waits for them.
  func isEmpty(for channel: HostChannel) -> Bool
  func send(_ piece: [UInt8], of channel: HostChannel)
  /// Lets the device send this number of further pieces.
  func give(_ credits: UInt16, on channel: HostChannel)
  /// Closes the channel at the device.
  func disconnect(_ channel: HostChannel)
  /// Nothing follows on the channel.
  func remove(_ channel: HostChannel)
}

/// A channel in a credit-based flow control mode: its pieces wait here for credits and for the link.
///
/// | State   | Input                                    | Then                                             |
/// |---------|------------------------------------------|--------------------------------------------------|
/// | open    | `send`, credits, room on the link        | pieces leave; `.writable` after all have         |
/// | open    | a piece of the device                    | whole packets are delivered while `isReading`    |
/// | open    | a piece or credits against the rules     | closed at the device; ending                     |
/// | open    | the device closed it, the link ended     | ending                                           |
/// | open    | `close`                                  | leaving                                          |
/// | ending  | earlier packets are read                 | `.ended`, over                                   |
/// | leaving | the last piece has left, or 10 s         | closed at the device; over                       |
final class HostChannel: Channel {
  let handle: ConnectionHandle
  /// Its local number (CID).
  let number: UInt16
  /// Its number on the device's side.
  let remote: UInt16
  let psm: UInt16
  let mode: ChannelMode
  var onEvent: ((ChannelEvent) -> Void)?

  /// Time for sent packets to leave a closed channel.
  private static let departure = Duration.seconds(10)

  private unowned let owner: any HostChannelOwner
  private let context: AdapterContext
  private var flow: ChannelFlow
  /// The device's initial credits.
  private let credits: UInt16
  /// True if packets wait, and the user was or can be notified of that.
  private var isBlocked = false
  /// The reason for its end; earlier packets are read first.
  private var ending: BluetoothError?
  /// Rings when it has been leaving for too long.
  private var leaving: (any ScheduledWork)?
  private var isOver = false

  init(
    _ number: UInt16, to psm: UInt16, _ mode: ChannelMode, on handle: ConnectionHandle,
    receiving: ChannelFlow.Sizes, _ end: ChannelEnd, owner: any HostChannelOwner, in context: AdapterContext
  ) {
    self.number = number
    self.psm = psm
    self.mode = mode
    self.handle = handle
    self.owner = owner
    self.context = context
    remote = end.number
    credits = end.credits
    let sending = ChannelFlow.Sizes(packet: Int(end.packet), piece: Int(end.piece))
    flow = ChannelFlow(
      receiving: receiving, sending: sending.filling(owner.dataLength, credits: credits), credits: credits)
  }

  var receiveMTU: Int { flow.receiving.packet }
  var sendMTU: Int { flow.sending.packet }
  var pieces: ChannelPieces? { ChannelPieces(receive: flow.receiving.piece, send: flow.sending.piece) }
  var isWritable: Bool { !isBlocked && !isOver }

  var isReading = false {
    didSet { if isReading, !oldValue { context.scheduler.execute { [weak self] in self?.deliver() } } }
  }

  func send(_ packet: [UInt8]) {
    guard !isOver, leaving == nil, ending == nil, !packet.isEmpty else { return }
    guard packet.count <= sendMTU else {
      return fail(
        BledError.invalidParameter.error("a packet of \(packet.count) octets is longer than the device takes"))
    }
    flow.send(packet)
    transmit()
    isBlocked = !flow.isWritable
  }

  func close() {
    onEvent = nil
    guard !isOver, leaving == nil else { return }
    guard ending == nil else { return finish() }
    leaving = context.scheduler.schedule(after: Self.departure) { [weak self] in self?.leave() }
    if flow.isWritable, owner.isEmpty(for: self) { leave() }
  }

  private func leave() {
    guard !isOver else { return }
    owner.disconnect(self)
    finish()
  }

  // MARK: - The link

  /// Pieces may leave: the link has room, or there are credits.
  func proceed() {
    guard !isOver else { return }
    transmit()
    guard flow.isWritable else { return }
    if leaving != nil {
      if owner.isEmpty(for: self) { leave() }
    } else if isBlocked, ending == nil {
      isBlocked = false
      onEvent?(.writable)
    }
  }

  private func transmit() {
    guard ending == nil else { return }
    let owner = owner
    while owner.hasRoom(for: self), let piece = flow.nextPiece() { owner.send(piece, of: self) }
  }

  func credited(_ count: UInt16) {
    do throws(ChannelFlow.Fault) { try flow.credited(count) } catch { return fail(Self.fault(error)) }
    proceed()
  }

  /// The device changed its sizes.
  func resize(packet: UInt16, piece: UInt16) {
    let sizes = ChannelFlow.Sizes(packet: Int(packet), piece: Int(piece))
    flow.resize(sizes.filling(owner.dataLength, credits: credits))
  }

  func receive(_ piece: [UInt8]) {
    guard !isOver, ending == nil else { return }
    do throws(ChannelFlow.Fault) { try flow.receive(piece) } catch { return fail(Self.fault(error)) }
    deliver()
  }

  /// The device closed it, or the link has ended.
  func end(_ reason: BluetoothError) {
    guard !isOver, ending == nil else { return }
    guard leaving == nil else { return finish() }
    ending = reason
    context.scheduler.execute { [weak self] in self?.deliver() }
  }

  /// Ends it for a local reason.
  private func fail(_ reason: BluetoothError) {
    owner.disconnect(self)
    end(reason)
  }

  private func deliver() {
    guard leaving == nil else { return giveCredits() }
    while isReading, !isOver, let packet = flow.nextPacket() { onEvent?(.received(packet)) }
    if let ending, !isOver, isReading || !flow.hasPackets {
      let tell = onEvent
      onEvent = nil
      finish()
      tell?(.ended(ending))
    } else {
      giveCredits()
    }
  }

  private func giveCredits() {
    // Packets for a closed channel are dropped.
    if leaving != nil { while flow.nextPacket() != nil {} }
    guard !isOver, ending == nil else { return }
    let credits = flow.creditsToGive()
    if credits > 0 { owner.give(credits, on: self) }
  }

  private func finish() {
    isOver = true
    leaving?.cancel()
    onEvent = nil
    owner.remove(self)
  }

  private static func fault(_ fault: ChannelFlow.Fault) -> BluetoothError {
    GAPError.disconnected.error("the device broke the rules of the channel: \(fault)")
  }
}
