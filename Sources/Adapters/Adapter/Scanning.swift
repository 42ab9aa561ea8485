import Bluetooth

/// How to scan (Core 5.4, Vol 4, Part E, 7.8.10 and 7.8.64).
public struct ScanParameters: Hashable, Sendable {
  /// True to request scan responses.
  public var isActive: Bool
  /// Time between the beginnings of two scan windows, 2.5 ms to 10.24 s.
  public var interval: Duration
  /// The window's length, at most `interval`; for both PHYs if there are two.
  public var window: Duration
  /// The PHYs for receiving advertisements: LE 1M, LE Coded or both. An adapter without the coded PHY leaves it out.
  public var phys: Set<PHY>
  /// Requests only the presence of these devices; nil: every report. An adapter with that feature lets the controller
  /// watch for them, announces it with `AdapterEvent.watching`, and reports little else; another one reports
  /// everything.
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

/// Devices whose presence is all a scan reports.
public struct WatchedDevices: Hashable, Sendable {
  /// The addresses on the air, or identities resolved by the controller, each with its timeout in seconds without a
  /// packet, 1 to 255.
  public var timeouts: [DeviceAddress: Int]
  /// With another number the scan begins anew: present devices are reported again.
  public var number: Int

  /// Makes a list of devices.
  public init(_ timeouts: [DeviceAddress: Int], number: Int) {
    self.timeouts = timeouts
    self.number = number
  }
}

/// An advertisement or scan response as received, without merging or filtering.
public struct AdvertisingReport: Hashable, Sendable {
  /// The sender's address; nil for an anonymous advertisement.
  public var address: DeviceAddress?
  /// True for a scan response, which extends the advertisement from the same address.
  public var isScanResponse: Bool
  /// True if the advertiser accepts connections.
  public var isConnectable: Bool
  /// True if the advertiser answers scan requests.
  public var isScannable: Bool
  /// True if it is meant for one device.
  public var isDirected: Bool
  /// The primary channels' PHY; nil if not reported by the controller.
  public var primaryPHY: PHY?
  /// The PHY on which an extended advertisement continues; nil if it does not.
  public var secondaryPHY: PHY?
  /// The advertising set's number, 0 to 15; nil if there is none.
  public var sid: UInt8?
  /// The transmit power in dBm, from its header; nil if not included.
  public var txPower: Int?
  /// Signal strength in dBm; nil where the controller does not know it.
  public var rssi: Int?
  /// The advertising data (Core Specification Supplement, Part A): 0 to 1650 octets.
  public var data: [UInt8]
  /// True if the controller lost the rest of the data: it is complete up to there.
  public var isTruncated: Bool
  /// The interval of the announced periodic train; nil if there is none.
  public var periodicInterval: Duration?
  /// When it was received.
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
