import Bluetooth
import DequeModule
import Fuzzing
import HCI

/// An `ACLQueue` beside an account of the frames in it, which judges each packet: whether there is room for it, whose
/// turn it is, and that it is the next piece of the frame that was begun, or the first one of the frame that is next.
struct CheckedQueue {
  /// One link's frames.
  private struct Link {
    let handle: ConnectionHandle
    var control: Deque<[UInt8]> = []
    var data: Deque<[UInt8]> = []
    var channel: Deque<[UInt8]> = []
    /// The rest of the frame that was begun.
    var rest: ArraySlice<UInt8> = []
    /// Whether the last frame was one of a channel; nil since neither ATT nor channels had one.
    var wasChannel: Bool?
    var inFlight = 0
    var since = Instant.zero
    /// How many packets of other links went since it could have sent one.
    var passed = 0

    var waiting: Int { control.count + data.count + channel.count + (rest.isEmpty ? 0 : 1) }

    /// Frames have left.
    mutating func settle() {
      if data.isEmpty && channel.isEmpty { wasChannel = nil }
      if waiting == 0 { passed = 0 }
    }
  }

  private let length: Int
  private let packets: Int
  /// Whether another link may come.
  var mayGrow = true
  private var queue: ACLQueue
  private var links: [Link] = []
  private var inFlight = 0

  init(length: Int, packets: Int) {
    (self.length, self.packets) = (length, packets)
    queue = ACLQueue(length: length, packets: packets)
    invariant(queue.length == length, "packets of \(queue.length) octets, not of \(length)")
  }

  /// When `stalled` is due.
  var deadline: Instant? { queue.deadline }

  private func place(of handle: ConnectionHandle) -> Int? { links.firstIndex { $0.handle == handle } }

  /// How many packets of a link are in the controller.
  func inFlight(on handle: ConnectionHandle) -> Int { place(of: handle).map { links[$0].inFlight } ?? 0 }

  mutating func begin(_ handle: ConnectionHandle) {
    forget(handle)
    queue.begin(handle)
    links.append(Link(handle: handle))
    check(handle)
  }

  mutating func end(_ handle: ConnectionHandle) {
    let unsent = place(of: handle).map { links[$0].waiting + links[$0].inFlight } ?? 0
    let dropped = queue.end(handle)
    invariant(dropped == unsent, "\(dropped) frames and packets end with link \(handle), not \(unsent)")
    forget(handle)
    check(handle)
  }

  private mutating func forget(_ handle: ConnectionHandle) {
    guard let place = place(of: handle) else { return }
    inFlight -= links.remove(at: place).inFlight
  }

  mutating func add(_ added: L2CAPFrame, to handle: ConnectionHandle, _ priority: ACLQueue.Priority) {
    let isAdded = queue.add(added.octets(behind: ACLDataPacket.prefix), to: handle, priority)
    guard let place = place(of: handle) else { return invariant(!isAdded, "a frame is added to no link") }
    let hasRoom = priority == .channel || links[place].waiting < 256
    invariant(isAdded == hasRoom, "\(links[place].waiting) frames wait, one more is added: \(isAdded)")
    guard isAdded else { return }
    let frame = added.octets()
    switch priority {
    case .control: links[place].control.append(frame)
    case .data: links[place].data.append(frame)
    case .channel, .last: links[place].channel.append(frame)
    }
  }

  mutating func drop(_ channel: UInt16, on handle: ConnectionHandle) {
    let isDropped = queue.drop(channel, on: handle)
    guard let place = place(of: handle) else { return invariant(!isDropped, "pieces of no link are dropped") }
    let before = links[place].channel.count
    links[place].channel.removeAll { $0[2] == UInt8(channel & 0xFF) && $0[3] == UInt8(channel >> 8) }
    invariant(isDropped == (links[place].channel.count < before), "pieces of channel \(channel) are dropped, or not")
    links[place].settle()
    check(handle)
  }

  mutating func completed(_ count: Int, on handle: ConnectionHandle, at now: Instant) {
    let excess = queue.completed(count, on: handle, at: now)
    let known = min(count, inFlight(on: handle))
    invariant(excess == count - known, "\(excess) packets are too many, not \(count - known)")
    if let place = place(of: handle) {
      links[place].inFlight -= known
      inFlight -= known
      if count > 0 { links[place].since = now }
    }
    check(handle)
  }

  mutating func stalled(at now: Instant) {
    var expected: [ConnectionHandle] = []
    for place in links.indices where links[place].inFlight > 0 {
      guard links[place].since.duration(to: now) >= .seconds(40) else { continue }
      links[place].since = now
      expected.append(links[place].handle)
    }
    let stalled = queue.stalled(at: now)
    invariant(stalled == expected.sorted(), "\(stalled) are stalled, not \(expected)")
    checkDeadline()
  }

  // MARK: - Packets

