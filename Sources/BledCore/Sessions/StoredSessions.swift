import BledRPC

/// What is stored of the sessions that are to be kept.
struct StoredSessions: Codable, Sendable {
  /// The sessions in the order in which they began.
  var sessions: [StoredSession]
}

/// One session in the store.
struct StoredSession: Codable, Sendable {
  /// Who its program runs as.
  var user: UInt32?
  /// Its restoration identifier.
  var identifier: String
  /// What its program calls itself.
  var name: String
  /// For how many seconds it asked to be kept.
  var keep: Double?
  /// Whether it said that it works in the background.
  var background: Bool
  /// Since when its program is gone, in seconds since the epoch; nil if it was there until the daemon ended.
  var since: Double?
  /// What it held.
  var state: RestoredState
}

extension RestoredState {
  /// Whether there is nothing to keep.
  var isEmpty: Bool {
    scan == nil && peripherals.isEmpty && services.isEmpty && advertisements.isEmpty
  }
}
