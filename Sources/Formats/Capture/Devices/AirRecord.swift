import Bluetooth

/// A device's advertisements in a recording.
struct AirRecord: Sendable {
  /// The maximum number of signals and times.
  private static let maximumSamples = 512

  private(set) var isConnectable = false
  private(set) var data: [UInt8]?
  private(set) var scanResponse: [UInt8]?
  private var signals: [Int8] = []
  /// In seconds.
  private var times: [Double] = []

  mutating func receive(_ advertisement: Advertisement, at time: Int64) {
    if let rssi = advertisement.rssi, signals.count < Self.maximumSamples { signals.append(rssi) }
    guard !advertisement.isPartial else { return }
    guard !advertisement.isScanResponse else { return scanResponse = advertisement.data }
    data = advertisement.data
    isConnectable = advertisement.isConnectable
    if times.count < Self.maximumSamples { times.append(Double(time) / 1_000_000) }
  }

  /// The signal of all reports.
  var signal: RecordedDevice.Signal? { RecordedDevice.Signal(signals) }

  /// In seconds; nil with too few advertisements.
  var interval: Double? { RecordedDevice.advertisingInterval(times) }
}
