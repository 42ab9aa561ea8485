import FrameworkSupport

/// This program's sessions, by their peers and the secrets known to their members.
enum Memberships {
  private struct Key: Hashable {
    let identifier: UInt64
    let token: GroupToken
  }

  private static let sessions = Guarded<[Key: WeakReference<SessionEngine>]>([:])

  /// The session of this program's peer whose members know this secret.
  static func session(of identifier: UInt64, _ token: GroupToken) -> SessionEngine? {
    sessions.with { $0[Key(identifier: identifier, token: token)]?.object }
  }

  /// Adds a secret; a later session of the same peer replaces an earlier one.
  static func add(_ token: GroupToken, of session: SessionEngine) {
    sessions.with { $0[Key(identifier: session.own.identifier, token: token)] = WeakReference(session) }
  }

  /// Removes a secret, unless another session has replaced this one.
  static func remove(_ token: GroupToken, of session: SessionEngine) {
    sessions.with { sessions in
      let key = Key(identifier: session.own.identifier, token: token)
      if let other = sessions[key]?.object, other !== session { return }
      sessions[key] = nil
    }
  }
}
