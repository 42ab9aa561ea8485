import Bluetooth
import HCI

/// An advertisement or a scan response reported by an adapter.
struct Advertisement {
  /// The sender; nil for an anonymous one.
  var peer: DeviceAddress?
  var data: [UInt8]
  /// In dBm; nil if it is not known.
  var rssi: Int8?
  var isConnectable: Bool
  var isScanResponse: Bool
  /// True if the report has only a part of the data.
  var isPartial: Bool

  /// An event's reports; none for other events.
  static func list(_ event: HCIEvent) -> [Advertisement] {
    switch event {
    case .leAdvertisingReport(let event):
      event.reports.map { report in
        Advertisement(
          peer: report.address.device, data: report.data, rssi: report.rssi == 127 ? nil : report.rssi,
          isConnectable: report.eventType < 2, isScanResponse: report.eventType == 4, isPartial: false)
      }
    case .leExtendedAdvertisingReport(let event):
      event.reports.map { report in
        Advertisement(
          peer: report.address.device, data: report.data, rssi: report.rssi == 127 ? nil : report.rssi,
          isConnectable: report.eventType.contains(.connectable),
          isScanResponse: report.eventType.contains(.scanResponse),
          isPartial: !report.eventType.isDisjoint(with: [.incomplete, .truncated]))
      }
    default: []
    }
  }

  /// Its kind and signal in words: "Advertisement, connectable, -60 dBm".
  var text: String {
    [
      isScanResponse ? "Scan Response" : "Advertisement", isConnectable && !isScanResponse ? "connectable" : nil,
      isPartial ? "in part" : nil, rssi.map { "\($0) dBm" },
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
