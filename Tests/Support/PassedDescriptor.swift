import Glibc

/// Descriptors that tests pass over Unix sockets (unix(7), SCM_RIGHTS).
public enum PassedDescriptor {
  /// Sends octets with a descriptor, in one message, and closes the descriptor here.
  /// - Parameter socket: The socket.
  public static func send(_ octets: [UInt8], passing descriptor: Int32, over socket: Int32) {
    var octets = octets
    var control: (length: Int, level: Int32, type: Int32, descriptor: Int32, padding: Int32) = (
      20, SOL_SOCKET, 1, descriptor, 0
    )
    octets.withUnsafeMutableBytes { octets in
      withUnsafeMutableBytes(of: &control) { control in
        var part = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
        withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          (message.msg_iov, message.msg_iovlen) = (part, 1)
          (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          _ = sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
        }
      }
    }
    close(descriptor)
  }
}
