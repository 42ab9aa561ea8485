import Bluetooth

/// A session's use of resources: counted where it arises, reported by `session.list`.
struct SessionCosts {
  /// Its calls.
  var requests = 0
  /// Its failed calls, at once or later.
  var requestsFailed = 0
  /// Reports and values queued for it.
  private(set) var reports = 0
  private(set) var values = 0
  /// Dropped packets from devices with its subscriptions or services.
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

  /// The session uses the link to the device with this number from now on.
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

/// The total time of a state.
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
