import Glibc

/// Counts the descriptors that were sent to a client and that it may not have read: until then they are the kernel's,
/// and those that are on their way together are limited for the whole daemon (unix(7), ETOOMANYREFS).
final class UnreadDescriptors {
  private var socket: CInt?
  private var sent = 0

  /// - Parameter socket: the client's.
  init(of socket: CInt) { self.socket = socket }

  /// How many there are; none once the client has read everything.
  var count: Int {
    var waiting: CInt = 0
    if sent > 0, let socket, ioctl(socket, UInt(TIOCOUTQ), &waiting) == 0, waiting == 0 { sent = 0 }
    return sent
  }

  /// One was sent.
  func add(to account: Rules.UserAccount) {
    if !account.unread.contains(where: { $0 === self }) { account.unread.append(self) }
    sent += 1
  }

  /// The socket is closed.
  func end() { (socket, sent) = (nil, 0) }
}
