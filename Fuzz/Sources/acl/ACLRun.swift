import Bluetooth
import Fuzzing
import HCI

/// A controller whose octets come in any pieces, and links with data both ways, as `ControllerHost`, `HostLinks` and
/// `FrameSender` handle them: packets are cut and decoded, data go to their link or wait for it, frames leave as the
/// controller has room for them, and links begin and end.
struct ACLRun {
  /// As many frames of one input; more only take time.
  private static let mostFrames = 300
  /// As many fragments of a frame, and pieces of a packet.
  private static let mostPieces = 16
  /// The octets of frames, from any place on.
  private static let octets = (0..<512).map { UInt8(truncatingIfNeeded: $0) }

  private var input: FuzzInput
  private var now = Instant.zero
  private var framer = H4Framer()
  /// The octets that the framer got, and its packets.
  private var stream: [UInt8] = []
  private var packets: [[UInt8]] = []
  private var isLost = false
  /// The octets of the controller come in pieces of this many; all at once if 0.
  private var piece = 0
  /// The beginning of a piece.
  private var held: [UInt8] = []
  private var links: [ConnectionHandle: CheckedReassembler] = [:]
  private var early = CheckedEarlyData()
  private var queue: CheckedQueue
  /// How many frames were added: the octets of each begin with this number.
  private var frames = 0

  init(_ input: FuzzInput) {
    self.input = input
    let (length, room) = (27 + Int(self.input.octet()), 1 + self.input.number(below: 16))
    queue = CheckedQueue(length: length, packets: room)
  }

  mutating func run() {
    while !input.isEmpty, !isLost { step() }
    receive(held)
    compareWithOnePiece()
    for handle in links.keys { links[handle]?.measure() }
    queue.drain(at: now)
    for handle in links.keys.sorted() { end(handle) }
  }

  private mutating func step() {
    switch input.octet() & 15 {
    case 0: transmit(input.packet())
    case 1, 2: data()
    case 3: frame()
    case 4, 5: add()
    case 6: add(64)
    case 7, 8: queue.send(1 + input.number(below: 16), at: now)
    case 9: complete()
    case 10: completeAll()
    case 11: begin(handle())
    case 12: end(handle())
    case 13: now = now.advanced(by: .milliseconds(Int64(input.octet()) << 4))
    case 14: expire()
    default:
      let kind = input.octet()
      guard kind & 1 == 0 else {
        piece = size()
        break
      }
      queue.mayGrow = kind & 0x40 == 0
      queue.drop(0x40 + UInt16(kind >> 4 & 3), on: ConnectionHandle(kind >> 1 & 7))
    }
  }

  private mutating func handle() -> ConnectionHandle { ConnectionHandle(input.octet() & 7) }

  /// A size up to 1024: any that is small, larger ones in steps of 8.
  private mutating func size() -> Int {
    let octet = input.octet()
    return octet < 128 ? Int(octet) : Int(octet - 127) * 8
  }

  // MARK: - The controller

  /// Some octets of the controller: they come in whole pieces.
  private mutating func transmit(_ octets: [UInt8]) {
    guard piece > 0 else {
      receive(held + octets)
      held = []
      return
    }
    held += octets
    let size = max(piece, held.count / Self.mostPieces)
    let whole = held.count - held.count % size
    for start in stride(from: 0, to: whole, by: size) { receive(Array(held[start..<start + size])) }
    held.removeFirst(whole)
  }

  /// A fragment of any octets.
  private mutating func data() {
    let kind = input.octet()
    transmit(ConnectionHandle(kind & 7), boundary: kind >> 3 & 3, input.packet()[...])
  }

  /// A whole frame, in fragments of any size.
  private mutating func frame() {
    let handle = handle()
    let octets = L2CAPFrame(channel: 4, payload: input.filler()).octets()
    let size = max(1, size(), octets.count / Self.mostPieces)
    for start in stride(from: 0, to: octets.count, by: size) {
      transmit(handle, boundary: start == 0 ? 2 : 1, octets[start...].prefix(size))
    }
  }

  private mutating func transmit(_ handle: ConnectionHandle, boundary: UInt8, _ data: ArraySlice<UInt8>) {
    let packet = ACLDataPacket {
      $0.handle = handle
      $0.boundary = boundary
      $0.data = data
    }
    transmit(HCIPacket.acl(packet).octets)
  }

