import Glibc

/// A listening Unix socket: the daemon's own, or one passed by systemd.
public struct ListeningSocket: Sendable {
  /// The descriptor.
  public let descriptor: CInt
  /// Its path, if we created it: removed at the end.
  private let path: String?
  private let device: UInt64
  private let inode: UInt64

  /// Takes ownership of a listening descriptor. Its file stays when the daemon ends.
  public init(inherited descriptor: CInt) {
    self.descriptor = descriptor
    path = nil
    device = 0
    inode = 0
  }

  /// Creates a socket at this path, replacing one without a listener. A missing directory is created; one that other
  /// users may change is refused.
  /// - Parameters:
  ///   - mode: the file's permissions; a user with write permission can connect to the daemon.
  ///   - group: the file's group; nil leaves the process's group. A nonexistent group is ignored.
  /// - Throws: `SocketError`.
  public init(path: String, mode: UInt16, group: String?) throws(SocketError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    let octets = Array(path.utf8)
    guard octets.count < capacity else { throw .pathTooLong(path: path) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }

    try Self.checkDirectory(of: path)
    try Self.clear(path, address)
    let descriptor = Self.open()
    guard descriptor >= 0 else { throw Self.refused(path, "socket") }
    // No client may connect before mode and group are set.
    let mask = umask(0o777)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    umask(mask)
    var status = stat()
    guard bound == 0, stat(path, &status) == 0 else { throw Self.abandon(descriptor, path, "bind") }
    if let group, let id = Self.identifier(ofGroup: group) {
      // Without the right to change the group the file keeps our own, which is the narrower choice.
      _ = chown(path, uid_t.max, id)
    }
    guard chmod(path, mode_t(mode)) == 0 else { throw Self.abandon(descriptor, path, "chmod") }
    guard listen(descriptor, 128) == 0 else { throw Self.abandon(descriptor, path, "listen") }
    self.descriptor = descriptor
    self.path = path
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Removes the file, if we made it and it is still ours.
  public func removeFile() {
    guard let path else { return }
    var status = stat()
    guard stat(path, &status) == 0, UInt64(status.st_dev) == device, UInt64(status.st_ino) == inode else { return }
    unlink(path)
  }

  /// Makes sure that only root and our own user can redirect the path, which the later calls use.
  private static func checkDirectory(of path: String) throws(SocketError) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = end.map { $0 == path.startIndex ? "/" : String(Substring(path.utf8[..<$0])) } ?? "."
    do throws(TrustedDirectory.Problem) {
      _ = try TrustedDirectory(directory, creating: 0o755)
    } catch {
      switch error {
      case .unsafe(let reason): throw .unsafe(path: path, reason: reason)
      case .refused(let call, let code):
        throw .refused(path: path, call: call, code: code, reason: String(cString: strerror(code)))
      }
    }
  }

  /// Prepares the path: removes a socket without a listener.
  private static func clear(_ path: String, _ address: sockaddr_un) throws(SocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    let probe = open()
    guard probe >= 0 else { throw refused(path, "socket") }
    defer { Glibc.close(probe) }
    var address = address
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    // EAGAIN: a process listens and has not accepted for a while.
    if connected == 0 || errno == EAGAIN { throw .inUse(path: path) }
    guard errno == ECONNREFUSED else { throw refused(path, "connect") }
    guard unlink(path) == 0 else { throw refused(path, "unlink") }
  }

  private static func open() -> CInt {
    socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
  }

  private static func identifier(ofGroup name: String) -> gid_t? { getgrnam(name)?.pointee.gr_gid }

  private static func refused(_ path: String, _ call: String) -> SocketError {
    let code = errno
    return .refused(path: path, call: call, code: code, reason: String(cString: strerror(code)))
  }

  private static func abandon(_ descriptor: CInt, _ path: String, _ call: String) -> SocketError {
    let error = refused(path, call)
    Glibc.close(descriptor)
    return error
  }
}
