import CoreLocation

/// A region.
public let region = CLBeaconRegion(uuid: UUID(), identifier: "beacons")
