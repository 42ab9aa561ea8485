import EventLoop
import Glibc
import HIDGateway
import Testing

@testable import bled_hid

@Suite("Files of /dev/uhid")
struct DeviceFileTests {
  /// A file whose other end the test holds.
  private func pair(
    on loop: EventLoop, _ received: @escaping (UhidEvent) -> Void
  ) throws -> (file: DeviceFile, kernel: Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    return (try DeviceFile(ends[0], on: loop, received), ends[1])
  }

  @Test("A request is one packet, an event another")
  func packets() throws {
    let loop = try EventLoop()
    var events: [UhidEvent] = []
    let (file, kernel) = try pair(on: loop) {
      events.append($0)
      if events.count == 2 { loop.stop() }
    }
    defer { close(kernel) }
    try file.send(.input([1, 2]))
    try file.send(.destroy)
    var buffer = [UInt8](repeating: 0, count: 64)
    #expect(read(kernel, &buffer, buffer.count) == 8)
    #expect(buffer.prefix(8) == [12, 0, 0, 0, 2, 0, 1, 2])
    #expect(read(kernel, &buffer, buffer.count) == 4)
    for event in [[2, 0, 0, 0], [99, 0, 0, 0], [4, 0, 0, 0]] as [[UInt8]] { write(kernel, event, event.count) }
    try loop.run()
    #expect(events == [.start, .open])
    file.close()
    #expect(read(kernel, &buffer, buffer.count) == 0)
    loop.discard()
  }

  @Test("An event may end its own file")
  func ends() throws {
    let loop = try EventLoop()
    var file: DeviceFile?
    let (made, kernel) = try pair(on: loop) { _ in
      file?.close()
      file = nil
      loop.stop()
    }
    defer { close(kernel) }
    file = made
    let event: [UInt8] = [3, 0, 0, 0]
    write(kernel, event, event.count)
    try loop.run()
    #expect(file == nil)
    loop.discard()
  }

  @Test("A refusal names the remedy")
  func refusals() throws {
    let loop = try EventLoop()
    let missing = #expect(throws: UhidFailure.self) {
      try DeviceFiles(path: "/nonexistent/uhid", on: loop).open { _ in }
    }
    #expect(missing?.description.contains("modprobe uhid") == true)
    loop.discard()
  }
}
