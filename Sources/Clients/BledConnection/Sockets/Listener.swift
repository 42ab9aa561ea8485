private import Glibc

/// A call of the system that failed.
package struct ListenError: Error, CustomStringConvertible {
  /// The call and the reason, in words.
  package let description: String
  /// The number of the reason, as in errno(3).
  let code: Int32
}

/// A socket that listens for connections, closed when its last reference is released; the file of a Unix socket is
/// removed then.
package final class Listener: Sendable {
  /// The file of a Unix socket, as it was made.
  private struct File: Sendable {
    let path: String
    let device: UInt
    let inode: UInt

    /// - Returns: nil without a file.
    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      (self.path, device, inode) = (path, UInt(status.st_dev), UInt(status.st_ino))
    }
  }

  /// Maximum connections waiting to be accepted, as many as the kernel allows by default (listen(2)).
  private static let backlog: Int32 = 4096

  /// The connections to accept in one turn of a program.
  package static let portion = 16

  /// To be watched only.
  package let descriptor: Int32
  private let file: File?

  /// - Parameter place: A `sockaddr` of the family.
  init(_ place: some Any, family: Int32) throws(ListenError) {
    descriptor = try Self.open(place, family: family)
    file = nil
  }

  /// - Parameter path: The path of a file that does not exist, or of a Unix socket without a listening process.
  init(path: String) throws(ListenError) {
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    let maximum = MemoryLayout.size(ofValue: place.sun_path) - 1
    guard path.utf8.count <= maximum else {
      throw ListenError(description: "the path of a socket has at most \(maximum) octets", code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path.utf8) }
    try Self.clear(path)
    descriptor = try Self.open(place, family: AF_UNIX)
    file = File(path)
  }

  deinit {
    close(descriptor)
    guard let file, let now = File(file.path), (now.device, now.inode) == (file.device, file.inode) else { return }
    unlink(file.path)
  }

  private static func open(_ place: some Any, family: Int32) throws(ListenError) -> Int32 {
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(type), 0)
    guard descriptor >= 0 else { throw failure("socket") }
    // Connections of the previous process may still be closing on the same port.
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    if family == AF_INET6 {
      // With all addresses of IPv6 the socket has all of IPv4, regardless of the system's default.
      var no: Int32 = 0
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, socklen_t(MemoryLayout<Int32>.size))
    }
    let bound = withUnsafeBytes(of: place) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(octets.count)) }
    }
    guard bound == 0, Glibc.listen(descriptor, backlog) == 0 else {
      let failure = failure(bound == 0 ? "listen" : "bind")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// Removes a socket without a listening process.
  private static func clear(_ path: String) throws(ListenError) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    do throws(Errno) {
      _ = try Socket(connectedTo: path)
    } catch {
      guard error == Errno(code: ECONNREFUSED), unlink(path) != 0 else { return }
      throw failure("unlink")
    }
  }

  /// The result of `accept`.
  package enum Accepted {
    case connection(Socket)
    case none
    /// The process or the system has no room for the connection, which remains queued: try again later.
    case exhausted
  }

  /// Accepts the connection that waits longest.
  package func accept() -> Accepted {
    let connection = Glibc.accept(descriptor, nil, nil)
    guard connection >= 0 else {
      return [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) ? .exhausted : .none
    }
    // The programs that listen start no other, so it does not matter that this is not one step.
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    _ = fcntl(connection, F_SETFL, O_NONBLOCK)
    return .connection(Socket(owning: connection))
  }

  /// Its address and port; nil for a Unix socket.
  package var host: String? { file == nil ? name : nil }

  /// Its address and port, such as "127.0.0.1:9459", or "unix:" and its path.
  package var name: String {
    if let file { return "unix:\(file.path)" }
    var place = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let result = withUnsafeMutableBytes(of: &place) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { place in
        guard getsockname(descriptor, place.baseAddress, &length) == 0 else { return Int32(EAI_SYSTEM) }
        return getnameinfo(
          place.baseAddress, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
          NI_NUMERICHOST | NI_NUMERICSERV)
      }
    }
    guard result == 0 else { return "?" }
    let texts = [host, port].map { text in
      String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
    return "\(place.ss_family == AF_INET6 ? "[\(texts[0])]" : texts[0]):\(texts[1])"
  }

  /// Its address for programs and proxies: "http://127.0.0.1:9459", or "http://unix:PATH:" as nginx writes it.
  package var url: String { file == nil ? "http://\(name)" : "http://\(name):" }

  private static func failure(_ call: String) -> ListenError {
    let error = Errno.last
    return ListenError(description: "\(call) failed: \(error.text)", code: error.code)
  }
}
