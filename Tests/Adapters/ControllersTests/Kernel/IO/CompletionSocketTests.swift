@testable import Controllers
import Bluetooth
import EventLoop
import Glibc
import Testing

/// Completed packets of a controller, over a pair of sockets.
struct CompletionSocketTests {
  private let loop: EventLoop
  private let controller: Descriptor
  private let socket: CompletionSocket

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    loop = try EventLoop()
    controller = Descriptor(ends[1])
    socket = CompletionSocket(Descriptor(ends[0]), on: loop)
  }

  /// The controller has transmitted packets of a link.
  private func complete(_ handle: UInt8, _ packets: UInt8) throws {
    #expect(try controller.write([0x04, 0x13, 5, 1, handle, 0, packets, 0]))
  }

  @Test func theyAreReadWithTheFirstPacketForAWhileAndThe64th() throws {
    var told: [[Int]] = []
    socket.onCompleted = { handle, packets in told.append([Int(handle), packets]) }
    try complete(1, 3)
    try loop.poll()
    #expect(told.isEmpty, "nobody waits")
    socket.packetSent(at: .zero)
    #expect(told == [[1, 3]])
    for number in 0..<100 { try complete(2, UInt8(number)) }
    for _ in 0..<63 { socket.packetSent(at: .zero.advanced(by: .milliseconds(7))) }
    #expect(told.count == 1)
    socket.packetSent(at: .zero.advanced(by: .milliseconds(7)))
    #expect(told.dropFirst() == ArraySlice((0..<100).map { [2, $0] }))
    try complete(3, 1)
    socket.packetSent(at: .zero.advanced(by: .milliseconds(15)))
    #expect(told.last == [3, 1])
  }

  @Test func whileTheyAreAwaitedTheyAreToldAtOnce() throws {
    var told: [Int] = []
    socket.onCompleted = { [unowned socket] _, packets in
      told.append(packets)
      if packets == 2 { socket.isAwaited = false }
    }
    socket.isAwaited = true
    try complete(1, 1)
    try loop.poll()
    #expect(told == [1])
    // Another event, and the completion that ends the wait.
    #expect(try controller.write([0x04, 0x13, 200]))
    try complete(1, 2)
    try loop.poll()
    #expect(told == [1, 2])
    try complete(1, 3)
    try loop.poll()
    #expect(told == [1, 2])
    socket.read()
    #expect(told == [1, 2, 3])
    controller.close()
    socket.isAwaited = true
    for _ in 0..<3 { try loop.poll() }
    socket.close()
    socket.read()
    #expect(told == [1, 2, 3])
  }
}
