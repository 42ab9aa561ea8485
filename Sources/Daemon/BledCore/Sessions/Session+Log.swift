import Logging

extension Logger.Metadata {
  /// A message's session, for the fields of the journal.
  static func about(session: Session) -> Logger.Metadata { ["SESSION": "\(session.id)"] }
}
