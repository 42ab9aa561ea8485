import Glibc

/// The control message of cmsg(3) with one descriptor (unix(7), SCM_RIGHTS), whose macros Swift does not have.
package struct PassedRights {
  /// Its length with a descriptor, without the padding at the end.
  private static let whole = MemoryLayout<Int>.size + 3 * MemoryLayout<Int32>.size

  /// 0 if no message was received.
  private var length = 0
  private var level: Int32 = 0
  private var type: Int32 = 0
  private var number: Int32 = 0
  private var padding: Int32 = 0

  /// Makes room for a received descriptor.
  package init() {}

  /// Makes a message with a descriptor to send.
  package init(descriptor: Int32) {
    (length, level, type, number) = (Self.whole, SOL_SOCKET, Int32(SCM_RIGHTS), descriptor)
  }

  /// The descriptor received; nil if there was none.
  package var descriptor: Int32? {
    length == Self.whole && level == SOL_SOCKET && type == Int32(SCM_RIGHTS) ? number : nil
  }

  /// Calls sendmsg or recvmsg with a header of this message and octets.
  package mutating func withHeader(
    of octets: UnsafeMutableRawBufferPointer, _ call: (UnsafeMutablePointer<msghdr>) -> Int
  ) -> Int {
    withUnsafeMutableBytes(of: &self) { control in
      var part = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
      return withUnsafeMutablePointer(to: &part) { part in
        var header = msghdr()
        (header.msg_iov, header.msg_iovlen) = (part, 1)
        (header.msg_control, header.msg_controllen) = (control.baseAddress, control.count)
        return call(&header)
      }
    }
  }
}
