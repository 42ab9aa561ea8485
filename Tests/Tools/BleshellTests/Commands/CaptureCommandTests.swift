import Glibc
import TestSupport
import Testing

@testable import bleshell

/// The output of `bleshell capture`.
@Suite struct CaptureCommandTests {
  @Test("what reads standard output slowly is waited for, also where the descriptor does not block")
  func nonBlocking() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (source, sink) = (ends[0], ends[1])
    try #require(fcntl(sink, F_SETFL, O_NONBLOCK) == 0)
    // Not on the threads of the tests; there are as many as cores.
    let reading = Task {
      await onThread {
        var (buffer, total) = ([UInt8](repeating: 0, count: 4096), 0)
        while case let count = read(source, &buffer, buffer.count), count > 0 { total += count }
        close(source)
        return total
      }
    }
    let octets = [UInt8](repeating: 7, count: 1 << 20)
    let isWritten = await onThread { CaptureCommand.write(octets[...], to: sink) }
    close(sink)
    let total = await reading.value
    #expect(isWritten && total == octets.count)
  }
}
