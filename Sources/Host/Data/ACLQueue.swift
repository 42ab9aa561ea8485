import Bluetooth
import DequeModule
import HCI

/// The frames that wait for the controller's buffers, and the packets that are in them.
///
/// The buffers belong to all links. Links take turns, packet by packet; on each link signalling and the Security
/// Manager go before other frames, ATT and channels take turns, and the fragments of a frame stay together. A link that
/// has a buffer already leaves one for each link that has none, and always one for a link that is to come, but at most
/// half of all: a device out of range must not stop the others. A link's packets are counted until the controller has
/// transmitted them; when the link ends they count no more, as the controller drops them without a word.
///
/// | Input                                 | Effect                                                             |
/// |---------------------------------------|--------------------------------------------------------------------|
/// | `begin`                               | the link may send; packets of an earlier one of its handle are freed |
/// | `add`                                 | waits, at most 256 frames on a link; refused beyond that, but for  |
/// |                                       | channels, which see to it themselves that few wait                 |
/// | `take`                                | as many fragments as there are free buffers                        |
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
    /// Signalling that must not overtake the pieces of channels.
    case last
  }

  /// One link's frames.
  private struct Link {
    var control: Deque<[UInt8]> = []
    var data: Deque<[UInt8]> = []
    var channel: Deque<[UInt8]> = []
    /// Whether the last frame was one of a channel.
    var wasChannel = false
    /// The rest of the frame whose first fragment was taken.
    var rest: ArraySlice<UInt8> = []
    var inFlight = 0
    /// When the first of the packets in flight was taken, or others were completed last.
    var since = Instant.zero

    var waiting: Int { control.count + data.count + channel.count + (rest.isEmpty ? 0 : 1) }

    private mutating func nextFrame() -> [UInt8]? {
      if let frame = control.popFirst() { return frame }
      wasChannel = !channel.isEmpty && (!wasChannel || data.isEmpty)
      return wasChannel ? channel.popFirst() : data.popFirst()
    }

    /// The next fragment; nil if nothing waits.
    mutating func next(_ length: Int) -> (isFirst: Bool, octets: [UInt8])? {
      guard rest.isEmpty else {
        defer { rest = rest.dropFirst(length) }
        return (false, Array(rest.prefix(length)))
      }
      guard let frame = nextFrame() else { return nil }
      guard frame.count > length else { return (true, frame) }
      rest = frame.dropFirst(length)
      return (true, Array(frame.prefix(length)))
    }
  }

  /// How many frames wait on a link.
  private static let limit = 256
  /// How long the controller may have packets of a link without completing any: longer than the longest supervision
  /// timeout, after which the link of a device that is out of range ends by itself.
  private static let timeout = Duration.seconds(40)

  /// How many octets one packet carries.
  package let length: Int
  private let packets: Int
  private var links: [ConnectionHandle: Link] = [:]
  /// The links, the next one to send first.
  private var turns: Deque<ConnectionHandle> = []
  /// How many packets the controller has, of all links.
  private var inFlight = 0

  /// - Parameters:
  ///   - length: how many octets one packet carries, 1 or more.
  ///   - packets: how many packets the controller buffers, 1 or more.
  package init(length: Int, packets: Int) {
    self.length = max(1, length)
    self.packets = max(1, packets)
  }

  /// A link came up.
  package mutating func begin(_ handle: ConnectionHandle) {
    end(handle)
    links[handle] = Link()
    turns.append(handle)
  }

  /// The link has ended: Disconnection Complete.
  /// - Returns: how many frames and packets did not leave.
  @discardableResult
  package mutating func end(_ handle: ConnectionHandle) -> Int {
    turns.removeAll { $0 == handle }
    guard let link = links.removeValue(forKey: handle) else { return 0 }
    inFlight -= link.inFlight
    return link.waiting + link.inFlight
  }

  /// Enqueues a whole L2CAP frame, with its header.
  /// - Returns: false if there is no such link, or too many frames wait already; the frame is dropped.
  package mutating func add(_ frame: [UInt8], to handle: ConnectionHandle, _ priority: Priority) -> Bool {
    guard let link = links[handle], link.waiting < Self.limit || priority == .channel else { return false }
    switch priority {
    case .control: links[handle]?.control.append(frame)
    case .data: links[handle]?.data.append(frame)
    case .channel, .last: links[handle]?.channel.append(frame)
    }
    return true
  }

  /// The packets that the controller has room for.
  package mutating func take(at now: Instant) -> [ACLDataPacket] {
    var taken: [ACLDataPacket] = []
    var idle = 0
    while inFlight < packets, idle < turns.count, let handle = turns.popFirst() {
      turns.append(handle)
      guard let place = links.index(forKey: handle), mayTake(links.values[place].inFlight),
        let (isFirst, octets) = links.values[place].next(length)
      else {
        idle += 1
        continue
      }
      idle = 0
      if links.values[place].inFlight == 0 { links.values[place].since = now }
      links.values[place].inFlight += 1
      inFlight += 1
      taken.append(
        ACLDataPacket {
          $0.handle = handle
          $0.boundary = isFirst ? 0 : 1
          $0.data = octets
        })
    }
    return taken
  }

  /// Whether a link that has so many buffers may have one more of the free ones.
  private func mayTake(_ count: Int) -> Bool {
    guard count > 0 else { return true }
    return packets - inFlight > min(max(1, links.values.count(where: { $0.inFlight == 0 })), packets / 2)
  }

  /// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
  /// - Returns: how many of them had not been sent on this link.
  package mutating func completed(_ packets: Int, on handle: ConnectionHandle, at now: Instant) -> Int {
    guard let place = links.index(forKey: handle) else { return packets }
    if packets > 0 { links.values[place].since = now }
    let known = min(packets, links.values[place].inFlight)
    links.values[place].inFlight -= known
    inFlight -= known
    return packets - known
  }

  /// Drops the pieces of a channel that wait: another channel may get its number next. The rest of one that has begun
  /// is sent.
  /// - Parameter channel: the channel's number at the device.
  /// - Returns: whether there were any.
  package mutating func drop(_ channel: UInt16, on handle: ConnectionHandle) -> Bool {
    let before = waitingOfChannels(on: handle)
    let number = [UInt8(truncatingIfNeeded: channel), UInt8(channel >> 8)]
    links[handle]?.channel.removeAll { $0.dropFirst(2).starts(with: number) }
    return waitingOfChannels(on: handle) < before
  }

  /// When `stalled` is due.
  package var deadline: Instant? {
    links.values.filter { $0.inFlight > 0 }.map(\.since).min()?.advanced(by: Self.timeout)
  }

  /// The links of devices that acknowledge nothing; each is told again after the same time.
  package mutating func stalled(at now: Instant) -> [ConnectionHandle] {
    let stalled = links.filter { $0.value.inFlight > 0 && $0.value.since.advanced(by: Self.timeout) <= now }
    for handle in stalled.keys { links[handle]?.since = now }
    return stalled.keys.sorted()
  }

  /// How many frames of a link wait for room.
  package func waiting(on handle: ConnectionHandle) -> Int { links[handle]?.waiting ?? 0 }

  /// How many frames of channels wait for room on a link.
  package func waitingOfChannels(on handle: ConnectionHandle) -> Int { links[handle]?.channel.count ?? 0 }

  /// How many frames and packets of a link have not left the controller.
  package func unsent(on handle: ConnectionHandle) -> Int { links[handle].map { $0.waiting + $0.inFlight } ?? 0 }
}
