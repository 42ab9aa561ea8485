@testable import Controllers
import EventLoop
import Glibc
import Testing

/// A packet socket, and its other end.
private final class SocketPair {
  let loop: EventLoop
  let socket: PacketSocket
  let other: Descriptor
  private(set) var received: [[UInt8]] = []
  private(set) var errors: [SystemError?] = []
  /// Called for each packet.
  var onPacket: (([UInt8]) -> Void)?

  init(
    on loop: EventLoop? = nil, _ priority: EventLoop.Priority = .high, longest: Int = 4096, batch: Int = 1
  ) throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let loop = try loop ?? EventLoop()
    self.loop = loop
    other = Descriptor(ends[1])
    socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: priority, longest: longest, batch: batch)
    socket.onEvent = { [unowned self] event in
      switch event {
      case .received(let packet):
        received.append(packet)
        onPacket?(packet)
      case .ended(let error): errors.append(error)
      case .lost, .writable: break
      }
    }
    try socket.start()
  }

  deinit { socket.close() }
}

struct PacketSocketTests {
  @Test func aPacketThatCannotBeWrittenEndsTheSocketBehindWhatArrived() throws {
    let pair = try SocketPair()
    #expect(try pair.other.write([7]))
    // More octets than the socket accepts as one packet.
    #expect(pair.socket.send([UInt8](repeating: 0, count: 16 << 20)))
    #expect(pair.socket.send([1]))
    #expect(pair.received.isEmpty && pair.errors.isEmpty, "events came from inside the call")
    for _ in 0..<3 { try pair.loop.poll() }
    #expect(pair.received == [[7]])
    #expect(pair.errors == [SystemError(result: -EMSGSIZE)])
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(try pair.other.read(into: &buffer) == nil, "a packet followed the one that is missing")
  }

  @Test func severalPacketsOfAReadComeInOrderAndBeforeTheEnd() throws {
    let pair = try SocketPair(longest: 4, batch: 3)
    var sent: [[UInt8]] = []
    for count in 1...7 {
      for number in 0..<count { sent.append([UInt8](repeating: UInt8(number), count: 1 + number % 4)) }
      for packet in sent.suffix(count) { #expect(try pair.other.write(packet)) }
      while try pair.loop.poll() {}
      #expect(pair.received == sent)
    }
    #expect(try pair.other.write([9]))
    pair.other.close()
    while try pair.loop.poll() {}
    #expect(pair.received == sent + [[9]])
    #expect(pair.errors == [nil])
  }

  @Test func aHandlerMayCloseTheSocketAmongPacketsOfOneRead() throws {
    let pair = try SocketPair(longest: 4, batch: 3)
    pair.onPacket = { [unowned pair] packet in if packet == [1] { pair.socket.close() } }
    for number in UInt8(0)..<4 { #expect(try pair.other.write([number])) }
    while try pair.loop.poll() {}
    #expect(pair.received == [[0], [1]])
  }

  /// Packets that arrived before one wake-up are served in this order, whatever arrived first: a link's packets after
  /// the events about it, and reports last.
  @Test func eventsComeBeforePacketsAndReports() throws {
    let loop = try EventLoop()
    var order: [String] = []
    let names = ["reports", "link", "events"]
    let pairs = try zip(names, [EventLoop.Priority.normal, .high, .highest]).map { name, priority in
      let pair = try SocketPair(on: loop, priority)
      pair.onPacket = { _ in order.append(name) }
      return pair
    }
    for _ in 0..<3 {
      for pair in pairs { for _ in 0..<2 { #expect(try pair.other.write([1])) } }
      while try loop.poll() {}
      #expect(order == ["events", "events", "link", "link", "reports", "reports"])
      order = []
    }
  }

  @Test("A packet without octets is a packet, until the other end is closed", arguments: [1, 3])
  func emptyPackets(batch: Int) throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let other = Descriptor(ends[1])
    let loop = try EventLoop()
    let socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: .high, longest: 4, batch: batch)
    var received: [[UInt8]] = []
    var ended = 0
    socket.onEvent = { event in
      switch event {
      case .received(let packet): received.append(packet)
      case .ended: ended += 1
      case .lost, .writable: break
      }
    }
    try socket.start()
    for packet in [[1], [], [2]] as [[UInt8]] { #expect(try other.write(packet)) }
    while try loop.poll() {}
    #expect(received == [[1], [], [2]] && ended == 0)
    for packet in [[3], [], [4]] as [[UInt8]] { #expect(try other.write(packet)) }
    other.close()
    while try loop.poll() {}
    #expect(received == [[1], [], [2], [3], [], [4]] && ended == 1, "an empty packet is not the end while others wait")
    socket.close()
  }
}
