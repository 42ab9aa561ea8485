/// A compass direction. Does not occur on Linux: the type exists for delegates.
open class CLHeading: NSObject {
  /// From magnetic north.
  public let magneticHeading: CLLocationDirection
  /// From true north.
  public let trueHeading: CLLocationDirection
  /// The error in degrees.
  public let headingAccuracy: CLLocationDirection
  /// When it was measured.
  public let timestamp: Date

  init(
    magneticHeading: CLLocationDirection, trueHeading: CLLocationDirection, headingAccuracy: CLLocationDirection,
    timestamp: Date
  ) {
    (self.magneticHeading, self.trueHeading) = (magneticHeading, trueHeading)
    (self.headingAccuracy, self.timestamp) = (headingAccuracy, timestamp)
  }
}

/// A stay at a place. Does not occur on Linux: the type exists for delegates.
open class CLVisit: NSObject {
  /// Its beginning.
  public let arrivalDate: Date
  /// Its end.
  public let departureDate: Date
  /// The place.
  public let coordinate: CLLocationCoordinate2D
  /// The place's error.
  public let horizontalAccuracy: CLLocationAccuracy

  init(
    arrivalDate: Date, departureDate: Date, coordinate: CLLocationCoordinate2D, horizontalAccuracy: CLLocationAccuracy
  ) {
    (self.arrivalDate, self.departureDate) = (arrivalDate, departureDate)
    (self.coordinate, self.horizontalAccuracy) = (coordinate, horizontalAccuracy)
  }
}
