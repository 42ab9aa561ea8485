import BledRPC

/// The process at the other end of a socket, from the kernel (`SO_PEERCRED` and `SO_PEERGROUPS`, unix(7)).
public struct PeerCredentials: Hashable, Sendable {
  /// The process.
  public var process: Int32
  /// Its effective user.
  public var user: UInt32
  /// Its effective group.
  public var group: UInt32
  /// Its supplementary groups.
  public var groups: [UInt32]
  /// Its program's name, if known.
  public var program: String?

  /// No group: the kernel uses this number for none (chown(2)).
  private static let noGroup = UInt32.max

  /// The credentials of a user served by this program.
  func acting(for user: Principal) -> PeerCredentials {
    PeerCredentials(
      process: user.process.flatMap(Int32.init(exactly:)) ?? process, user: user.id,
      group: user.groups?.first ?? Self.noGroup,
      groups: user.groups ?? [], program: program)
  }

  /// Makes credentials.
  public init(process: Int32, user: UInt32, group: UInt32, groups: [UInt32] = [], program: String? = nil) {
    self.process = process
    self.user = user
    self.group = group
    self.groups = groups
    self.program = program
  }
}
