import EventLoop
import Glibc
import Testing

@testable import KernelAdapter

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
}
