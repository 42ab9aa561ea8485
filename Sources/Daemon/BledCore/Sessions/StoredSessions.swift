import BledRPC
import FoundationEssentials

/// The stored sessions. Sessions that are too large are left out when the file is written, so that no user
/// makes the file unreadable for all.
struct StoredSessions: Codable, Sendable {
  /// The octets of JSON that one session, all of one user, and all together may take.
  static let (largest, largestOfUser, largestOfAll) = (256 << 10, 1 << 20, 15 << 20)

  /// The sessions in the order in which they began.
  var sessions: [StoredSession]

  /// The sessions that have room, in their order, and a remark on each one that does not.
  func fitting() throws -> (StoredSessions, remarks: [String]) {
    var users: [UInt32?: Int] = [:]
    var all = 0
    var remarks: [String] = []
    let fitting = try sessions.filter { session in
      let octets = try JSONEncoder().encode(session).count
      let ofUser = users[session.user, default: 0] + octets
      guard octets <= Self.largest, ofUser <= Self.largestOfUser, all + octets <= Self.largestOfAll else {
        remarks.append(session.tooLarge())
        return false
      }
      users[session.user] = ofUser
      all += octets
      return true
    }
    return (StoredSessions(sessions: fitting), remarks)
  }
}

/// One session in the store.
struct StoredSession: Codable, Sendable {
  /// The user of its program.
  var user: UInt32?
  /// Its group and its supplementary groups, which may grant the permissions that it needs.
  var group: UInt32?
  /// See `group`.
  var groups: [UInt32]?
  /// Its restoration identifier.
  var identifier: String
  /// The program's name for itself.
  var name: String
  /// For how many seconds it asked to be kept.
  var keep: Double?
  /// Whether it said that it works in the background.
  var background: Bool
  /// When its program disconnected, in seconds since the epoch; nil if it was connected until the daemon ended.
  var since: Double?
  /// The holdings of the session.
  var state: RestoredState
}

extension StoredSession {
  /// The credentials of its program; nil if they are not known.
  var credentials: PeerCredentials? {
    // An unknown group is (gid_t)-1, which no process has.
    user.map { PeerCredentials(process: 0, user: $0, group: group ?? .max, groups: groups ?? []) }
  }
}

extension RestoredState {
  /// Whether there is nothing to keep.
  var isEmpty: Bool {
    scan == nil && scans == nil && peripherals.isEmpty && services.isEmpty && advertisements.isEmpty
  }

  /// Removes resources that these permissions do not allow.
  /// - Returns: whether there was any.
  mutating func limit(to permissions: Set<Permission>) -> Bool {
    let before = [scan == nil, scans == nil, peripherals.isEmpty, services.isEmpty, advertisements.isEmpty]
    if !permissions.contains(.scan) { (scan, scans) = (nil, nil) }
    if !permissions.contains(.connect) { peripherals = [] }
    if !permissions.contains(.serve) { services = [] }
    if !permissions.contains(.advertise) { advertisements = [] }
    return before != [scan == nil, scans == nil, peripherals.isEmpty, services.isEmpty, advertisements.isEmpty]
  }
}

extension StoredSession {
  /// The size is left out: it changes from write to write, and the log says the same thing once.
  fileprivate func tooLarge() -> String {
    "the session \"\(identifier)\" of user \(user.map(String.init) ?? "unknown") will not survive a restart of bled: it, or all that is stored for its user, is too large"
  }
}
