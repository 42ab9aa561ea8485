import Beacons
import CoreBluetooth

/// A condition for a `CLMonitor`.
public protocol CLCondition: Sendable {}

extension CLMonitor {
  /// An owner's beacons are in range.
  public struct BeaconIdentityCondition: CLCondition, Hashable {
    /// Their owner.
    public let uuid: UUID
    /// Their first number; nil: any.
    public let major: UInt16?
    /// Their second number; nil: any.
    public let minor: UInt16?

    /// All beacons of an owner.
    public init(uuid: UUID) { (self.uuid, major, minor) = (uuid, nil, nil) }

    /// An owner's beacons with this first number.
    public init(uuid: UUID, major: UInt16) { (self.uuid, self.major, minor) = (uuid, major, nil) }

    /// A single beacon of an owner.
    public init(uuid: UUID, major: UInt16, minor: UInt16) { (self.uuid, self.major, self.minor) = (uuid, major, minor) }

    /// The region for the machine.
    var region: BeaconRanging.Region {
      BeaconRanging.Region(uuid: CBUUID(nsuuid: uuid).value, major: major, minor: minor)
    }
  }

  /// The machine is within a circle on the earth. On Linux it is not monitored.
  public struct CircularGeographicCondition: CLCondition {
    /// The middle.
    public let center: CLLocationCoordinate2D
    /// How far it reaches, in metres.
    public let radius: CLLocationDistance

    /// Makes a condition.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      (self.center, self.radius) = (center, radius)
    }
  }
}
