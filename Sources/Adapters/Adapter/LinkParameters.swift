import Bluetooth

/// The parameters of a link as the controller told them.
public struct LinkParameters: Hashable, Sendable {
  /// Time between two connection events, 0.375 ms to 4 s; below 7.5 ms only with shorter connection intervals.
  public var interval: Duration
  /// How many events the peripheral may sleep through, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration
  /// The subrate factor: one of so many connection events is used, 1 to 500; `latency` counts the used ones (Core 5.4,
  /// Vol 6, Part B, 4.5.1).
  public var subrate: Int
  /// How many more events are used after one with data, 0 to 499, less than `subrate`.
  public var continuation: Int
  /// Makes a set of parameters; without subrating unless that is given.
  public init(
    interval: Duration, latency: Int, supervisionTimeout: Duration, subrate: Int = 1, continuation: Int = 0
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.subrate = subrate
    self.continuation = continuation
  }

  /// Whether they equal the wanted ones, but for the rounding to the controller's units.
  public func satisfy(_ wanted: ConnectionParameters) -> Bool {
    let timeout = wanted.supervisionTimeout - .milliseconds(5)...wanted.supervisionTimeout + .milliseconds(5)
    // A latency that is asked for with a subrate is a limit (Core 5.4, Vol 4, Part E, 7.8.124).
    let hasLatency = subrate > 1 ? latency <= wanted.latency : latency == wanted.latency
    return hasInterval(of: wanted) && hasSubrate(of: wanted) && hasLatency && timeout.contains(supervisionTimeout)
  }

  /// Whether the interval is one that was wanted.
  public func hasInterval(of wanted: ConnectionParameters) -> Bool {
    func rounding(_ bound: Duration) -> Duration { ConnectionParameters.unit(of: bound) / 2 }
    let (shortest, longest) = (wanted.interval.lowerBound, wanted.interval.upperBound)
    return (shortest - rounding(shortest)...longest + rounding(longest)).contains(interval)
  }

  /// Whether the subrate factor and the continuation number are as wanted.
  public func hasSubrate(of wanted: ConnectionParameters) -> Bool {
    wanted.subrate.contains(subrate) && continuation >= min(wanted.continuation, subrate - 1)
  }
}

/// The wanted parameters of a connection (Core 5.4, Vol 4, Part E, 7.8.12, 7.8.18, 7.8.66 and 7.8.124; Core 6.2,
/// 7.8.154).
public struct ConnectionParameters: Hashable, Sendable {
  /// The range within which the time between two connection events may lie, 0.375 ms to 4 s; an interval below 7.5 ms
  /// needs shorter connection intervals on both sides, and is requested once the link is up.
  public var interval: ClosedRange<Duration>
  /// How many events the peripheral may sleep through, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration
  /// The range within which the subrate factor may lie, 1 to 500; a link begins with 1, and gets it once it is up.
  public var subrate: ClosedRange<Int>
  /// How many more events are to be used after one with data, 0 to 499, less than the highest factor.
  public var continuation: Int
  /// The PHYs on which a device that is to be connected is listened for: LE 1M, LE Coded or both. An adapter without
  /// the coded PHY leaves it out.
  public var phys: Set<PHY>

  /// Makes connection parameters; the defaults suit an ordinary link with low latency.
  public init(
    interval: ClosedRange<Duration> = .milliseconds(15)...(.milliseconds(45)), latency: Int = 0,
    supervisionTimeout: Duration = .seconds(4), subrate: ClosedRange<Int> = 1...1, continuation: Int = 0,
    phys: Set<PHY> = [.le1M]
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.subrate = subrate
    self.continuation = continuation
    self.phys = phys
  }

  /// The shortest interval that every link can have.
  public static let shortestOrdinaryInterval = Duration.microseconds(7500)

  /// The controllers' unit for an interval: 0.125 ms below 7.5 ms, 1.25 ms otherwise.
  public static func unit(of interval: Duration) -> Duration {
    .microseconds(interval < shortestOrdinaryInterval ? 125 : 1250)
  }

  /// Whether an interval below 7.5 ms is wanted.
  public var isShort: Bool { interval.lowerBound < Self.shortestOrdinaryInterval }

  /// The same with the nearest intervals that every link can have.
  public var ordinary: ConnectionParameters {
    var parameters = self
    let shortest = Self.shortestOrdinaryInterval
    parameters.interval = max(interval.lowerBound, shortest)...max(interval.upperBound, shortest)
    return parameters
  }

  /// One set of parameters that is good enough for all: the quickest interval, the lowest subrate factor, the highest
  /// continuation number that goes with it, the lowest latency, the longest timeout. The specification allows the
  /// result if it allows each of them (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
  /// - Returns: nil without requests.
  public static func best(of wanted: some Sequence<ConnectionParameters>) -> ConnectionParameters? {
    wanted.reduce(nil as ConnectionParameters?) { best, parameters in
      guard var best else { return parameters }
      let lower = min(best.interval.lowerBound, parameters.interval.lowerBound)
      best.interval = lower...min(best.interval.upperBound, parameters.interval.upperBound)
      let lowest = min(best.subrate.lowerBound, parameters.subrate.lowerBound)
      best.subrate = lowest...min(best.subrate.upperBound, parameters.subrate.upperBound)
      best.continuation = min(max(best.continuation, parameters.continuation), best.subrate.upperBound - 1)
      best.latency = min(best.latency, parameters.latency)
      best.supervisionTimeout = max(best.supervisionTimeout, parameters.supervisionTimeout)
      best.phys.formUnion(parameters.phys)
      return best
    }
  }
}

/// How the packets of a link are sent; each member nil where the controller did not tell.
public struct LinkLayer: Hashable, Sendable {
  /// The PHY of our packets.
  public var txPHY: PHY?
  /// The PHY of the peer's packets.
  public var rxPHY: PHY?
  /// The longest payload of a packet that we send, 27 to 251 octets.
  public var txOctets: Int?
  /// The longest payload of a packet that we receive, 27 to 251 octets.
  public var rxOctets: Int?

  /// Makes a description.
  public init(txPHY: PHY? = nil, rxPHY: PHY? = nil, txOctets: Int? = nil, rxOctets: Int? = nil) {
    self.txPHY = txPHY
    self.rxPHY = rxPHY
    self.txOctets = txOctets
    self.rxOctets = rxOctets
  }

  /// How each link begins that was initiated on LE 1M (Core 5.4, Vol 6, Part B, 4.5.10).
  public static let initial = LinkLayer(txPHY: .le1M, rxPHY: .le1M, txOctets: 27, rxOctets: 27)
}

/// A PHY to be used on a link, in both directions.
public struct LinkPHY: Hashable, Sendable {
  /// How many symbols stand for one bit on the coded PHY (Core 5.4, Vol 6, Part B, 2.2).
  public enum Coding: UInt8, Hashable, Sendable {
    /// Two: 500 kb/s.
    case s2 = 1
    /// Eight: 125 kb/s, for the longest range.
    case s8 = 2
  }

  /// The PHY.
  public var phy: PHY
  /// The coding that we prefer for our packets on the coded PHY; nil: the controller chooses.
  public var coding: Coding?
  /// Makes a choice.
  public init(_ phy: PHY, coding: Coding? = nil) {
    self.phy = phy
    self.coding = coding
  }
}
