import Glibc

/// Counts the descriptors sent to a client and perhaps not read: until then they are the kernel's, and their number is
/// limited for the whole daemon (unix(7), ETOOMANYREFS).
final class UnreadDescriptors {
  private var socket: CInt?
  /// The octets accepted by the socket before each possibly unread descriptor.
  private var marks: [Int] = []
  /// Octets accepted by the socket.
  private var octets = 0

  /// - Parameter socket: the client's.
  init(of socket: CInt) { self.socket = socket }

  /// Their number; none once the client has read the octets before the last one.
  var count: Int {
    var waiting: CInt = 0
    // The kernel reports no fewer octets than are unread, as it counts its overhead.
    if !marks.isEmpty, let socket, ioctl(socket, UInt(TIOCOUTQ), &waiting) == 0 {
      if waiting == 0 { marks = [] } else { marks.removeAll { octets - $0 > Int(waiting) } }
    }
    return marks.count
  }

  /// The socket has accepted this number of octets.
  func took(_ count: Int) { octets += count }

  /// A descriptor was sent.
  func add(to account: Rules.UserAccount) {
    if !account.unread.contains(where: { $0 === self }) { account.unread.append(self) }
    marks.append(octets)
  }

  /// The socket is closed.
  func end() { (socket, marks) = (nil, []) }
}
