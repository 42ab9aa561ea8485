import Bluetooth

/// How to scan (Core 5.4, Vol 4, Part E, 7.8.10 and 7.8.64).
public struct ScanParameters: Hashable, Sendable {
  /// Whether scan responses are asked for.
  public var isActive: Bool
  /// From the beginning of one scan window to the next, 2.5 ms to 10.24 s.
  public var interval: Duration
  /// How long each window is, at most `interval`.
  public var window: Duration

  /// Makes scan parameters; without arguments an active scan half of the time.
  public init(isActive: Bool = true, interval: Duration = .milliseconds(60), window: Duration = .milliseconds(30)) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
  }
}

/// One advertisement or scan response as it was received. Nothing is merged and nothing is filtered.
public struct AdvertisingReport: Hashable, Sendable {
  /// Who sent it.
  public var address: DeviceAddress
  /// True for a scan response, which adds to the advertisement of the same address.
  public var isScanResponse: Bool
  /// True if the advertiser accepts connections.
  public var isConnectable: Bool
  /// True if the advertiser answers scan requests.
  public var isScannable: Bool
  /// Signal strength in dBm; nil where the controller does not know it.
  public var rssi: Int?
  /// The advertising data (Core Specification Supplement, Part A): 0 to 1650 octets.
  public var data: [UInt8]
  /// Whether the controller lost the rest of the data: it is complete up to there.
  public var isTruncated: Bool
  /// When it came.
  public var time: Instant

  /// Makes a report from its parts.
  public init(
    address: DeviceAddress, isScanResponse: Bool = false, isConnectable: Bool = true, isScannable: Bool = true,
    rssi: Int?, data: [UInt8], isTruncated: Bool = false, time: Instant
  ) {
    self.address = address
    self.isScanResponse = isScanResponse
    self.isConnectable = isConnectable
    self.isScannable = isScannable
    self.rssi = rssi
    self.data = data
    self.isTruncated = isTruncated
    self.time = time
  }
}
