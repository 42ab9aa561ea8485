import BledRPC
import Bluetooth

extension Daemon {
  /// How many sessions are listed at a time, so that others do not wait for a long list.
  private static let page = 50

  /// The answer of `session.list`: all sessions in the order of their numbers, or only the caller's own where it may
  /// not see others.
  func describeSessions(_ params: SessionList.Params, to asker: Session) -> SessionList.Result {
    let seesAll = rules.permissions(of: asker).contains(.sessions)
    let listed = sessions.filter { $0.id > params.after ?? 0 && (seesAll || $0 == asker) }.sorted { $0.id < $1.id }
    return .init(
      sessions: listed.prefix(Self.page).map { describe($0, to: asker) }, more: listed.count > Self.page ? true : nil)
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
    description.scan = scans.request(of: session)?.withoutKeys
    central.describe(session, in: &description)
    description.services = server.services(of: session)
    description.advertisements = advertising.advertisements(of: session)
    channels.describe(session, in: &description)
    return description
  }

  func costs(of session: Session) -> SessionDescription.Costs {
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

/// A session's use of resources: counted where it arises, reported by `session.list`.
struct SessionCosts {
  /// Calls that it made.
  var requests = 0
  /// Those of them that failed, at once or later.
  var requestsFailed = 0
  /// Reports and values that were queued for it.
  private(set) var reports = 0
  private(set) var values = 0
  /// Dropped packets of devices that it subscribes on or serves.
  var packetsLost = 0
  private var scan = Stopwatch()
  private var links: [Int: Instant] = [:]
  private var pastLinks = Duration.zero

  /// A line was queued.
  mutating func queued(_ kind: Outbox.Kind) {
    switch kind {
    case .report: reports += 1
    case .value: values += 1
    case .answer, .event: break
    }
  }

  mutating func scanBegan(at now: Instant) { scan.start(at: now) }
  mutating func scanEnded(at now: Instant) { scan.stop(at: now) }

  /// The session uses the link to the device of this number from now on.
  mutating func linkBegan(_ device: Int, at now: Instant) {
    if links[device] == nil { links[device] = now }
  }

  mutating func linkEnded(_ device: Int, at now: Instant) {
    if let since = links.removeValue(forKey: device) { pastLinks += since.duration(to: now) }
  }

  func scanTime(at now: Instant) -> Duration { scan.time(at: now) }

  /// The time with each device, summed up.
  func linkTime(at now: Instant) -> Duration { links.values.reduce(pastLinks) { $0 + $1.duration(to: now) } }
}

/// For how long something was on, all in all.
private struct Stopwatch {
  private var since: Instant?
  private var past = Duration.zero

  mutating func start(at now: Instant) {
    if since == nil { since = now }
  }

  mutating func stop(at now: Instant) {
    past = time(at: now)
    since = nil
  }

  func time(at now: Instant) -> Duration { since.map { past + $0.duration(to: now) } ?? past }
}
