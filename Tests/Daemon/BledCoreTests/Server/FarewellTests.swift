import EventLoop
import Glibc
import Testing

@testable import BledCore

/// The end of connections with an explanation for the client.
@Suite struct FarewellTests {
  private let loop: EventLoop
  private let farewells: Farewells

  init() throws {
    loop = try EventLoop()
    farewells = Farewells(on: loop)
  }

  private func settle() throws { while try loop.poll() {} }

  /// The daemon's end and the client's.
  private func connection() -> (daemon: CInt, client: CInt) {
    var ends: [CInt] = [-1, -1]
    socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends)
    return (ends[0], ends[1])
  }

  private func write(_ descriptor: CInt, _ count: Int = 5) -> Int {
    send(descriptor, [UInt8](repeating: 1, count: count), count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
  }

  private func read(_ descriptor: CInt) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    return recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
  }

  @Test("A client that writes before and after the end reads its last line and an orderly end")
  func orderly() throws {
    let (daemon, client) = connection()
    #expect(write(client) == 5)
    #expect(write(daemon, 7) == 7)
    farewells.add(daemon)
    try settle()
    #expect(write(client) == 5)
    try settle()
    #expect(read(client) == 7)
    #expect(read(client) == 0)
    close(client)
  }

  @Test("At most sixteen connections linger; the oldest ends for a new one, in an orderly way")
  func bounded() throws {
    let all = (0..<40).map { _ in connection() }
    for (daemon, client) in all {
      #expect(write(client) == 5 && write(daemon, 7) == 7)
      farewells.add(daemon)
    }
    for (index, ends) in all.enumerated() {
      #expect((write(ends.client) == 5) == (index >= 24), "\(index)")
      #expect(read(ends.client) == 7)
      #expect(read(ends.client) == 0)
    }
    farewells.closeAll()
    for ends in all {
      #expect(write(ends.client) < 0 && errno == EPIPE)
      close(ends.client)
    }
  }

  @Test("A client that goes on writing is cut off")
  func flood() throws {
    let (daemon, client) = connection()
    farewells.add(daemon)
    var total = 0
    while total < 64 << 20 {
      let count = write(client, 1 << 14)
      if count < 0, errno != EAGAIN { break }
      total += max(0, count)
      try settle()
    }
    #expect(total < 4 << 20)
    close(client)
  }
}
