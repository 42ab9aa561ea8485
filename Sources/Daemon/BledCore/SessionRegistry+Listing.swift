import BledRPC
import Bluetooth

extension SessionRegistry {
  /// Sessions listed at a time, so others do not wait for a long list.
  private static let page = 50

  /// The answer of `session.list`: all sessions in number order, or only the caller's own if it may not see others.
  func describe(_ params: SessionList.Params, to asker: Session) -> SessionList.Result {
    let seesAll = rules.permissions(of: asker).contains(.sessions)
    let listed = all.filter { $0.id > params.after ?? 0 && (seesAll || $0 == asker) }.sorted { $0.id < $1.id }
    return .init(
      sessions: listed.prefix(Self.page).map { describe($0, to: asker) }, more: listed.count > Self.page ? true : nil)
  }

  private func describe(_ session: Session, to asker: Session) -> SessionDescription {
    var description = SessionDescription(
      session: session.id, mine: session == asker, since: session.since,
      permissions: rules.permissions(of: session).words(), costs: session.description(ofCostsAt: scheduler.now))
    description.name = session.name.isEmpty ? nil : session.name
    description.process = session.credentials.map { Int($0.process) }
    description.user = session.credentials.map { Int($0.user) }
    if let connection = session.connection, connection.isImpersonating {
      description.impersonator = connection.peer.map { Int($0.user) }
    }
    description.program = session.credentials?.program
    description.restore = session.restoration?.identifier
    description.preserved = session.isPresent ? nil : true
    holdings.describe(session, in: &description)
    return description
  }
}
