import Beacons
import CoreBluetooth

/// A beacon's first number, for example a building's.
public typealias CLBeaconMajorValue = UInt16
/// A beacon's second number, for example a room's.
public typealias CLBeaconMinorValue = UInt16

/// The beacons to find.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding {
  /// Their owner.
  public let uuid: UUID
  let majorValue: CLBeaconMajorValue?
  let minorValue: CLBeaconMinorValue?

  /// The first number; nil: any.
  open var major: NSNumber? { majorValue.map { NSNumber(value: $0) } }
  /// The second number; nil: any.
  open var minor: NSNumber? { minorValue.map { NSNumber(value: $0) } }

  /// An owner's beacons.
  public convenience init(uuid: UUID) { self.init(uuid, nil, nil) }

  /// An owner's beacons with this first number.
  public convenience init(uuid: UUID, major: CLBeaconMajorValue) { self.init(uuid, major, nil) }

  /// A single beacon of an owner.
  public convenience init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    self.init(uuid, major, minor)
  }

  init(_ uuid: UUID, _ major: CLBeaconMajorValue?, _ minor: CLBeaconMinorValue?) {
    self.uuid = uuid
    majorValue = major
    minorValue = minor
  }

  /// Reads an archived constraint.
  public required init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "uuid"), let uuid = UUID(uuidString: "\(text)")
    else { return nil }
    self.uuid = uuid
    func number(_ key: String) -> UInt16? {
      coder.containsValue(forKey: key) ? UInt16(exactly: coder.decodeInteger(forKey: key)) : nil
    }
    majorValue = number("major")
    minorValue = number("minor")
  }

  /// Constraints can be read from untrusted archives.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the constraint into an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: uuid.uuidString), forKey: "uuid")
    if let majorValue { coder.encode(Int(majorValue), forKey: "major") }
    if let minorValue { coder.encode(Int(minorValue), forKey: "minor") }
  }

  /// A constraint does not change: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Constraints for the same beacons are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLBeaconIdentityConstraint else { return false }
    return other.uuid == uuid && other.majorValue == majorValue && other.minorValue == minorValue
  }

  /// The hash of its parts.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(uuid)
    hasher.combine(majorValue)
    hasher.combine(minorValue)
    return hasher.finalize()
  }

  /// Its parts.
  open override var description: String {
    let numbers = [majorValue, minorValue].map { $0.map { "\($0)" } ?? "any" }
    return "\(type(of: self)) (uuid: \(uuid), major: \(numbers[0]), minor: \(numbers[1]))"
  }

  /// The region for the machine.
  var region: BeaconRanging.Region {
    BeaconRanging.Region(uuid: CBUUID(nsuuid: uuid).value, major: majorValue, minor: minorValue)
  }
}
