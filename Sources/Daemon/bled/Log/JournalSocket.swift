import Glibc

/// The socket for entries with fields in systemd's journal.
final class JournalSocket: Sendable {
  private let descriptor: CInt
  private let address: sockaddr_un

  /// Opens a socket; sending an entry shows if there is a journal.
  /// - Parameter path: the journal's socket.
  /// - Returns: nil if there is no descriptor, or the path is too long for a socket.
  init?(path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    self.address = address
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// True if a descriptor leads to the journal: `JOURNAL_STREAM` then has its device and inode (systemd.exec(5)). A
  /// shell that redirects standard error leaves that variable unchanged.
  static func isJournal(_ descriptor: CInt, stream: String?) -> Bool {
    var status = stat()
    guard let stream, fstat(descriptor, &status) == 0 else { return false }
    return stream.utf8.elementsEqual("\(status.st_dev):\(status.st_ino)".utf8)
  }

  /// Sends an entry, without waiting.
  /// - Returns: false if the journal has no room for it at present, is not there, or does not take so long ones.
  func send(_ entry: some Collection<UInt8>) -> Bool {
    let octets = Array(entry)
    let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
    let count = withUnsafePointer(to: address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        octets.withUnsafeBytes {
          sendto(descriptor, $0.baseAddress, $0.count, flags, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    return count == octets.count
  }
}
