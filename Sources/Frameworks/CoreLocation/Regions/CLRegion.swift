/// A region to be monitored: see `CLBeaconRegion`.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
  /// The program's name for it: a manager monitors one region per name.
  public let identifier: String
  /// True to notify the delegate on entry.
  open var notifyOnEntry = true
  /// True to notify the delegate on exit.
  open var notifyOnExit = true

  init(identifier: String) { self.identifier = identifier }

  /// Reads an archived region.
  public required init?(coder: NSCoder) {
    guard let identifier = coder.decodeObject(of: NSString.self, forKey: "identifier") else { return nil }
    self.identifier = "\(identifier)"
    notifyOnEntry = coder.decodeBool(forKey: "notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "notifyOnExit")
  }

  /// Regions can be read from untrusted archives.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the region into an archive.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: identifier), forKey: "identifier")
    coder.encode(notifyOnEntry, forKey: "notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "notifyOnExit")
  }

  /// Makes a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = CLRegion(identifier: identifier)
    (copy.notifyOnEntry, copy.notifyOnExit) = (notifyOnEntry, notifyOnExit)
    return copy
  }

  /// Two regions with one name are equal.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CLRegion)?.identifier == identifier }

  /// The hash of the name.
  open override var hash: Int { identifier.hashValue }

  /// The name.
  open override var description: String { "\(type(of: self)) (identifier: '\(identifier)')" }
}

/// A circle on the earth. On Linux it cannot be monitored.
open class CLCircularRegion: CLRegion {
  /// The middle.
  public let center: CLLocationCoordinate2D
  /// How far it reaches.
  public let radius: CLLocationDistance

  /// Makes a region.
  public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    (self.center, self.radius) = (center, radius)
    super.init(identifier: identifier)
  }

  /// Reads an archived region.
  public required init?(coder: NSCoder) {
    center = CLLocationCoordinate2D(
      latitude: coder.decodeDouble(forKey: "latitude"), longitude: coder.decodeDouble(forKey: "longitude"))
    radius = coder.decodeDouble(forKey: "radius")
    super.init(coder: coder)
  }

  /// Writes the region into an archive.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(center.latitude, forKey: "latitude")
    coder.encode(center.longitude, forKey: "longitude")
    coder.encode(radius, forKey: "radius")
  }

  /// Makes a copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = CLCircularRegion(center: center, radius: radius, identifier: identifier)
    (copy.notifyOnEntry, copy.notifyOnExit) = (notifyOnEntry, notifyOnExit)
    return copy
  }

  /// Returns true if a place is in it.
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    CLLocation(latitude: center.latitude, longitude: center.longitude)
      .distance(from: CLLocation(latitude: coordinate.latitude, longitude: coordinate.longitude)) <= radius
  }
}