  /// Any number of packets of some links is completed.
  private mutating func complete() {
    let kind = input.octet()
    complete(
      (0..<kind & 3).map { _ in
        let link = input.octet()
        return (ConnectionHandle(link & 7), kind & 4 == 0 ? UInt16(link >> 3) : input.word())
      })
  }

  /// All packets of some links are completed.
  private mutating func completeAll() {
    let chosen = input.octet()
    complete(
      (0..<8).filter { chosen & 1 << $0 != 0 }.map { handle in
        (handle, UInt16(queue.inFlight(on: handle)))
      })
  }

  private mutating func complete(_ counts: [(ConnectionHandle, UInt16)]) {
    let event = NumberOfCompletedPackets {
      $0.links = counts.map { handle, count in
        NumberOfCompletedPackets.Link {
          $0.handle = handle
          $0.packets = count
        }
      }
    }
    transmit(HCIPacket.event(EventPacket(code: NumberOfCompletedPackets.code, parameters: event.octets)).octets)
  }

  // MARK: - The host

  private mutating func receive(_ octets: [UInt8]) {
    guard !octets.isEmpty else { return }
    stream += octets
    for output in framer.receive(octets[...]) {
      invariant(!isLost, "\(output) after synchrony was lost")
      switch output {
      case .packet(let packet):
        packets.append(packet)
        take(packet)
      case .lost: isLost = true
      case .skipped: invariant(false, "octets are skipped")
      }
    }
  }

  private mutating func take(_ octets: [UInt8]) {
    do throws(HCICodingError) {
      if let report = try CompletedPackets(packet: octets[...]) { return completed(report) }
      guard let packet = try ACLDataPacket(packet: octets) else { return }
      let written = HCIPacket.acl(packet).octets
      invariant(areEqual(written, octets), "\(octets) are written as \(written)")
      invariant(HCIPacket.dataHandle(of: octets) == packet.handle, "data of another link than \(packet.handle)")
      if links[packet.handle] == nil { early.keep(packet, at: now) } else { links[packet.handle]?.receive(packet) }
    } catch {
      // Data are of the right length, since the framer cut them; an event may have another one inside.
      invariant(octets.first != 2, "data that cannot be read: \(octets)")
    }
  }

  private mutating func completed(_ report: CompletedPackets) {
    for place in 0..<report.count { queue.completed(report[place].packets, on: report[place].handle, at: now) }
  }

  private mutating func begin(_ handle: ConnectionHandle) {
    links[handle] = CheckedReassembler()
    queue.begin(handle)
    for packet in early.take(handle, at: now) { links[handle]?.receive(packet) }
  }

  private mutating func end(_ handle: ConnectionHandle) {
    links[handle] = nil
    queue.end(handle)
    early.ended(handle, at: now)
  }

  private mutating func expire() {
    if let deadline = [early.deadline, queue.deadline].compactMap(\.self).min() { now = max(now, deadline) }
    early.expire(at: now)
    queue.stalled(at: now)
    invariant(early.deadline.map { $0 > now } ?? true, "early data are kept beyond their time")
    invariant(queue.deadline.map { $0 > now } ?? true, "a stalled link is told too late")
  }

  /// The packets do not depend on the pieces.
  private func compareWithOnePiece() {
    var framer = H4Framer()
    var cut: [[UInt8]] = []
    for case .packet(let packet) in framer.receive(stream[...]) { cut.append(packet) }
    let isSame = cut.count == packets.count && zip(cut, packets).allSatisfy(areEqual)
    invariant(isSame, "\(packets.count) packets in pieces, \(cut.count) at once")
  }

  // MARK: - Frames

  /// Some frames to send, each with octets of its own.
  private mutating func add(_ count: Int = 1) {
    let (kind, size) = (input.octet(), input.octet())
    let priority: ACLQueue.Priority = [.control, .data, .channel, .last][Int(kind >> 3 & 3)]
    let channel: UInt16 =
      switch priority {
      case .control: 6
      case .data: 4
      case .channel: 0x40 + UInt16(kind >> 5 & 3)
      case .last: 5
      }
    let handle = ConnectionHandle(kind & 7)
    for _ in 0..<min(count, Self.mostFrames - frames) {
      frames += 1
      let payload = Array(Self.octets[(frames & 0xFF)...].prefix(Int(size)))
      queue.add(L2CAPFrame(channel: channel, payload: payload), to: handle, priority)
    }
    queue.check(handle)
  }
}
