import Bluetooth
import DequeModule
import HCI

/// The frames waiting for the controller's buffers, and the packets in them.
///
/// All links share the buffers. Links take turns, packet by packet; on each link signalling and the Security Manager
/// precede other frames, ATT and channels take turns, and a frame's fragments stay together. A link with a buffer
/// leaves one for each link without, or for a possible new link, but at most half of all: a device out of range must
/// not stop the others. A single link uses all of them while no other may follow. A link's packets are counted until
/// the controller has transmitted them, or the link ends, as the controller then drops them silently.
///
/// | Input                                 | Effect                                                             |
/// |---------------------------------------|--------------------------------------------------------------------|
/// | `begin`                               | the link may send; packets of an earlier one of its handle are freed |
/// | `add`                                 | waits, at most 256 frames on a link; refused beyond that, but for  |
/// |                                       | channels, which see to it themselves that few wait                 |
/// | `next`                                | a fragment, if one waits and there is a free buffer                |
/// | `completed`                           | so many buffers of the link are free; more than were used is clamped |
/// | `drop`                                | a channel's pieces are dropped, but for one that has begun         |
/// | 40 s without `completed`              | `stalled`, if packets of the link are in the controller            |
/// | `end`                                 | the link's frames are dropped, its buffers are free                |
package struct ACLQueue {
  /// The order of frames on a link.
  package enum Priority: Hashable, Sendable {
    /// Before data: signalling and the Security Manager.
    case control
    /// ATT.
    case data
    /// Channels.
    case channel
    /// Signalling behind the queued pieces of channels.
    case last
  }

  /// The next packet, or the reason why there is none.
  package enum Turn: Hashable, Sendable {
    /// A whole data packet.
    case packet([UInt8])
    /// Frames wait for free buffers.
    case full
    case idle
  }

  /// A link's frames, each behind the room for a packet header.
  private struct Link {
    let handle: ConnectionHandle
    var control: Deque<[UInt8]> = []
    var data: Deque<[UInt8]> = []
    var channel: Deque<[UInt8]> = []
    /// True if the last frame was a channel's.
    var wasChannel = false
    /// The rest of a frame after its first fragment.
    var rest: ArraySlice<UInt8> = []
    var inFlight = 0
    /// When the first of the packets in flight was sent, or others were last completed.
    var since = Instant.zero

    init(_ handle: ConnectionHandle) { self.handle = handle }

    var waiting: Int { control.count + data.count + channel.count + (rest.isEmpty ? 0 : 1) }

    private mutating func nextFrame() -> [UInt8]? {
      if let frame = control.popFirst() { return frame }
      wasChannel = !channel.isEmpty && (!wasChannel || data.isEmpty)
      return wasChannel ? channel.popFirst() : data.popFirst()
    }

    /// The next packet; nil if nothing waits.
    mutating func next(_ length: Int) -> [UInt8]? {
      guard rest.isEmpty else {
        var packet = [UInt8](repeating: 0, count: ACLDataPacket.prefix) + rest.prefix(length)
        ACLDataPacket.begin(&packet, handle: handle, isFirst: false)
        rest = rest.dropFirst(length)
        return packet
      }
      guard var packet = nextFrame() else { return nil }
      let most = ACLDataPacket.prefix + length
      if packet.count > most {
        rest = packet.dropFirst(most)
        packet = Array(packet.prefix(most))
      }
      ACLDataPacket.begin(&packet, handle: handle, isFirst: true)
      return packet
    }
  }

  /// Maximum queued frames per link.
  private static let limit = 256
  /// Maximum time for the controller to complete no packet of a link: longer than the longest supervision timeout,
  /// after which the link of a device out of range ends by itself.
  private static let timeout = Duration.seconds(40)

  /// Octets per packet.
  package let length: Int
  private let packets: Int
  /// The links in turn order: few, and searched several times with each packet.
  private var links: [Link] = []
  /// The place of the next link to send.
  private var turn = 0
  /// The packets in the controller, of all links.
  package private(set) var inFlight = 0

  /// - Parameters:
  ///   - length: octets per packet, 1 or more.
  ///   - packets: the controller's packet buffers, 1 or more.
  package init(length: Int, packets: Int) {
    self.length = max(1, length)
    self.packets = max(1, packets)
  }

  private func place(of handle: ConnectionHandle) -> Int? { links.firstIndex { $0.handle == handle } }

  /// A link was established.
  package mutating func begin(_ handle: ConnectionHandle) {
    end(handle)
    links.insert(Link(handle), at: turn)
    turn = (turn + 1) % links.count
  }

  /// The link has ended: Disconnection Complete.
  /// - Returns: the number of frames and packets not sent.
  @discardableResult
  package mutating func end(_ handle: ConnectionHandle) -> Int {
    guard let place = place(of: handle) else { return 0 }
    let link = links.remove(at: place)
    if place < turn { turn -= 1 }
    if turn == links.count { turn = 0 }
    inFlight -= link.inFlight
    return link.waiting + link.inFlight
  }

  /// Enqueues a whole L2CAP frame.
  /// - Parameter frame: the frame with its header, behind `ACLDataPacket.prefix` octets of any value.
  /// - Returns: false if there is no such link, or too many frames wait already; the frame is dropped.
  package mutating func add(_ frame: [UInt8], to handle: ConnectionHandle, _ priority: Priority) -> Bool {
    guard let place = place(of: handle), priority == .channel || links[place].waiting < Self.limit else { return false }
    switch priority {
    case .control: links[place].control.append(frame)
    case .data: links[place].data.append(frame)
    case .channel, .last: links[place].channel.append(frame)
    }
    return true
  }

  /// The next packet, if one waits and the controller has room for it.
  /// - Parameter mayGrow: true if another link may follow.
  package mutating func next(at now: Instant, mayGrow: @autoclosure () -> Bool) -> Turn {
    guard inFlight < packets else { return isWaiting ? .full : .idle }
    var isFull = false
    for _ in links.indices {
      let place = turn
      turn = turn + 1 < links.count ? turn + 1 : 0
      guard mayTake(links[place].inFlight, mayGrow) else {
        isFull = isFull || links[place].waiting > 0
        continue
      }
      guard let packet = links[place].next(length) else { continue }
      if links[place].inFlight == 0 { links[place].since = now }
      links[place].inFlight += 1
      inFlight += 1
      return .packet(packet)
    }
    return isFull ? .full : .idle
  }

  /// True if a link with so many buffers may have another free one.
  private func mayTake(_ count: Int, _ mayGrow: () -> Bool) -> Bool {
    guard count > 0 else { return true }
    let (free, idle) = (packets - inFlight, links.count { $0.inFlight == 0 })
    guard free <= min(max(1, idle), packets / 2) else { return true }
    return idle == 0 && !mayGrow()
  }

  /// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
  /// - Returns: the number of packets that had not been sent on this link.
  package mutating func completed(_ packets: Int, on handle: ConnectionHandle, at now: Instant) -> Int {
    guard let place = place(of: handle) else { return packets }
    if packets > 0 { links[place].since = now }
    let known = min(packets, links[place].inFlight)
    links[place].inFlight -= known
    inFlight -= known
    return packets - known
  }

  /// Drops a channel's queued pieces: another channel may get its number next. A piece once begun is completed.
  /// - Parameter channel: the channel's number at the device.
  /// - Returns: true if there were any.
  package mutating func drop(_ channel: UInt16, on handle: ConnectionHandle) -> Bool {
    guard let place = place(of: handle) else { return false }
    let before = links[place].channel.count
    let number = [UInt8(truncatingIfNeeded: channel), UInt8(channel >> 8)]
    links[place].channel.removeAll { $0.dropFirst(ACLDataPacket.prefix + 2).starts(with: number) }
    return links[place].channel.count < before
  }

  /// When `stalled` is due.
  package var deadline: Instant? {
    links.lazy.filter { $0.inFlight > 0 }.map(\.since).min()?.advanced(by: Self.timeout)
  }

  /// The links of devices without acknowledgements; each is returned again after the same time.
  package mutating func stalled(at now: Instant) -> [ConnectionHandle] {
    var stalled: [ConnectionHandle] = []
    for place in links.indices where links[place].inFlight > 0 && links[place].since.advanced(by: Self.timeout) <= now {
      links[place].since = now
      stalled.append(links[place].handle)
    }
    return stalled.sorted()
  }

  /// A link's frames waiting for room.
  package func waiting(on handle: ConnectionHandle) -> Int { place(of: handle).map { links[$0].waiting } ?? 0 }

  private var isWaiting: Bool { links.contains { $0.waiting > 0 } }

  /// A link's channel frames waiting for room.
  package func waitingOfChannels(on handle: ConnectionHandle) -> Int {
    place(of: handle).map { links[$0].channel.count } ?? 0
  }

  /// True if frames other than those of channels wait for room on a link.
  package func isWaiting(on handle: ConnectionHandle) -> Bool {
    place(of: handle).map { links[$0].waiting > links[$0].channel.count } ?? false
  }

  /// A link's frames and packets still in the queue or the controller.
  package func unsent(on handle: ConnectionHandle) -> Int {
    place(of: handle).map { links[$0].waiting + links[$0].inFlight } ?? 0
  }
}
