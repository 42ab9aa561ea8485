import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// The sessions with a restoration identifier.
///
/// | State     | Input                                 | Effect                                               |
/// |-----------|---------------------------------------|------------------------------------------------------|
/// | (none)    | `session.open` with the identifier    | → live                                               |
/// | live      | the same by another program           | that one is refused, with the process that has it    |
/// | live      | its connection ends                   | its resources stay and are listed, alarm → preserved |
/// | preserved | `session.open` with the identifier    | that program continues it and gets the list → live   |
/// | preserved | alarm, `session.end`, too many events | everything is given back → (none)                    |
/// | live      | `session.end`, the daemon stops       | everything is given back → (none)                    |
///
/// The sessions' resources are stored, and a starting daemon finds them there: as preserved sessions, even if their
/// programs were connected.
final class Restorations {
  /// Maximum sessions per user with an identifier.
  static let maximumPerUser = 32

  private final class Entry {
    let session: Session
    var retention: Duration?
    /// When its program disconnected, in seconds since the epoch.
    var since: Double?
    /// True if its program has been asked to return.
    var isAwaited = false
    var preserved: (state: RestoredState, alarm: any ScheduledWork, end: () -> Void)?
    init(_ session: Session) { self.session = session }
  }

  /// Maximum time for preserving a session; zero: none is preserved.
  var limit: Duration {
    didSet {
      for entry in entries.values {
        guard let (state, alarm, end) = entry.preserved else { continue }
        alarm.cancel()
        entry.preserved = (state, self.alarm(for: entry, goneSince: state.since, end), end)
      }
    }
  }
  private let scheduler: any Scheduler
  private let wakes: WakeFolder?
  private var entries: [RestorationKey: Entry] = [:]
  /// Returns a session's resources. Set before the first session is opened.
  var describe: (Session) -> RestoredState = { _ in
    RestoredState(since: 0, scan: nil, peripherals: [], services: [], advertisements: [])
  }
  private var document: StoredDocument<StoredSessions>?
  /// The previous daemon's sessions that are not restored yet.
  private var left: [StoredSession] = []
  /// The sessions to store from now on, as the daemon stops.
  private var last: [StoredSession]?

  init(settings: RestorationSettings, store: Store, scheduler: any Scheduler, logger: Logger) {
    limit = settings.limit
    wakes = settings.wakes
    self.scheduler = scheduler
    let document = store.document("sessions", version: 1) {
      try $0.fitting()
    } content: { [unowned self] in
      StoredSessions(sessions: stored)
    }
    self.document = document
    left = document.load()?.sessions ?? []
  }

  /// Gives a live session an unused identifier.
  func enter(_ session: Session, as key: RestorationKey) throws(BluetoothError) {
    if let other = entries[key] { throw Self.inUse(key, by: other.session) }
    let others = entries.keys.count { $0.user == key.user }
    guard others < Self.maximumPerUser else {
      throw BledError.limitReached.error(
        "this user has \(others) sessions with a restoration identifier, which is the limit; end some with \(SessionEnd.name)"
      )
    }
    entries[key] = Entry(session)
    session.restoration = key
    session.onChange = { [unowned self] isOwn in document?.changed(isUrgent: isOwn) }
  }

  /// Sets a session's requested retention.
  func setRetention(of session: Session, to time: Duration) { entry(of: session)?.retention = time }

  /// True if the session is preserved when its program disconnects.
  func isPreserved(_ session: Session) -> Bool { entry(of: session) != nil && limit > .zero }

  /// The preserved session with an identifier, which is live from now on; nil if there is none.
  /// - Throws: if another program has it.
  func claim(_ key: RestorationKey) throws(BluetoothError) -> (session: Session, state: RestoredState)? {
    guard let entry = entries[key] else { return nil }
    guard let (state, alarm, _) = entry.preserved else { throw Self.inUse(key, by: entry.session) }
    alarm.cancel()
    entry.preserved = nil
    entry.since = nil
    stopAwaiting(entry, key)
    return (entry.session, state)
  }

  /// The preserved session with an identifier, which stays preserved.
  func find(_ key: RestorationKey) throws(BluetoothError) -> Session {
    guard let entry = entries[key] else {
      throw BledError.unknownHandle.error("no session \"\(key.identifier)\" of this user is kept")
    }
    guard entry.preserved != nil else { throw Self.inUse(key, by: entry.session) }
    return entry.session
  }

