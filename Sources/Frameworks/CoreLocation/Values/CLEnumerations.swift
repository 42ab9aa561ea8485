/// A program's permission to use location services: here its user's permission to scan by bled's policy.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// The user has not been asked yet. Does not occur on Linux.
  case notDetermined = 0
  /// The user cannot change it. Does not occur on Linux.
  case restricted = 1
  /// Not permitted.
  case denied = 2
  /// Permitted.
  case authorizedAlways = 3
  /// Permitted, for a program that requested permission only during its use.
  case authorizedWhenInUse = 4

  /// The older name of `authorizedAlways`.
  @available(*, deprecated, renamed: "authorizedAlways")
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// How exact locations are.
public enum CLAccuracyAuthorization: Int, Sendable {
  /// As exact as can be.
  case fullAccuracy = 0
  /// Rough. Does not occur on Linux.
  case reducedAccuracy = 1
}

/// How near a beacon is.
public enum CLProximity: Int, Sendable {
  /// Unknown: it was not received for some seconds.
  case unknown = 0
  /// Within half a metre.
  case immediate = 1
  /// Within four metres.
  case near = 2
  /// Farther away.
  case far = 3
}

/// This machine's place in relation to a region.
public enum CLRegionState: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// In the region: one of its beacons is received.
  case inside = 1
  /// Not in the region.
  case outside = 2
}

/// The kind of movement for locations. No effect on Linux.
public enum CLActivityType: Int, Sendable {
  /// Any other kind.
  case other = 1
  /// In a car.
  case automotiveNavigation = 2
  /// On foot.
  case fitness = 3
  /// In a train or ship.
  case otherNavigation = 4
  /// In the air.
  case airborne = 5
}
