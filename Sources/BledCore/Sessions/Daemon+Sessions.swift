import BledRPC
import Bluetooth

extension Daemon {
  /// What `session.list` tells a session: all of them, or itself where it may not see others.
  func describeSessions(to asker: Session) -> [SessionDescription] {
    let seesAll = rules.permissions(of: asker).contains(.sessions)
    return sessions.filter { seesAll || $0 == asker }.map { describe($0, to: asker) }
  }

  private func describe(_ session: Session, to asker: Session) -> SessionDescription {
    var description = SessionDescription(
      session: session.id, mine: session == asker, since: session.since,
      permissions: rules.permissions(of: session).map(\.rawValue), costs: costs(of: session))
    description.name = session.name.isEmpty ? nil : session.name
    description.process = session.credentials.map { Int($0.process) }
    description.user = session.credentials.map { Int($0.user) }
    description.program = session.credentials?.program
    description.restore = session.restoration?.identifier
    description.preserved = session.isPresent ? nil : true
    description.scan = scans.wish(of: session)
    central.describe(session, in: &description)
    description.services = server.services(of: session)
    description.advertisements = advertising.advertisements(of: session)
    return description
  }

  private func costs(of session: Session) -> SessionDescription.Costs {
    let now = scheduler.now
    var costs = SessionDescription.Costs()
    costs.requests = session.costs.requests
    costs.requestsFailed = session.costs.requestsFailed
    costs.scanTime = session.costs.scanTime(at: now).inSeconds
    costs.reports = session.costs.reports
    costs.reportsCoalesced = session.outbox.coalescedReports
    costs.reportsDropped = session.outbox.droppedReports
    costs.linkTime = session.costs.linkTime(at: now).inSeconds
    costs.values = session.costs.values
    costs.valuesRefused = session.outbox.refusedValues
    costs.packetsLost = session.costs.packetsLost
    costs.linksSlowed = session.slowedLinks
    costs.queueOctets = session.outbox.waiting
    return costs
  }
}
