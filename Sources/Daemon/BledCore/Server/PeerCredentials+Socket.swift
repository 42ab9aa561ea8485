import FoundationEssentials
import Glibc

extension PeerCredentials {
  /// `struct ucred` of unix(7), which Glibc declares with its extensions only.
  private typealias UserCredentials = (process: pid_t, user: uid_t, group: gid_t)

  /// Asks the kernel for a Unix socket's peer; nil on failure. The kernel identifies the process at the time of
  /// connecting, with its groups then: nothing is looked up anywhere.
  init?(ofSocket descriptor: CInt) {
    var peer: UserCredentials = (0, 0, 0)
    var length = socklen_t(MemoryLayout<UserCredentials>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else { return nil }
    self.init(
      process: peer.process, user: peer.user, group: peer.group, groups: Self.groups(ofSocket: descriptor),
      program: Self.program(of: peer.process))
  }

  private static func groups(ofSocket descriptor: CInt) -> [UInt32] {
    var groups = [gid_t](repeating: 0, count: 64)
    for _ in 0..<2 {
      let room = socklen_t(groups.count * MemoryLayout<gid_t>.stride)
      var length = room
      if getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 {
        return Array(groups.prefix(Int(length) / MemoryLayout<gid_t>.stride))
      }
      // The kernel says how much room it needs; a process has at most 65,536 groups.
      guard errno == ERANGE, length > room else { return [] }
      groups = [gid_t](repeating: 0, count: Int(length) / MemoryLayout<gid_t>.stride)
    }
    return []
  }

  /// The name of a running process's program; see proc_pid_comm(5).
  private static func program(of process: pid_t) -> String? {
    guard let octets = try? Data(contentsOf: URL(filePath: "/proc/\(process)/comm")) else { return nil }
    return String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init)
  }
}
