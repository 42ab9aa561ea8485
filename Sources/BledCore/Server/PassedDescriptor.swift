import Glibc

/// A descriptor on its way to a client, which gets a duplicate of it. Closed with the last reference: when the kernel
/// has taken it, or when it can no longer be sent. Who holds the other end of it sees that as the end.
public final class PassedDescriptor {
  let number: Int32
  /// Who it is counted for while it waits.
  private var account: Rules.UserAccount?

  /// Takes ownership of an open descriptor.
  init(_ number: Int32) { self.number = number }

  deinit {
    close(number)
    account?.descriptors -= 1
  }

  /// Counts it for a user until it has been sent or closed.
  func charge(_ account: Rules.UserAccount) {
    guard self.account == nil else { return }
    self.account = account
    account.descriptors += 1
  }

  /// Sends octets on a Unix stream socket, and the descriptor with the first of them (unix(7), SCM_RIGHTS).
  /// - Parameter octets: at least one.
  /// - Returns: how many octets the kernel took, the descriptor with them; -1 with errno if none.
  func send(with octets: UnsafeRawBufferPointer, on socket: Int32, flags: Int32) -> Int {
    var rights = Rights(descriptor: number)
    return withUnsafeMutableBytes(of: &rights) { control in
      var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: octets.baseAddress), iov_len: octets.count)
      return withUnsafeMutablePointer(to: &part) { part in
        var message = msghdr()
        message.msg_iov = part
        message.msg_iovlen = 1
        message.msg_control = control.baseAddress
        message.msg_controllen = control.count
        return sendmsg(socket, &message, flags)
      }
    }
  }

  /// The control message of cmsg(3) with one descriptor, whose macros Swift does not have.
  private struct Rights {
    /// Without the padding at the end.
    var length = MemoryLayout<Int>.size + 3 * MemoryLayout<Int32>.size
    var level = SOL_SOCKET
    var type = Int32(SCM_RIGHTS)
    var descriptor: Int32
    var padding: Int32 = 0
  }
}
