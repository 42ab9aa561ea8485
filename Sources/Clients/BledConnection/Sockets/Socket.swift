import BledRPC
private import Glibc

/// A failed system call.
package struct Errno: Error, Equatable, CustomStringConvertible {
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// Nothing to read, or no room to write.
  package static let again = Errno(code: EAGAIN)
  /// There is no such file.
  static let noEntry = Errno(code: ENOENT)
  static let notDirectory = Errno(code: ENOTDIR)
  /// No process listens there.
  static let refused = Errno(code: ECONNREFUSED)
  static let noAccess = Errno(code: EACCES)
  static let notPermitted = Errno(code: EPERM)

  /// The error of the last call on this thread.
  package static var last: Errno { Errno(code: errno) }

  /// A human-readable description.
  package var text: String { String(cString: strerror(code)) }

  /// The text, for errors that contain it.
  package var description: String { text }
}

/// A nonblocking stream socket, closed when its last reference is released.
package final class Socket: Sendable {
  package let descriptor: Int32

  /// Connects. A Unix socket connects at once or not at all: EAGAIN means that its backlog is full.
  package init(connectedTo path: String) throws(Errno) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The last octet stays 0.
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Errno(code: ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(AF_UNIX, Int32(type), 0)
    guard descriptor >= 0 else { throw .last }
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let error = Errno.last
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  /// Begins to connect over TCP.
  /// - Parameter place: A `sockaddr` of the family.
  init(connectingTo place: some Any, family: Int32) throws(Errno) {
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(type), 0)
    guard descriptor >= 0 else { throw .last }
    let result = withUnsafeBytes(of: place) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, socklen_t(octets.count)) }
    }
    let error = Errno.last
    guard result == 0 || error.code == EINPROGRESS else {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  /// Takes ownership of a nonblocking stream socket.
  package init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// `struct ucred` of unix(7), which Glibc declares for its extensions only.
  private typealias Credentials = (process: pid_t, user: uid_t, group: gid_t)

  /// The user of the process that listened at the other end (unix(7), SO_PEERCRED): root's service manager or the
  /// daemon; nil if the kernel does not report it.
  package var peerUser: UInt32? {
    var peer: Credentials = (0, 0, 0)
    var length = socklen_t(MemoryLayout<Credentials>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.user : nil
  }

  /// The error of a connection that was begun, reported once; nil if it is made.
  package func fetchError() -> Errno? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return .last }
    return code == 0 ? nil : Errno(code: code)
  }

  /// A duplicate under another number, which the caller must close; nil if the process has no more descriptors.
  package func duplicate() -> Int32? {
    let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    return number >= 0 ? number : nil
  }

  /// Reads octets, and any descriptor passed with them: the last octet is then one of those sent with it (unix(7),
  /// SCM_RIGHTS). A count of 0 means the end of the stream.
  package func receive(
    _ octets: UnsafeMutableRawBufferPointer
  ) -> Result<(count: Int, passed: ReceivedDescriptor?), Errno> {
    // Room for one: the kernel does not pass more than the descriptor of one call.
    var rights = PassedRights()
    let count = retried { rights.withHeader(of: octets) { recvmsg(descriptor, $0, Int32(MSG_CMSG_CLOEXEC)) } }
    return count.map { ($0, rights.descriptor.map(ReceivedDescriptor.init)) }
  }

  /// Writes as many octets as there is room for. If the peer has closed its end the result is an error, not a signal.
  package func send(_ octets: UnsafeRawBufferPointer) -> Result<Int, Errno> {
    retried { Glibc.send(descriptor, octets.baseAddress, octets.count, Int32(MSG_NOSIGNAL)) }
  }

  private func retried(_ call: () -> Int) -> Result<Int, Errno> {
    while true {
      let count = call()
      if count >= 0 { return .success(count) }
      let error = Errno.last
      if error.code != EINTR { return .failure(error) }
    }
  }
}
