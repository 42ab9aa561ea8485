import Logging

extension Logger.Metadata {
  /// The session that a message is about, for the fields of the journal.
  static func about(session: Session) -> Logger.Metadata { ["SESSION": "\(session.id)"] }
}
