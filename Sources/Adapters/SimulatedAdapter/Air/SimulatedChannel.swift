import Adapter
import Bluetooth
import DequeModule
import Scenarios

/// One side of a channel on a simulated link. Packets pass at connection events, and only to a side that reads.
final class SimulatedChannel: Channel {
  let psm: UInt16
  let mode: ChannelMode
  let receiveMTU: Int
  private(set) var sendMTU = ChannelParameters.lengths.lowerBound
  private(set) var pieces: ChannelPieces?
  var onEvent: ((ChannelEvent) -> Void)?

  var isReading = false {
    didSet { if isReading, !oldValue { other?.wake() } }
  }

  /// The number of packets that a side may queue until it is out of credits.
  private static let room = 8
  // The pair holds both sides.
  private weak var pair: LinkPair?
  private weak var other: SimulatedChannel?
  private var queue: Deque<[UInt8]> = []
  private var isFull = false
  private var isClosing = false
  private var alarm: (any ScheduledWork)?

  /// Both sides of a channel: the opening side's, and the listener's.
  static func ends(
    _ psm: UInt16, on pair: LinkPair, opener: (side: SimulatedLink, parameters: ChannelParameters),
    listener: (side: SimulatedLink, parameters: ChannelParameters)
  ) -> (opener: SimulatedChannel, listener: SimulatedChannel) {
    let mode = opener.parameters.mode ?? .leCreditBased
    let ends = (
      SimulatedChannel(psm, mode, pair, opener.parameters), SimulatedChannel(psm, mode, pair, listener.parameters)
    )
    ends.0.other = ends.1
    ends.1.other = ends.0
    ends.0.sendMTU = ends.1.receiveMTU
    ends.1.sendMTU = ends.0.receiveMTU
    let pieces = (ends.0.longestPiece(over: opener.side.radio), ends.1.longestPiece(over: listener.side.radio))
    ends.0.pieces = ChannelPieces(receive: pieces.0, send: pieces.1)
    ends.1.pieces = ChannelPieces(receive: pieces.1, send: pieces.0)
    return ends
  }

  private init(_ psm: UInt16, _ mode: ChannelMode, _ pair: LinkPair, _ parameters: ChannelParameters) {
    self.psm = psm
    self.mode = mode
    self.pair = pair
    receiveMTU = parameters.receiveMTU
  }

  /// The longest piece in one packet of the link layer, without its header of 4 octets, if the mode allows so little.
  private func longestPiece(over radio: RadioDescription) -> Int {
    min(receiveMTU, max(radio.longestPacket - 4, mode.lengths.lowerBound))
  }

  var isWritable: Bool { queue.count < Self.room }

  func send(_ packet: [UInt8]) {
    guard other != nil, !isClosing, isWritable else { return }
    queue.append(packet)
    isFull = isFull || !isWritable
    wake()
  }

  func close() {
    onEvent = nil
    isReading = false
    isClosing = true
    wake()
  }

  /// Passes on waiting packets at the next connection event.
  private func wake() {
    guard alarm == nil, let pair, let other, isClosing || !queue.isEmpty && other.isReading else { return }
    alarm = pair.scheduler.schedule(after: pair.parameters.interval) { [weak self] in self?.connectionEvent() }
  }

  private func connectionEvent() {
    alarm = nil
    guard let pair, let other else { return }
    // A closed side reads nothing more; data in transit is lost.
    if other.isClosing { queue.removeAll() }
    for _ in 0..<pair.packetsPerEvent where other.isReading {
      guard let packet = queue.popFirst() else { break }
      other.onEvent?(.received(packet))
    }
    if isClosing, queue.isEmpty {
      return other.end(GAPError.disconnected.error("the device closed the channel"))
    }
    if isFull, isWritable {
      isFull = false
      onEvent?(.writable)
    }
    wake()
  }

  /// The other side has closed it, or the link has ended.
  func end(_ reason: BluetoothError) {
    alarm?.cancel()
    let (tell, former) = (onEvent, other)
    (other, onEvent) = (nil, nil)
    former?.other = nil
    former?.alarm?.cancel()
    if let former { pair?.forget(former) }
    pair?.forget(self)
    tell?(.ended(reason))
  }
}