  /// Sends the packets for which there is room, at most so many.
  mutating func send(_ count: Int, at now: Instant) {
    let mayGrow = mayGrow
    var last: ConnectionHandle?
    defer { if let last { check(last) } }
    for _ in 0..<count {
      switch queue.next(at: now, mayGrow: mayGrow) {
      case .packet(let octets):
        guard let packet = try? ACLDataPacket(packet: octets) else { return invariant(false, "no packet: \(octets)") }
        judge(packet, at: now)
        last = packet.handle
      case .full:
        invariant(isWaiting, "no frame waits, and there is no room")
        return checkNoneIsDue()
      case .idle: return invariant(!isWaiting, "frames wait, and none is told")
      }
    }
  }

  private var isWaiting: Bool { links.contains { $0.waiting > 0 } }

  /// The controller completes all packets, until every frame has left.
  mutating func drain(at now: Instant) {
    while inFlight > 0 || isWaiting {
      send(packets, at: now)
      invariant(inFlight > 0, "frames wait that are not sent")
      for link in links where link.inFlight > 0 { completed(link.inFlight, on: link.handle, at: now) }
    }
    invariant(queue.next(at: now, mayGrow: false) == .idle, "a packet of no frame")
    invariant(queue.deadline == nil, "something waits after the last frame")
  }

  /// How many buffers other links may count on.
  private var reserve: Int { min(max(mayGrow ? 1 : 0, links.count { $0.inFlight == 0 }), packets / 2) }

  private mutating func judge(_ packet: ACLDataPacket, at now: Instant) {
    guard let place = place(of: packet.handle) else { return invariant(false, "a packet of no link: \(packet)") }
    invariant(inFlight < packets, "\(inFlight + 1) packets in flight, there is room for \(packets)")
    if links[place].inFlight == 0 {
      links[place].since = now
    } else {
      invariant(packets - inFlight > reserve, "link \(packet.handle) takes a buffer that is another's")
    }
    for other in links.indices where links[other].inFlight == 0 && links[other].waiting > 0 && other != place {
      links[other].passed += 1
      invariant(links[other].passed < 8, "link \(links[other].handle) does not get its turn")
    }
    links[place].passed = 0
    links[place].inFlight += 1
    inFlight += 1
    let isFirst = links[place].rest.isEmpty
    if isFirst { begin(packet, place) }
    invariant(packet.boundary == (isFirst ? 0 : 1) && packet.broadcast == 0, "a wrong header: \(packet)")
    let expected = links[place].rest.prefix(length)
    invariant(areEqual(packet.data, expected), "\(packet) is not the next piece, \(expected)")
    links[place].rest = links[place].rest.dropFirst(length)
  }

  /// A frame is begun: signalling goes first; ATT and channels take turns.
  private mutating func begin(_ packet: ACLDataPacket, _ place: Int) {
    if let frame = links[place].control.popFirst() {
      links[place].rest = frame[...]
      return
    }
    let isRival = !links[place].data.isEmpty && !links[place].channel.isEmpty
    // The number of the channel tells which of them it is.
    let isChannel = isRival ? !packet.data.dropFirst(2).starts(with: [4, 0]) : links[place].data.isEmpty
    invariant(!isRival || isChannel != links[place].wasChannel, "\(isChannel ? "channels have" : "ATT has") two turns")
    links[place].wasChannel = isChannel
    let frame = isChannel ? links[place].channel.popFirst() : links[place].data.popFirst()
    links[place].settle()
    guard let frame else { return invariant(false, "a packet of no frame: \(packet)") }
    links[place].rest = frame[...]
  }

  private func checkNoneIsDue() {
    guard inFlight < packets else { return }
    for link in links where link.waiting > 0 {
      invariant(link.inFlight > 0 && packets - inFlight <= reserve, "a packet of link \(link.handle) is not sent")
    }
  }

  // MARK: - Counts

  /// The counts that the queue tells of a link, and its deadline.
  func check(_ handle: ConnectionHandle) {
    let link = place(of: handle).map { links[$0] } ?? Link(handle: handle)
    invariant(
      queue.waiting(on: handle) == link.waiting, "\(queue.waiting(on: handle)) frames wait, not \(link.waiting)")
    invariant(queue.waitingOfChannels(on: handle) == link.channel.count, "another number of pieces waits")
    invariant(queue.isWaiting(on: handle) == (link.waiting > link.channel.count), "frames wait, or not")
    invariant(queue.unsent(on: handle) == link.waiting + link.inFlight, "another number is unsent")
    invariant(queue.inFlight == inFlight, "\(queue.inFlight) packets in flight, not \(inFlight)")
    checkDeadline()
  }

  private func checkDeadline() {
    let since = links.lazy.filter { $0.inFlight > 0 }.map(\.since).min()
    invariant(queue.deadline == since?.advanced(by: .seconds(40)), "a deadline of another packet")
  }
}
