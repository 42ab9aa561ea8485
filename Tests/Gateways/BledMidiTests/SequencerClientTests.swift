import EventLoop
import Glibc
import MIDIGateway
import Testing

@testable import bled_midi

@Suite("Clients of /dev/snd/seq")
struct SequencerClientTests {
  @Test("Events are written one by one, and read together")
  func events() throws {
    let loop = try EventLoop()
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    let kernel = ends[1]
    defer { close(kernel) }
    var inputs: [[UInt8]] = []
    let client = try SequencerClient(ends[0], port: 0, on: loop) { input in
      if case .events(let octets) = input { inputs.append(octets) }
      loop.stop()
    }
    #expect(client.send([1, 2, 3]))
    var buffer = [UInt8](repeating: 0, count: 64)
    #expect(read(kernel, &buffer, buffer.count) == 3)
    write(kernel, [4, 5] as [UInt8], 2)
    try loop.run()
    #expect(inputs == [[4, 5]])
    client.isReading = false
    write(kernel, [6] as [UInt8], 1)
    loop.schedule(after: .zero) { client.isReading = true }
    try loop.run()
    #expect(inputs == [[4, 5], [6]])
    client.close()
    #expect(read(kernel, &buffer, buffer.count) == 0)
    loop.discard()
  }

  @Test("A refusal names the remedy")
  func refusals() throws {
    let loop = try EventLoop()
    let missing = #expect(throws: SequencerFailure.self) {
      try SequencerClients(path: "/nonexistent/seq", on: loop).open("Piano") { _ in }
    }
    #expect(missing?.description.contains("modprobe snd-seq") == true)
    let other = #expect(throws: SequencerFailure.self) {
      try SequencerClients(path: "/dev/null", on: loop).open("Piano") { _ in }
    }
    #expect(other?.description.contains("makes no port") == true)
    loop.discard()
  }
}
