@testable import Controllers
import EventLoop
import Glibc
import Testing

struct PacketSocketTests {
  @Test func aPacketThatCannotBeWrittenEndsTheSocketBehindWhatArrived() throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let other = Descriptor(ends[1])
    let loop = try EventLoop()
    let socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: .high)
    var received: [[UInt8]] = []
    var errors: [SystemError?] = []
    socket.onEvent = { event in
      switch event {
      case .received(let packet): received.append(packet)
      case .ended(let error): errors.append(error)
      case .lost, .writable: break
      }
    }
    try socket.start()
    #expect(try other.write([7]))
    // More than the socket takes as one packet.
    #expect(socket.send([UInt8](repeating: 0, count: 16 << 20)))
    #expect(socket.send([1]))
    #expect(received.isEmpty && errors.isEmpty, "events came from inside the call")
    for _ in 0..<3 { try loop.poll() }
    #expect(received == [[7]])
    #expect(errors == [SystemError(result: -EMSGSIZE)])
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(try other.read(into: &buffer) == nil, "a packet followed the one that is missing")
    socket.close()
  }

  @Test func severalPacketsOfAReadComeInOrderAndBeforeTheEnd() throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let other = Descriptor(ends[1])
    let loop = try EventLoop()
    let socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: .high, longest: 4, batch: 3)
    var received: [[UInt8]] = []
    var errors: [SystemError?] = []
    socket.onEvent = { event in
      switch event {
      case .received(let packet): received.append(packet)
      case .ended(let error): errors.append(error)
      case .lost, .writable: break
      }
    }
    try socket.start()
    var sent: [[UInt8]] = []
    for count in 1...7 {
      for number in 0..<count { sent.append([UInt8](repeating: UInt8(number), count: 1 + number % 4)) }
      for packet in sent.suffix(count) { #expect(try other.write(packet)) }
      while try loop.poll() {}
      #expect(received == sent)
    }
    #expect(try other.write([9]))
    other.close()
    while try loop.poll() {}
    #expect(received == sent + [[9]])
    #expect(errors == [nil])
    socket.close()
  }

  @Test func aHandlerMayCloseTheSocketAmongPacketsOfOneRead() throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let other = Descriptor(ends[1])
    let loop = try EventLoop()
    let socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: .high, longest: 4, batch: 3)
    var numbers: [UInt8] = []
    socket.onEvent = { [unowned socket] event in
      guard case .received(let packet) = event else { return }
      numbers += packet
      if packet == [1] { socket.close() }
    }
    try socket.start()
    for number in UInt8(0)..<4 { #expect(try other.write([number])) }
    while try loop.poll() {}
    #expect(numbers == [0, 1])
  }

  /// Packets that arrived before one wake-up are served in this order, whatever arrived first: a link's packets after
  /// the events about it, and reports last.
  @Test func eventsComeBeforePacketsAndReports() throws {
    let loop = try EventLoop()
    var order: [String] = []
    var sockets: [PacketSocket] = []
    var others: [Descriptor] = []
    let names = ["reports", "link", "events"]
    for (name, priority) in zip(names, [EventLoop.Priority.normal, .high, .highest]) {
      var ends: [Int32] = [-1, -1]
      let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
      let socket = PacketSocket(Descriptor(ends[0]), on: loop, priority: priority)
      socket.onEvent = { event in if case .received = event { order.append(name) } }
      try socket.start()
      sockets.append(socket)
      others.append(Descriptor(ends[1]))
    }
    for _ in 0..<3 {
      for other in others { for _ in 0..<2 { #expect(try other.write([1])) } }
      while try loop.poll() {}
      #expect(order == ["events", "events", "link", "link", "reports", "reports"])
      order = []
    }
    for socket in sockets { socket.close() }
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
    other.close()
    while try loop.poll() {}
    #expect(received.count == 3 && ended == 1)
    socket.close()
  }
}
