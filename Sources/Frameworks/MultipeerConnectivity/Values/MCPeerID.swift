import FrameworkSupport
import NearbySessions

/// A peer: its identifier, which no other has, and its name, which others may have, too.
///
/// Two peers made with one name are different. A peer read from an archive equals the archived one.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding {
  /// The longest name, in octets of UTF-8.
  private static let longestName = 63
  /// The identifier (8 octets) and the name.
  private static let archiveKey = "peer"

  /// The name.
  public let displayName: String
  let identifier: UInt64
  /// For this program's peer: the daemon and the adapter.
  let place: Place

  /// Makes a new peer.
  /// - Parameter displayName: at most 63 octets of UTF-8; a longer one ends the program. Other peers see it without
  ///   control characters. An empty one, like `Host.current().localizedName` on Linux, stands for the host's name.
  public convenience init(displayName: String) { self.init(displayName: displayName, place: .environment) }

  convenience init(displayName: String, place: Place) {
    guard displayName.utf8.count <= Self.longestName else {
      ProgramLog.raise("the name of a peer has 1 to \(Self.longestName) octets of UTF-8")
    }
    let name = displayName.isEmpty ? PeerName.valid(ProcessInfo.processInfo.hostName) : displayName
    self.init(PeerIdentity(identifier: .random(in: 1 ... .max), name: name), place: place)
  }

  init(_ identity: PeerIdentity, place: Place = .environment) {
    identifier = identity.identifier
    displayName = identity.name
    self.place = place
  }

  /// Reads an archived peer.
  public required init?(coder: NSCoder) {
    guard let octets = coder.decodeObject(of: NSData.self, forKey: Self.archiveKey).map({ Array($0) }),
      let name = String(validating: octets.dropFirst(8), as: UTF8.self), 1...Self.longestName ~= name.utf8.count
    else { return nil }
    identifier = UInt64(octets.prefix(8))
    displayName = name
    place = .environment
  }

  /// Peers can be read from untrusted archives.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the peer into an archive.
  open func encode(with coder: NSCoder) {
    // One value: programs expect archives of one peer to be equal, and with more values the order varies.
    coder.encode(NSData(data: Data(identifier.octets + displayName.utf8)), forKey: Self.archiveKey)
  }

  /// A peer does not change: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns true for the same peer.
  open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.identifier == identifier }

  /// Equal for the same peer, in each program.
  open override var hash: Int { Int(truncatingIfNeeded: identifier) }

  /// Its name.
  open override var description: String { "<MCPeerID: DisplayName = \(displayName)>" }

  /// The peer as a plain value.
  var identity: PeerIdentity { PeerIdentity(identifier: identifier, name: displayName) }
}

/// A peer as a value, for tables and tasks.
struct PeerIdentity: Hashable, Sendable {
  var identifier: UInt64
  var name: String
}

extension UInt64 {
  /// The octets, most significant first.
  var octets: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { Array($0) } }

  /// The number of at most eight octets.
  init(_ octets: some Collection<UInt8>) { self = octets.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The way to the radio: a daemon and one of its adapters.
struct Place: Hashable, Sendable {
  /// The daemon's socket; nil: the usual one.
  var socket: String?
  /// The adapter's name or address; nil: the first.
  var adapter: String?
  /// The clock of all limits; tests hold it.
  var clock: any Clock<Duration> = ContinuousClock()

  static func == (left: Place, right: Place) -> Bool { left.socket == right.socket && left.adapter == right.adapter }

  func hash(into hasher: inout Hasher) {
    hasher.combine(socket)
    hasher.combine(adapter)
  }

  /// As BLED_SOCKET and BLED_ADAPTER say.
  static var environment: Place {
    let variables = ProcessInfo.processInfo.environment
    let value = { (name: String) in variables[name].flatMap { $0.isEmpty ? nil : $0 } }
    return Place(socket: value("BLED_SOCKET"), adapter: value("BLED_ADAPTER"))
  }
}
