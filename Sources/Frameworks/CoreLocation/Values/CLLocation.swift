// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// An angle in degrees.
public typealias CLLocationDegrees = Double
/// A distance in metres.
public typealias CLLocationDistance = Double
/// An error in metres; negative: not known.
public typealias CLLocationAccuracy = Double
/// A speed in metres a second; negative: not known.
public typealias CLLocationSpeed = Double
/// A direction in degrees from north; negative: not known.
public typealias CLLocationDirection = Double

/// The best accuracy, for navigation.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// A hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// A kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
/// Three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000
/// Every movement is reported.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// A place on the earth.
public struct CLLocationCoordinate2D: Sendable {
  /// North of the equator.
  public var latitude: CLLocationDegrees
  /// East of Greenwich.
  public var longitude: CLLocationDegrees

  /// Makes the place 0, 0.
  public init() { self.init(latitude: 0, longitude: 0) }

  /// Makes a place.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }
}

/// No place.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Makes a place.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Returns true for a place on the earth.
public func CLLocationCoordinate2DIsValid(_ place: CLLocationCoordinate2D) -> Bool {
  abs(place.latitude) <= 90 && abs(place.longitude) <= 180
}

/// A program's location, for example from a file: on Linux no service reports one.
open class CLLocation: NSObject, NSCopying {
  /// The place.
  public let coordinate: CLLocationCoordinate2D
  /// Above sea level.
  public let altitude: CLLocationDistance
  /// The place's error.
  public let horizontalAccuracy: CLLocationAccuracy
  /// The altitude's error.
  public let verticalAccuracy: CLLocationAccuracy
  /// The direction of movement.
  public let course: CLLocationDirection
  /// Its speed.
  public let speed: CLLocationSpeed
  /// When it was found.
  public let timestamp: Date

  /// Makes a location from a place alone.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0, horizontalAccuracy: 0,
      verticalAccuracy: -1, timestamp: Date())
  }

  /// Makes a location without a movement.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
    verticalAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
      verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }

  /// Makes a location.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
    verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
  ) {
    self.coordinate = coordinate
    self.altitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.speed = speed
    self.timestamp = timestamp
  }

  /// A location does not change: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The distance along the surface of a sphere with the earth's mean radius.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    let (here, there) = (coordinate, location.coordinate)
    let radians = Double.pi / 180
    let north = sin((there.latitude - here.latitude) * radians / 2)
    let east = sin((there.longitude - here.longitude) * radians / 2)
    let chord = north * north + cos(here.latitude * radians) * cos(there.latitude * radians) * east * east
    return 2 * 6_371_009 * asin(min(1, chord.squareRoot()))
  }
}
