import EventLoop
import Glibc

/// Clients' connections after the end or refusal of their session, when their last lines are written. With unread or
/// later input from the client, the kernel would turn the end into an error (ECONNRESET, EPIPE); so input is read and
/// dropped until the client has closed its end too, for a short time.
///
/// | Input                                   | Effect                                                   |
/// |-----------------------------------------|----------------------------------------------------------|
/// | a connection                            | no more is sent, its octets are dropped → leaving        |
/// | one more than `maximum`                 | the oldest is closed                                     |
/// | leaving: the client closed, 1 s passed, or it sent too much | it is closed                         |
final class Farewells {
  /// Maximum connections: each takes a descriptor.
  private static let maximum = 16
  /// The time for a client to read its last lines, in nanoseconds.
  private static let timeout: Int64 = 1_000_000_000
  /// Maximum octets from a client meanwhile: more than the kernel holds for it.
  private static let longest = 1 << 20
  /// Octets per read.
  private static let batch = 16 << 10

  private final class Leaving {
    let descriptor: CInt
    var octets = 0
    var watch: Watch?
    var alarm: Timer?

    init(_ descriptor: CInt) { self.descriptor = descriptor }
  }

  private let loop: EventLoop
  /// The oldest first.
  private var leaving: [Leaving] = []

  init(on loop: EventLoop) { self.loop = loop }

  deinit { closeAll() }

  /// Takes over a connection after its last write.
  func add(_ descriptor: CInt) {
    shutdown(descriptor, CInt(SHUT_WR))
    if leaving.count >= Self.maximum { end(leaving[0]) }
    let client = Leaving(descriptor)
    do throws(EventLoopError) {
      client.watch = try Watch(descriptor, on: loop, priority: .low) { [unowned self, unowned client] _ in read(client)
      }
    } catch {
      return Self.close(descriptor)
    }
    client.alarm = loop.schedule(at: EventLoop.now + Self.timeout) { [weak self, weak client] in
      if let client { self?.end(client) }
    }
    leaving.append(client)
  }

  /// Closes all of them.
  func closeAll() {
    for client in leaving { end(client) }
  }

  /// Closes a connection at once. The client's octets are dropped, so it sees an orderly end; if it sends more it gets
  /// EPIPE.
  static func close(_ descriptor: CInt) {
    shutdown(descriptor, CInt(SHUT_RDWR))
    // From here on at most the octets in the kernel's buffer remain.
    while case let count = drop(descriptor), count > 0 || (count < 0 && errno == EINTR) {}
    Glibc.close(descriptor)
  }

  private func read(_ client: Leaving) {
    let count = Self.drop(client.descriptor)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    client.octets += max(0, count)
    if count <= 0 || client.octets > Self.longest { end(client) }
  }

  private func end(_ client: Leaving) {
    guard let index = leaving.firstIndex(where: { $0 === client }) else { return }
    leaving.remove(at: index)
    client.watch?.cancel()
    client.alarm?.cancel()
    Self.close(client.descriptor)
  }

  /// - Returns: the number of octets read; 0 at the end, -1 with errno if there are none.
  private static func drop(_ descriptor: CInt) -> Int {
    withUnsafeTemporaryAllocation(byteCount: batch, alignment: 16) { buffer in
      recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
    }
  }
}
