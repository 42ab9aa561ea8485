import BledRPC
import Glibc

/// A descriptor on its way to a client, which gets a duplicate of it. Closed with the last reference: when the kernel
/// has accepted it, or when it can no longer be sent. That ends the connection for the other end's holder.
public final class PassedDescriptor {
  let number: Int32
  /// The user's account while it is queued.
  private var account: Rules.UserAccount?

  /// Takes ownership of an open descriptor.
  init(_ number: Int32) { self.number = number }

  deinit {
    close(number)
    account?.waitingDescriptors -= 1
  }

  /// Counts it for a user until it has been sent or closed.
  func charge(_ account: Rules.UserAccount) {
    guard self.account == nil else { return }
    self.account = account
    account.waitingDescriptors += 1
  }

  /// The descriptor was sent: it counts until the client has read it.
  func sent(_ unread: UnreadDescriptors) {
    if let account { unread.add(to: account) }
  }

  /// Sends octets on a Unix stream socket, and the descriptor with the first of them (unix(7), SCM_RIGHTS).
  /// - Parameter octets: at least one.
  /// - Returns: the number of octets sent, the descriptor with them; -1 with errno if none.
  func send(with octets: UnsafeRawBufferPointer, on socket: Int32, flags: Int32) -> Int {
    var rights = PassedRights(descriptor: number)
    return rights.withHeader(of: UnsafeMutableRawBufferPointer(mutating: octets)) { sendmsg(socket, $0, flags) }
  }
}
