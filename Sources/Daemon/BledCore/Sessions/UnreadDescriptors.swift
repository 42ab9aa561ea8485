import Glibc

/// Counts the descriptors that were sent to a client and that it may not have read: until then they are the kernel's,
/// and their number is limited for the whole daemon (unix(7), ETOOMANYREFS).
final class UnreadDescriptors {
  private var socket: CInt?
  /// The octets that the socket had accepted before each descriptor that may be unread.
  private var marks: [Int] = []
  /// How many octets the socket has taken.
  private var octets = 0

  /// - Parameter socket: the client's.
  init(of socket: CInt) { self.socket = socket }

  /// How many there are; none once the client has read the octets before the last one.
  var count: Int {
    var waiting: CInt = 0
    // The kernel tells no fewer octets than are unread, as it counts its overhead.
    if !marks.isEmpty, let socket, ioctl(socket, UInt(TIOCOUTQ), &waiting) == 0 {
      if waiting == 0 { marks = [] } else { marks.removeAll { octets - $0 > Int(waiting) } }
    }
    return marks.count
  }

  /// The socket has taken so many octets.
  func took(_ count: Int) { octets += count }

  /// One was sent.
  func add(to account: Rules.UserAccount) {
    if !account.unread.contains(where: { $0 === self }) { account.unread.append(self) }
    marks.append(octets)
  }

  /// The socket is closed.
  func end() { (socket, marks) = (nil, []) }
}
