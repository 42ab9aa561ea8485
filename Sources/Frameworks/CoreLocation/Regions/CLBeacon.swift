import Beacons
import Bluetooth

/// A beacon in reach.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding {
  /// The silence after which a beacon's distance is unknown.
  private static let maximumSilence = Duration.seconds(5)

  /// Its owner.
  public let uuid: UUID
  /// Its first number.
  public let major: NSNumber
  /// Its second number.
  public let minor: NSNumber
  /// How near it is.
  public let proximity: CLProximity
  /// The distance in metres as in free space, an estimate; −1: not known.
  public let accuracy: CLLocationAccuracy
  /// The average signal strength in dBm, from −127 to 20; 0: not known.
  public let rssi: Int
  /// When it was last received.
  public let timestamp: Date

  /// The older name of `uuid`.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }

  /// - Parameters:
  ///   - uuid: The constraint's, and so the beacon's.
  ///   - now: The time of its list.
  init(_ ranged: BeaconRanging.Ranged, of uuid: UUID, at now: Instant) {
    self.uuid = uuid
    major = NSNumber(value: ranged.beacon.major)
    minor = NSNumber(value: ranged.beacon.minor)
    let silence = ranged.lastHeard.duration(to: now)
    timestamp = Date(timeIntervalSinceNow: -silence.inSeconds)
    guard silence <= Self.maximumSilence, let loss = ranged.loss, let strength = ranged.rssi else {
      (proximity, accuracy, rssi) = (.unknown, -1, 0)
      return
    }
    proximity =
      switch ranged.proximity {
      case .immediate: .immediate
      case .near: .near
      case .far: .far
      case .unknown: .unknown
      }
    // 6 dB weaker at twice the distance.
    accuracy = pow(10, loss / 20)
    rssi = Int(strength.rounded())
  }

  /// Reads an archived beacon.
  public required init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "uuid"), let uuid = UUID(uuidString: "\(text)"),
      let major = UInt16(exactly: coder.decodeInteger(forKey: "major")),
      let minor = UInt16(exactly: coder.decodeInteger(forKey: "minor")),
      let timestamp = coder.decodeObject(of: NSDate.self, forKey: "timestamp")
    else { return nil }
    self.uuid = uuid
    (self.major, self.minor) = (NSNumber(value: major), NSNumber(value: minor))
    proximity = CLProximity(rawValue: coder.decodeInteger(forKey: "proximity")) ?? .unknown
    accuracy = coder.decodeDouble(forKey: "accuracy")
    rssi = coder.decodeInteger(forKey: "rssi")
    self.timestamp = Date(timeIntervalSinceReferenceDate: timestamp.timeIntervalSinceReferenceDate)
  }

  /// Beacons can be read from untrusted archives.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the beacon into an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: uuid.uuidString), forKey: "uuid")
    coder.encode(major.intValue, forKey: "major")
    coder.encode(minor.intValue, forKey: "minor")
    coder.encode(proximity.rawValue, forKey: "proximity")
    coder.encode(accuracy, forKey: "accuracy")
    coder.encode(rssi, forKey: "rssi")
    coder.encode(NSDate(timeIntervalSinceReferenceDate: timestamp.timeIntervalSinceReferenceDate), forKey: "timestamp")
  }

  /// A beacon does not change: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// A beacon equals itself at another time.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLBeacon else { return false }
    return other.uuid == uuid && other.major == major && other.minor == minor
  }

  /// The hash of its identity.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(uuid)
    hasher.combine(major)
    hasher.combine(minor)
    return hasher.finalize()
  }

  /// Its identity and its distance.
  open override var description: String {
    "CLBeacon (uuid: \(uuid), major: \(major), minor: \(minor), proximity: \(proximity.rawValue) "
      + "+/- \((accuracy * 100).rounded() / 100) m, rssi: \(rssi))"
  }
}
