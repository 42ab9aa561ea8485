import Bluetooth
import EventLoop
import Glibc

/// A socket pair carrying a channel's octets between the daemon and a program.
struct ChannelPair {
  let own: any ProgramEnd
  let passed: PassedDescriptor

  init(own: any ProgramEnd, passed: PassedDescriptor) {
    self.own = own
    self.passed = passed
  }

  /// Makes a pair of connected sockets; the program's end is blocking.
  /// - Throws: `BledError.limitReached` without descriptors or memory.
  init(keepsPackets: Bool, on loop: EventLoop) throws(BluetoothError) {
    var ends: [CInt] = [-1, -1]
    let type = CInt((keepsPackets ? SOCK_SEQPACKET : SOCK_STREAM).rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Self.lacking }
    passed = PassedDescriptor(ends[1])
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    do throws(EventLoopError) {
      own = try SocketEnd(ends[0], keepsPackets: keepsPackets, on: loop)
    } catch {
      throw Self.lacking
    }
  }

  private static var lacking: BluetoothError {
    BledError.limitReached.error("bled has no descriptor left for a channel: close some channels or programs")
  }
}
