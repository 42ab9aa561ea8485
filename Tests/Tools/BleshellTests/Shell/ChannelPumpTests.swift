import Glibc
import TestSupport
import Testing

@testable import bleshell

/// Octets between files and a channel.
@Suite struct ChannelPumpTests {
  @Test("When the channel has ended the input is left to others")
  func input() async throws {
    var (channel, typed, shown) = ([CInt](repeating: -1, count: 2), [CInt](repeating: -1, count: 2), [CInt]())
    shown = typed
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &channel) == 0)
    try #require(pipe(&typed) == 0 && pipe(&shown) == 0)
    defer { for descriptor in [channel[0]] + typed + shown { close(descriptor) } }
    let pump = ChannelPump(channel[0], input: typed[0], output: shown[1], most: nil)
    #expect(write(typed[1], "one", 3) == 3)
    async let isWhole = pump.run()
    let far = channel[1]
    let came = await onThread {
      var octets = [UInt8](repeating: 0, count: 3)
      return Array(octets[..<max(0, recv(far, &octets, 3, CInt(MSG_WAITALL)))])
    }
    #expect(came == Array("one".utf8))
    #expect(send(channel[1], "two", 3, 0) == 3)
    close(channel[1])
    #expect(await !isWhole)
    var octets = [UInt8](repeating: 0, count: 10)
    try #require(pump.sent == 3 && pump.received == 3)
    #expect(read(shown[0], &octets, 10) == 3)
    // A command that is typed now is not the channel's.
    #expect(write(typed[1], "info", 4) == 4)
    var waiting = pollfd(fd: typed[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 0) == 1)
  }
}
