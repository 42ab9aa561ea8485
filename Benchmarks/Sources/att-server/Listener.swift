import Glibc

/// A Unix SOCK_SEQPACKET socket that waits for clients.
struct Listener {
  struct Failure: Error { let call: String, code: Int32 }
  let descriptor: Int32

  init(path: String) throws {
    unlink(path)
    descriptor = try Self.check("socket", socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let descriptor = descriptor
    _ = try Self.check(
      "bind",
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      })
    _ = try Self.check("listen", listen(descriptor, 4))
  }

  /// Takes the next client.
  /// - Returns: its socket, which does not block.
  func accept() throws -> Int32 {
    let client = try Self.check("accept", Glibc.accept(descriptor, nil, nil))
    _ = try Self.check("fcntl", fcntl(client, F_SETFL, O_NONBLOCK))
    return client
  }

  private static func check(_ call: String, _ result: Int32) throws -> Int32 {
    guard result >= 0 else { throw Failure(call: call, code: errno) }
    return result
  }
}
