import Bluetooth

/// Follows a region's iBeacons: those in range, and their proximity.
///
/// | Input                      | The beacon is | Then                                                               |
/// |----------------------------|---------------|--------------------------------------------------------------------|
/// | a beacon of the region     | not followed  | `entered`; the one unheard for longest has `exited` if it is one too many |
/// | a beacon of the region     | followed      | its strength is averaged; `moved` if its proximity is another one now |
/// | a beacon of another region |               | nothing                                                            |
/// | the deadline               | followed      | `exited` for beacons not received for `timeout`                    |
///
/// Proximity follows from the signal's loss since 1 m. In free space that is 6 dB for each doubling of the distance, so
/// −6 dB is half a metre and 12 dB are four metres. Walls and hands change it by as much, so a proximity is only left
/// when the average is 2 dB beyond its border.
public struct BeaconRanging: Sendable {
  /// The beacons to range.
  public struct Region: Hashable, Sendable {
    /// Their owner.
    public var uuid: BluetoothUUID
    /// The first number; nil for any.
    public var major: UInt16?
    /// The second number; nil for any.
    public var minor: UInt16?

    /// Makes a region.
    public init(uuid: BluetoothUUID, major: UInt16? = nil, minor: UInt16? = nil) {
      self.uuid = uuid
      self.major = major
      self.minor = minor
    }

    /// Returns true if a beacon is in it.
    public func contains(_ beacon: IBeacon) -> Bool {
      beacon.uuid == uuid && major ?? beacon.major == beacon.major && minor ?? beacon.minor == beacon.minor
    }

    /// The first octets of its beacons' manufacturer-specific data, after the company identifier, and the mask of the
    /// significant bits: the filter for a scan.
    public var pattern: (data: [UInt8], mask: [UInt8]) {
      let beacon = IBeacon(uuid: uuid, major: major ?? 0, minor: minor ?? 0, measuredPower: 0)
      var mask = [UInt8](repeating: 0xFF, count: 22)
      if major == nil { mask.replaceSubrange(18..<20, with: [0, 0]) }
      if minor == nil { mask.replaceSubrange(20..<22, with: [0, 0]) }
      return (Array(beacon.manufacturerData.data.dropLast()), mask)
    }
  }

  /// How near a beacon is.
  public enum Proximity: String, Hashable, Sendable, CaseIterable {
    /// Within half a metre.
    case immediate
    /// Within four metres.
    case near
    /// Farther away.
    case far
    /// The signal strength was not reported yet.
    case unknown
  }

  /// A beacon in reach.
  public struct Ranged: Hashable, Sendable {
    /// The beacon as last received.
    public fileprivate(set) var beacon: IBeacon
    /// How near it is.
    public fileprivate(set) var proximity = Proximity.unknown
    /// Its average signal strength in dBm.
    public fileprivate(set) var rssi: Double?
    /// When it was last received.
    public fileprivate(set) var lastHeard: Instant

    /// Its loss since 1 m, in dB.
    public var loss: Double? { rssi.map { Double(beacon.measuredPower) - $0 } }
  }

  /// A change.
  public enum Event: Hashable, Sendable {
    /// A beacon is in reach.
    case entered(Ranged)
    /// Its proximity has changed.
    case moved(Ranged)
    /// The beacon is no longer received.
    case exited(Ranged)
  }

  /// Maximum silence of a beacon: iBeacons send ten times a second, slow ones once in a few seconds.
  public static let timeout = Duration.seconds(10)
  /// Maximum followed beacons.
  public static let limit = 256
  /// The range of RSSI in dBm (Core 5.4, Vol 4, Part E, 7.7.65.2).
  private static let strengths = -127...20
  /// A new measurement's weight in the average.
  private static let weight = 0.2
  /// How far beyond a border the average must be, in dB.
  private static let hysteresis = 2.0

  /// The beacons to follow.
  public let region: Region
  private var followed: [BeaconPlace: Ranged] = [:]

  /// Begins with no beacon in reach.
  public init(region: Region) { self.region = region }

  /// The beacons in reach, the strongest in comparison with its power first.
  public var beacons: [Ranged] {
    followed.values.sorted { left, right in
      let (first, second) = (left.loss ?? .infinity, right.loss ?? .infinity)
      return first != second ? first < second : left.order < right.order
    }
  }

  /// When `tick` has something to do.
  public var deadline: Instant? { followed.values.map(\.lastHeard).min()?.advanced(by: Self.timeout) }

  /// A beacon was received.
  /// - Parameters:
  ///   - beacon: the received beacon.
  ///   - rssi: the signal strength in dBm, if known: a value beyond the range of RSSI is not.
  ///   - now: the time of reception.
  public mutating func received(_ beacon: IBeacon, rssi: Int?, at now: Instant) -> [Event] {
    guard region.contains(beacon) else { return [] }
    let former = followed[beacon.place]
    var ranged = former ?? Ranged(beacon: beacon, lastHeard: now)
    ranged.beacon = beacon
    ranged.lastHeard = now
    if let rssi, Self.strengths.contains(rssi) {
      ranged.rssi = ranged.rssi.map { $0 + (Double(rssi) - $0) * Self.weight } ?? Double(rssi)
      if let loss = ranged.loss { ranged.proximity = Self.proximity(at: loss, after: ranged.proximity) }
    }
    var events: [Event] = []
    if former == nil, followed.count >= Self.limit, let oldest = followed.min(by: { $0.value.isOlder(than: $1.value) })
    {
      followed[oldest.key] = nil
      events.append(.exited(oldest.value))
    }
    followed[beacon.place] = ranged
    if former == nil {
      events.append(.entered(ranged))
    } else if former?.proximity != ranged.proximity {
      events.append(.moved(ranged))
    }
    return events
  }

  /// Time has passed.
  public mutating func tick(at now: Instant) -> [Event] {
    let silent = followed.filter { $0.value.lastHeard.advanced(by: Self.timeout) <= now }
    for place in silent.keys { followed[place] = nil }
    return silent.values.sorted { $0.isOlder(than: $1) }.map(Event.exited)
  }

  private static func proximity(at loss: Double, after former: Proximity) -> Proximity {
    let zones: [(proximity: Proximity, border: Double)] = [(.immediate, -6), (.near, 12)]
    // The borders of zones at least as wide as the former one move away from it, borders of narrower ones too.
    let place = Proximity.allCases.firstIndex(of: former) ?? 0
    for (index, zone) in zones.enumerated() {
      let shift = former == .unknown ? 0 : index >= place ? hysteresis : -hysteresis
      if loss <= zone.border + shift { return zone.proximity }
    }
    return .far
  }
}

extension BeaconRanging.Ranged {
  fileprivate func isOlder(than other: Self) -> Bool {
    lastHeard != other.lastHeard ? lastHeard < other.lastHeard : order < other.order
  }

  fileprivate var order: UInt32 { UInt32(beacon.major) << 16 | UInt32(beacon.minor) }
}
