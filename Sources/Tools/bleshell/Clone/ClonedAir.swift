import BledRPC
import Bluetooth
import Capture

/// The advertisements of a device that is cloned.
@MainActor final class ClonedAir {
  private static let maximumReports = 1000
  private var last: ScanReport.Params?
  private var signals: [Int8] = []
  private var times: [Double] = []

  func receive(_ report: ScanReport.Params) {
    last = report
    guard times.count < Self.maximumReports else { return }
    times.append(report.time)
    if let rssi = report.rssi { signals.append(Int8(clamping: rssi)) }
  }

  /// Describes the device as far as it advertised.
  func describe(_ device: inout RecordedDevice) {
    guard let last else { return device.remarks.append("its advertisements were not heard") }
    device.name = device.name ?? last.name
    device.isConnectable = true
    device.advertising = last.data.octets
    device.scanResponse = last.scanResponse?.octets
    device.signal = RecordedDevice.Signal(signals)
    device.interval = RecordedDevice.advertisingInterval(times)
  }
}
