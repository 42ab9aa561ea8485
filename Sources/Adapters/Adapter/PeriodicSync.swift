import Bluetooth

/// A train of periodic advertisements, as its advertiser announces it.
public struct PeriodicTrain: Hashable, Sendable {
  /// The advertiser's address.
  public var address: DeviceAddress
  /// Its advertising set's number, 0 to 15.
  public var sid: UInt8

  /// Names a train.
  public init(address: DeviceAddress, sid: UInt8) {
    self.address = address
    self.sid = sid
  }
}

/// How to be synchronised with a train (Core 5.4, Vol 4, Part E, 7.8.67).
public struct SyncParameters: Hashable, Sendable {
  /// The time without a packet after which the train is lost, 100 ms to 163.84 s.
  public var timeout: Duration

  /// Makes parameters.
  public init(timeout: Duration) { self.timeout = timeout }

  /// Ten intervals of the train; half a minute if the interval is unknown.
  public static func following(interval: Duration?) -> SyncParameters {
    guard let interval else { return SyncParameters(timeout: .seconds(30)) }
    return SyncParameters(timeout: min(max(interval * 10, .seconds(2)), .milliseconds(163_840)))
  }
}

/// A train's packet.
public struct PeriodicPacket: Hashable, Sendable {
  /// The data, 0 to 1650 octets.
  public var data: [UInt8]
  /// Signal strength in dBm; nil where the controller does not know it.
  public var rssi: Int?
  /// The transmit power in dBm, from its header; nil if not included.
  public var txPower: Int?
  /// True if the controller lost the rest of the data.
  public var isTruncated: Bool
  /// Its place, in a train with subevents.
  public var place: SubeventPlace?

  /// Makes a report from its parts.
  public init(
    data: [UInt8], rssi: Int?, txPower: Int? = nil, isTruncated: Bool = false, place: SubeventPlace? = nil
  ) {
    self.place = place
    self.data = data
    self.rssi = rssi
    self.txPower = txPower
    self.isTruncated = isTruncated
  }
}

/// A wanted train's events.
public enum PeriodicEvent: Hashable, Sendable {
  /// The adapter is synchronised with it. In a train with subevents nothing is received before `Adapter.setSubevents`.
  case synchronised(interval: Duration, phy: PHY?, subevents: TrainSubevents? = nil)
  /// A packet was received.
  case received(PeriodicPacket)
  /// The adapter is no longer synchronised; it will be again when the train is found.
  case lost
  /// The adapter cannot be synchronised with it, and does not try again.
  case failed(BluetoothError)
}

/// A train for a link's device to follow (Core 5.4, Vol 6, Part B, 5.1.13).
public enum TransferredTrain: Hashable, Sendable {
  /// The train of another device, which the adapter follows.
  case followed(PeriodicTrain)
  /// The train of the adapter's own advertisement.
  case own(AdvertisingSetID)
}

/// A train transferred by a link's device, and synchronised by the adapter.
public struct ReceivedTrain: Hashable, Sendable {
  /// The transferred train.
  public var train: PeriodicTrain
  /// The time between two packets.
  public var interval: Duration
  /// The train's PHY, if reported by the controller.
  public var phy: PHY?
  /// A value sent with it by the device.
  public var serviceData: UInt16
  /// The train's subevents, if it has any.
  public var subevents: TrainSubevents?

  /// Describes a train.
  public init(train: PeriodicTrain, interval: Duration, phy: PHY?, serviceData: UInt16) {
    self.train = train
    self.interval = interval
    self.phy = phy
    self.serviceData = serviceData
  }
}
