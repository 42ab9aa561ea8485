import BledRPC
import FoundationEssentials

/// The stored sessions. Oversized sessions are omitted from the file, so no user makes it unreadable for all.
struct StoredSessions: Codable, Sendable {
  /// Maximum JSON octets for one session, all of one user, and all together.
  static let (largest, largestOfUser, largestOfAll) = (256 << 10, 1 << 20, 15 << 20)

  /// The sessions, oldest first.
  var sessions: [StoredSession]

  /// The sessions with room, in their order, and a remark on each of the others.
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

/// A stored session.
struct StoredSession: Codable, Sendable {
  /// Its program's user.
  var user: UInt32?
  /// Its group and supplementary groups, which may grant necessary permissions.
  var group: UInt32?
  /// See `group`.
  var groups: [UInt32]?
  /// Its restoration identifier.
  var identifier: String
  /// The program's name for itself.
  var name: String
  /// Its requested retention in seconds.
  var keep: Double?
  /// True if it declared that it runs in the background.
  var background: Bool
  /// When its program disconnected, in seconds since the epoch; nil if it was connected until the daemon ended.
  var since: Double?
  /// The session's holdings.
  var state: RestoredState
}

extension StoredSession {
  /// Its program's credentials; nil if unknown.
  var credentials: PeerCredentials? {
    // An unknown group is (gid_t)-1, which no process has.
    user.map { PeerCredentials(process: 0, user: $0, group: group ?? .max, groups: groups ?? []) }
  }
}

extension RestoredState {
  /// True if it holds nothing.
  var isEmpty: Bool {
    scan == nil && scans == nil && peripherals.isEmpty && services.isEmpty && advertisements.isEmpty
  }

  /// Removes resources without the necessary permissions.
  /// - Returns: true if there were any.
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