  /// Preserves a session after its program has disconnected.
  /// - Parameter end: called when the time to keep it is over.
  func preserve(_ session: Session, _ state: RestoredState, end: @escaping () -> Void) {
    guard let entry = entry(of: session) else { return }
    entry.preserved = (state, alarm(for: entry, goneSince: state.since, end), end)
    entry.since = state.since
    document?.changed()
  }

  private func alarm(
    for entry: Entry, goneSince since: Double, _ end: @escaping () -> Void
  ) -> any ScheduledWork {
    let most = min(entry.retention ?? limit, limit)
    // The store's content may be anything.
    let gone = min(max(0, scheduler.secondsSinceEpoch - since), most.inSeconds)
    return scheduler.schedule(after: max(most - .seconds(gone), .zero), end)
  }

  /// An event of interest to a preserved session's program has happened.
  func wake(_ session: Session) {
    guard let key = session.restoration, let entry = entry(of: session), !entry.isAwaited else { return }
    entry.isAwaited = true
    wakes?.add(key.identifier)
  }

  /// A session has released everything.
  func forget(_ session: Session) {
    guard let key = session.restoration, let entry = entries[key], entry.session == session else { return }
    entry.preserved?.alarm.cancel()
    stopAwaiting(entry, key)
    entries[key] = nil
    document?.changed()
  }

  /// The previous daemon's sessions, once.
  func claimLeft() -> [StoredSession] {
    defer { left = [] }
    return left
  }

  /// The daemon stops: the next daemon finds the sessions' present resources.
  func freeze() {
    last = stored
    document?.changed()
  }

  private var stored: [StoredSession] {
    if let last { return last }
    let current = entries.sorted { $0.value.session.id < $1.value.session.id }.compactMap { key, entry in
      let state = describe(entry.session)
      return state.isEmpty
        ? nil
        : StoredSession(
          user: key.user, group: entry.session.credentials?.group, groups: entry.session.credentials?.groups,
          identifier: key.identifier, name: entry.session.name, keep: entry.retention?.inSeconds,
          background: entry.session.asksForBackground, since: entry.since, state: state)
    }
    return left + current
  }

  private func stopAwaiting(_ entry: Entry, _ key: RestorationKey) {
    guard entry.isAwaited else { return }
    entry.isAwaited = false
    wakes?.remove(key.identifier)
  }

  private func entry(of session: Session) -> Entry? {
    session.restoration.flatMap { entries[$0] }.flatMap { $0.session == session ? $0 : nil }
  }

  private static func inUse(_ key: RestorationKey, by session: Session) -> BluetoothError {
    let process = session.credentials.map { "process \($0.process)" } ?? "another connection"
    return BledError.alreadyInProgress.error(
      "session \(session.id) of \(process) already has the identifier \"\(key.identifier)\": end that session, or choose another identifier"
    )
  }
}

/// The retention of sessions for disconnected programs.
public struct RestorationSettings {
  /// Maximum time; zero: no session is preserved.
  public var limit: Duration
  /// The directory of files that wake programs; nil: none.
  public var wakes: WakeFolder?

  /// Makes settings.
  public init(limit: Duration = .seconds(3600), wakes: WakeFolder? = nil) {
    self.limit = limit
    self.wakes = wakes
  }
}

/// A preserved session's key: a user cannot take over another user's session. Identifiers are compared as octets, since
/// strings equal in Swift may have different ones.
struct RestorationKey: Hashable {
  /// Maximum octets of an identifier.
  static let longest = 128

  /// The program's user; nil where the transport does not know.
  let user: UInt32?
  /// The identifier chosen by the program.
  var identifier: String { text.string }
  private let text: OctetText

  /// - Throws: `BledError.invalidParameter`.
  init(_ identifier: String, user: UInt32?) throws(BluetoothError) {
    guard (1...Self.longest).contains(identifier.utf8.count), identifier.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
    else {
      throw BledError.invalidParameter.error(
        "\"restore\" must have 1 to \(Self.longest) octets and no control characters")
    }
    self.user = user
    text = OctetText(identifier)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.user == right.user && left.identifier.utf8.elementsEqual(right.identifier.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(user)
    hasher.combine(Array(identifier.utf8))
  }
}
