import BledRPC
import Bluetooth
import JSONFiles

// Permissions for users and groups, and the limits of their resources.

extension Configuration {
  /// The permissions of programs.
  public struct Policy: Hashable, Sendable, ConfigurationPart {
    /// A holder of a permission.
    public enum Grantee: Hashable, Sendable {
      /// Every user that can open the socket.
      case everyone
      /// A user, by name or number.
      case user(String)
      /// The members of a group, by name or number.
      case group(String)
    }

    /// The user for `bled-bluez`, a package that may not be installed.
    static let facade = Grantee.user("bled-bluez")
    /// The users of `bled-hid` and `bled-midi`, likewise: they use bonded devices.
    static let bonded = [Grantee.user("bled-hid"), .user("bled-midi")]
    /// The group of all gateways but `bled-bluez`, likewise.
    static let gateways = Grantee.group("bled-gateway")

    /// The grantees of each permission, apart from root and the daemon's own user.
    public var grants: [Permission: [Grantee]] = Dictionary(
      uniqueKeysWithValues: Permission.allCases.map { ($0, $0.defaultGrantees) })

    /// The default policy.
    public init() {}

    static let keys = [Key.policy]
    static let isReloaded = true

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.policy] else { return }
      let members = try FileMembers(section, Permission.self)
      let remedy = "give a list of \"user:NAME\", \"group:NAME\" or \"everyone\"; IDs may be used instead of names"
      for permission in Permission.allCases {
        guard let value = members[permission] else { continue }
        grants[permission] = try value.read([Grantee].self, orSay: remedy)
      }
    }
  }
}

extension Configuration.Policy.Grantee: ReadableFromFile {
  /// Reads "everyone", "user:NAME" or "group:NAME".
  public init(_ value: FileValue) throws(FileError) {
    let text = try value.text(atMost: Self.longest)
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    switch (OctetText(parts.first ?? ""), parts.dropFirst().first) {
    case ("everyone", nil): self = .everyone
    case ("user", let name?) where Self.isName(name): self = .user(name)
    case ("group", let name?) where Self.isName(name): self = .group(name)
    default: throw value.failure("this names no user or group")
    }
  }

  /// The kind and a name, which has at most 256 octets on Linux.
  private static let longest = 6 + 256

  private static func isName(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 } }

  /// As written in the file.
  var text: String {
    switch self {
    case .everyone: "everyone"
    case .user(let name): "user:\(name)"
    case .group(let name): "group:\(name)"
    }
  }
}

extension Permission {
  fileprivate var defaultGrantees: [Configuration.Policy.Grantee] {
    switch self {
    case .scan, .connect: [.group("bluetooth"), Configuration.Policy.gateways]
    case .serve, .advertise: [.group("bluetooth")]
    case .pair: [.group("bluetooth")]
    case .bonds: Configuration.Policy.bonded
    case .impersonate: [Configuration.Policy.facade]
    case .agent, .adapters, .sessions, .capture, .simulation: []
    }
  }
}

extension Limits: ConfigurationPart {
  static let keys = [Configuration.Key.limits]
  static let isReloaded = true

  mutating func read(_ root: FileMembers<Configuration.Key>) throws(FileError) {
    guard let members = try root[.limits]?.members() else { return }
    for member in members where !member.value.isNull {
      if member.isNamed("perUser") {
        for member in try member.value.members() { try Self.read(member, into: &perUser) }
      } else if member.isNamed("perSession") {
        for member in try member.value.members() { try Self.read(member, into: &perSession) }
      } else {
        try Self.read(member, into: &total, besides: ["perUser", "perSession"])
      }
    }
  }

  private static func read(
    _ member: FileMember, into limits: inout [Resource: Int], besides others: [String] = []
  ) throws(FileError) {
    let known = Resource.allCases.filter { limits[$0] != nil }
    guard let resource = known.first(where: { member.isNamed($0.rawValue) }) else {
      throw member.unknown(known.map(\.rawValue) + others)
    }
    guard !member.value.isNull else { return }
    limits[resource] = try member.value.integer(in: resource.least...Int(Int32.max))
  }
}
