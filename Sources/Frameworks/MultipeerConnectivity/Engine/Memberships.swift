import FrameworkSupport

/// The sessions of this program, by their peers and the secrets that their members know.
enum Memberships {
  private struct Key: Hashable {
    let identifier: UInt64
    let token: GroupToken
  }

  private static let sessions = Guarded<[Key: WeakReference<SessionEngine>]>([:])

  /// The session of a peer of this program whose members know this secret.
  static func session(of identifier: UInt64, _ token: GroupToken) -> SessionEngine? {
    sessions.with { $0[Key(identifier: identifier, token: token)]?.object }
  }

  /// Adds a secret; a later session of the same peer takes the place of an earlier one.
  static func add(_ token: GroupToken, of session: SessionEngine) {
    sessions.with { $0[Key(identifier: session.own.identifier, token: token)] = WeakReference(session) }
  }

  /// Removes a secret, unless another session has taken the place of this one.
  static func remove(_ token: GroupToken, of session: SessionEngine) {
    sessions.with { sessions in
      let key = Key(identifier: session.own.identifier, token: token)
      if let other = sessions[key]?.object, other !== session { return }
      sessions[key] = nil
    }
  }
}
