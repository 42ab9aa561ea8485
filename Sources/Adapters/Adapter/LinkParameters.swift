import Bluetooth

/// A link's parameters as reported by the controller.
public struct LinkParameters: Hashable, Sendable {
  /// Time between two connection events, 0.375 ms to 4 s; below 7.5 ms only with shorter connection intervals.
  public var interval: Duration
  /// Events the peripheral may skip, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration
  /// The subrate factor: one in this many connection events is used, 1 to 500; `latency` counts the used ones (Core
  /// 5.4, Vol 6, Part B, 4.5.1).
  public var subrate: Int
  /// Further events used after one with data, 0 to 499, less than `subrate`.
  public var continuation: Int
  /// Makes a set of parameters, without subrating by default.
  public init(
    interval: Duration, latency: Int, supervisionTimeout: Duration, subrate: Int = 1, continuation: Int = 0
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.subrate = subrate
    self.continuation = continuation
  }

  /// Returns true if they equal the wanted ones, except for rounding to the controller's units.
  public func satisfy(_ wanted: ConnectionParameters) -> Bool {
    let timeout = wanted.supervisionTimeout - .milliseconds(5)...wanted.supervisionTimeout + .milliseconds(5)
    // A latency requested with a subrate is a limit (Core 5.4, Vol 4, Part E, 7.8.124).
    let hasLatency = subrate > 1 ? latency <= wanted.latency : latency == wanted.latency
    return hasInterval(of: wanted) && hasSubrate(of: wanted) && hasLatency && timeout.contains(supervisionTimeout)
  }

  /// Returns true if the interval is a wanted one.
  public func hasInterval(of wanted: ConnectionParameters) -> Bool {
    func rounding(_ bound: Duration) -> Duration { ConnectionParameters.unit(of: bound) / 2 }
    let (shortest, longest) = (wanted.interval.lowerBound, wanted.interval.upperBound)
    return (shortest - rounding(shortest)...longest + rounding(longest)).contains(interval)
  }

  /// Returns true if the subrate factor and the continuation number are as wanted.
  public func hasSubrate(of wanted: ConnectionParameters) -> Bool {
    wanted.subrate.contains(subrate) && continuation >= min(wanted.continuation, subrate - 1)
  }
}

/// A connection's wanted parameters (Core 5.4, Vol 4, Part E, 7.8.12, 7.8.18, 7.8.66 and 7.8.124; Core 6.2, 7.8.154).
public struct ConnectionParameters: Hashable, Sendable {
  /// The range within which the time between two connection events may lie, 0.375 ms to 4 s; an interval below 7.5 ms
  /// needs shorter connection intervals on both sides, and is requested once the link is up.
  public var interval: ClosedRange<Duration>
  /// Events the peripheral may skip, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration
  /// The range within which the subrate factor may lie, 1 to 500; a link begins with 1, and gets it once it is up.
  public var subrate: ClosedRange<Int>
  /// Further events to be used after one with data, 0 to 499, less than the highest factor.
  public var continuation: Int
  /// The PHYs for discovering the device to connect: LE 1M, LE Coded or both. An adapter without the coded PHY leaves
  /// it out.
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

  /// The shortest interval supported on every link.
  public static let shortestOrdinaryInterval = Duration.microseconds(7500)

  /// The controllers' unit for an interval: 0.125 ms below 7.5 ms, 1.25 ms otherwise.
  public static func unit(of interval: Duration) -> Duration {
    .microseconds(interval < shortestOrdinaryInterval ? 125 : 1250)
  }

  /// True if an interval below 7.5 ms is wanted.
  public var isShort: Bool { interval.lowerBound < Self.shortestOrdinaryInterval }

  /// The parameters with the nearest intervals supported on every link.
  public var ordinary: ConnectionParameters {
    var parameters = self
    let shortest = Self.shortestOrdinaryInterval
    parameters.interval = max(interval.lowerBound, shortest)...max(interval.upperBound, shortest)
    return parameters
  }

  /// A set of parameters sufficient for all: the quickest interval, the lowest subrate factor, the highest continuation
  /// number compatible with it, the lowest latency, the longest timeout. The specification allows the result if it
  /// allows each of them (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
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

/// The link's PHYs and packet lengths; each member nil if not reported by the controller.
public struct LinkLayer: Hashable, Sendable {
  /// The PHY of our packets.
  public var txPHY: PHY?
  /// The PHY of packets from the peer.
  public var rxPHY: PHY?
  /// The longest payload in sent packets, 27 to 251 octets.
  public var txOctets: Int?
  /// The longest payload in received packets, 27 to 251 octets.
  public var rxOctets: Int?

  /// Makes a description.
  public init(txPHY: PHY? = nil, rxPHY: PHY? = nil, txOctets: Int? = nil, rxOctets: Int? = nil) {
    self.txPHY = txPHY
    self.rxPHY = rxPHY
    self.txOctets = txOctets
    self.rxOctets = rxOctets
  }

  /// The initial state of a link initiated on LE 1M (Core 5.4, Vol 6, Part B, 4.5.10).
  public static let initial = LinkLayer(txPHY: .le1M, rxPHY: .le1M, txOctets: 27, rxOctets: 27)
}

/// A PHY to be used on a link, in both directions.
public struct LinkPHY: Hashable, Sendable {
  /// The number of symbols per bit on the coded PHY (Core 5.4, Vol 6, Part B, 2.2).
  public enum Coding: UInt8, Hashable, Sendable {
    /// Two: 500 kb/s.
    case s2 = 1
    /// Eight: 125 kb/s, for the longest range.
    case s8 = 2
  }

  /// The PHY.
  public var phy: PHY
  /// The preferred coding for our packets on the coded PHY; nil: the controller chooses.
  public var coding: Coding?
  /// Makes a choice.
  public init(_ phy: PHY, coding: Coding? = nil) {
    self.phy = phy
    self.coding = coding
  }
}
