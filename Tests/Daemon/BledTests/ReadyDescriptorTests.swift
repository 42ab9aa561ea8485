import Glibc
import Testing

@testable import bled

/// The descriptor of `--ready-fd`.
@Suite struct ReadyDescriptorTests {
  @Test("a pipe that nobody reads does not hold up the daemon", arguments: [false, true]) func fullPipe(
    _ isFull: Bool
  ) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    if isFull {
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      while write(ends[1], [0], 1) == 1 {}
      _ = fcntl(ends[1], F_SETFL, 0)
    }
    try ReadyDescriptor(ends[1]).notify()
    var text: [UInt8] = []
    var octets = [UInt8](repeating: 0, count: 4096)
    while case let count = read(ends[0], &octets, octets.count), count > 0 { text += octets.prefix(count) }
    #expect(text.filter { $0 != 0 } == (isFull ? [] : Array("READY=1\n".utf8)))
  }
}
