import Bluetooth

/// How to scan (Core 5.4, Vol 4, Part E, 7.8.10 and 7.8.64).
public struct ScanParameters: Hashable, Sendable {
  /// Whether scan responses are asked for.
  public var isActive: Bool
  /// From the beginning of one scan window to the next, 2.5 ms to 10.24 s.
  public var interval: Duration
  /// How long each window is, at most `interval`; of both PHYs if there are two.
  public var window: Duration
  /// The PHYs on which advertisements are listened for: LE 1M, LE Coded or both. An adapter without the coded PHY
  /// leaves it out.
  public var phys: Set<PHY>
  /// Only the presence of these devices is of interest; nil: every report is. An adapter that can lets the controller
  /// watch for them, says so with `AdapterEvent.watching`, and reports little else; another one reports all.
  public var watched: WatchedDevices?

  /// Makes scan parameters; without arguments an active scan half of the time on LE 1M.
  public init(
    isActive: Bool = true, interval: Duration = .milliseconds(60), window: Duration = .milliseconds(30),
    phys: Set<PHY> = [.le1M], watched: WatchedDevices? = nil
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.phys = phys
    self.watched = watched
  }
}

/// Devices of which a scan tells no more than that they are there, or not any more.
public struct WatchedDevices: Hashable, Sendable {
  /// The addresses on the air, or identities that the controller resolves, each with the seconds without a packet after
  /// which its device is lost, 1 to 255.
  public var timeouts: [DeviceAddress: Int]
  /// With another number the scan begins anew: devices that are there are reported again.
  public var number: Int

  /// Makes a list of devices.
  public init(_ timeouts: [DeviceAddress: Int], number: Int) {
    self.timeouts = timeouts
    self.number = number
  }
}

/// One advertisement or scan response as it was received. Nothing is merged and nothing is filtered.
public struct AdvertisingReport: Hashable, Sendable {
  /// The address of the sender; nil for an anonymous advertisement.
  public var address: DeviceAddress?
  /// True for a scan response, which adds to the advertisement of the same address.
  public var isScanResponse: Bool
  /// True if the advertiser accepts connections.
  public var isConnectable: Bool
  /// True if the advertiser answers scan requests.
  public var isScannable: Bool
  /// True if it is meant for one device.
  public var isDirected: Bool
  /// The PHY of the channels on which advertisements begin; nil where the controller does not tell.
  public var primaryPHY: PHY?
  /// The PHY on which an extended advertisement goes on; nil for one that does not.
  public var secondaryPHY: PHY?
  /// The number of the advertising set, 0 to 15; nil where there is none.
  public var sid: UInt8?
  /// The power at which it was sent, in dBm, as its header says; nil where it says nothing.
  public var txPower: Int?
  /// Signal strength in dBm; nil where the controller does not know it.
  public var rssi: Int?
  /// The advertising data (Core Specification Supplement, Part A): 0 to 1650 octets.
  public var data: [UInt8]
  /// Whether the controller lost the rest of the data: it is complete up to there.
  public var isTruncated: Bool
  /// The time between two packets of the periodic train that it announces; nil where there is none.
  public var periodicInterval: Duration?
  /// When it came.
  public var time: Instant

  /// Makes a report from its parts.
  public init(
    address: DeviceAddress?, isScanResponse: Bool = false, isConnectable: Bool = true, isScannable: Bool = true,
    isDirected: Bool = false, primaryPHY: PHY? = nil, secondaryPHY: PHY? = nil, sid: UInt8? = nil, txPower: Int? = nil,
    rssi: Int?, data: [UInt8], isTruncated: Bool = false, time: Instant
  ) {
    self.address = address
    self.isScanResponse = isScanResponse
    self.isConnectable = isConnectable
    self.isScannable = isScannable
    self.isDirected = isDirected
    self.primaryPHY = primaryPHY
    self.secondaryPHY = secondaryPHY
    self.sid = sid
    self.txPower = txPower
    self.rssi = rssi
    self.data = data
    self.isTruncated = isTruncated
    self.time = time
  }
}
