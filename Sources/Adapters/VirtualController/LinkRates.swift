import HCI

/// The connection events that a link uses (Core 5.4, Vol 6, Part B, 4.5.1).
struct Subrating: Hashable {
  /// The number of events to each used one.
  var factor: UInt16 = 1
  /// A used one, from which the others are counted.
  var base: UInt16 = 0
  /// Further events used after one with data.
  var continuation: UInt16 = 0

  /// The distance from an event to the next used one; 0 if it is used itself.
  fileprivate func distance(from event: UInt16) -> UInt16 {
    let rest = (event &- base) % max(1, factor)
    return rest == 0 ? 0 : factor - rest
  }
}

/// The features of a controller and its host (Core 6.2, Vol 6, Part B, 4.6).
struct ControllerFeatures: Hashable {
  var first = LEFeatures()
  var more = LEMoreFeatures()

  static let subrating: LEFeatures = [.connectionSubrating, .connectionSubratingHostSupport]
  static let shortIntervals: LEMoreFeatures = [
    .shorterConnectionIntervals, .shorterConnectionIntervalsHostSupport,
  ]
}

/// The rates that peripherals may request of a central (Core 6.2, Vol 4, Part E, 7.8.123 and 7.8.155).
struct AcceptableRates: Hashable {
  /// The interval of this one has no meaning.
  var subrate = ConnectionRate()
  var rate = ConnectionRate()
}

/// The used connection events of one end of a link.
///
/// A central that has announced another subrating uses the events of both until that is acknowledged (Core 5.4, Vol 6,
/// Part B, 5.1.19).
struct LinkRates {
  private var present = Subrating()
  private var announced: Subrating?
  /// The last event with data.
  private var last: UInt16?

  /// The events from one of both sides to the next.
  var factor: UInt16 { present.factor }
  var continuation: UInt16 { present.continuation }

  mutating func announce(_ new: Subrating) { announced = new }

  mutating func adopt(_ new: Subrating) { (present, announced, last) = (new, nil, nil) }

  /// An event carried data.
  mutating func hadData(at event: UInt16) { last = event }

  /// True if an event is used because there was data before.
  private func continues(_ event: UInt16) -> Bool {
    last.map { event != $0 && event &- $0 <= present.continuation } ?? false
  }

  /// The distance from an event to the next used one; 0 if it is used itself.
  func distance(from event: UInt16) -> UInt16 {
    if continues(event) { return 0 }
    return min(present.distance(from: event), announced?.distance(from: event) ?? .max)
  }

  /// True if a peripheral with this latency must listen at a used event.
  func isDue(_ event: UInt16, latency: UInt16) -> Bool {
    continues(event) || (event &- present.base) / max(1, present.factor) % (latency &+ 1) == 0
  }
}

// MARK: - Requests

extension ConnectionRate {
  /// The parameters of LE Subrate Request and LE Set Default Subrate; the interval has no meaning.
  init(_ minimum: UInt16, _ maximum: UInt16, latency: UInt16, continuation: UInt16 = 0, timeout: UInt16) {
    self.init()
    (subrateMin, subrateMax) = (minimum, maximum)
    (maximumLatency, continuationNumber, supervisionTimeout) = (latency, continuation, timeout)
  }

  /// Returns the rate if HCI permits its values (Core 6.2, Vol 4, Part E, 7.8.124 and 7.8.154).
  func validated() throws(Refusal) -> ConnectionRate {
    let isValid =
      subrateMin >= 1 && subrateMin <= subrateMax && subrateMax <= 500 && maximumLatency <= 499
      && Int(subrateMax) * (Int(maximumLatency) + 1) <= 500 && continuationNumber < subrateMax
      && (10...0x0C80).contains(supervisionTimeout) && intervalMin >= 3 && intervalMin <= intervalMax
      && intervalMax <= 0x7D00
    guard isValid else { throw Refusal(.invalidHCICommandParameters) }
    return self
  }

  /// True if the timeout is long enough for links of this interval, in 0.125 ms.
  func allows(_ interval: UInt16) -> Bool {
    Int(supervisionTimeout) * 80 > (1 + Int(maximumLatency)) * Int(subrateMax) * Int(interval) * 2
  }

  /// The subrating that a central chooses: the lowest factor.
  func subrating(from event: UInt16) -> Subrating {
    Subrating(factor: subrateMin, base: event, continuation: min(continuationNumber, subrateMin - 1))
  }

  /// A peripheral's request, as the central grants it; nil if it does not.
  func granted(by limits: ConnectionRate) -> ConnectionRate? {
    var granted = self
    granted.subrateMin = max(subrateMin, limits.subrateMin)
    granted.intervalMin = max(intervalMin, limits.intervalMin)
    guard granted.subrateMin <= min(subrateMax, limits.subrateMax),
      granted.intervalMin <= min(intervalMax, limits.intervalMax), maximumLatency <= limits.maximumLatency,
      supervisionTimeout <= limits.supervisionTimeout
    else { return nil }
    return granted
  }
}
