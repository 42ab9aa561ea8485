import BledConnection
import Glibc
import TestSupport
import Testing

@testable import BledWeb

/// The server, as slow programs see it.
@Suite struct HTTPServerTests {
  @Test("A reader of a few octets at a time does not keep its place until it has read a long answer")
  @MainActor func slowReader() async throws {
    let length = 64 << 20
    let listener = try ListenAddress(loopback: 0).listen()
    let pace = ReceiverPace(least: .milliseconds(100), octetsPerSecond: .max)
    let server = HTTPServer(listener, limit: 1, pace: pace) { _ in
      HTTPAnswer(200, "OK", type: "text/plain", body: .octets([UInt8](repeating: 0x20, count: length)))
    }
    let port = try #require(listener.port)
    // A million calls are beyond the limit on any machine.
    let received = try await onThread {
      Result {
        let connection = try ServerConnection(port: port)
        try connection.send("GET / HTTP/1.1\r\n\r\n")
        return connection.countInPieces()
      }
    }.get()
    #expect(received < length)
    server.close()
  }

  @Test("An answer has half a minute, and a second for each 16 KiB")
  func pace() {
    #expect(ReceiverPace.usual.limit(for: 0) == .seconds(30))
    #expect(ReceiverPace.usual.limit(for: 16_383) == .seconds(30))
    #expect(ReceiverPace.usual.limit(for: 16 << 20) == .seconds(30 + 1024))
  }
}

extension ServerConnection {
  /// Reads until the server closes, 64 octets a call.
  fileprivate func countInPieces() -> Int {
    var count = 0
    var octets = [UInt8](repeating: 0, count: 64)
    while Patience.wait(for: descriptor), case let received = recv(descriptor, &octets, octets.count, 0), received > 0 {
      count += received
    }
    return count
  }
}

extension Listener {
  /// The port on which it listens.
  var port: UInt16? { name.split(separator: ":").last.flatMap { UInt16($0) } }
}
