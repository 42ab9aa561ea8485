import Adapter
import Bluetooth
import HCI

/// Makes advertising reports from the controller's events. Extended advertisements come in fragments that are
/// reassembled here; at most 16 incomplete ones are kept, and the oldest is dropped first.
struct ReportAssembler {
  private struct Key: Hashable {
    let address: DeviceAddress
    let sid: UInt8
    let isScanResponse: Bool
  }

  private static let limit = 16
  private static let longest = 1650
  private var unfinished: [(key: Key, data: [UInt8])] = []

  func reports(_ event: LEAdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    event.reports.compactMap { report in
      guard let address = report.address.device else { return nil }
      return AdvertisingReport(
        address: address, isScanResponse: report.eventType == 4, isConnectable: report.eventType <= 1,
        isScannable: report.eventType == 0 || report.eventType == 2, rssi: Self.rssi(report.rssi), data: report.data,
        time: now)
    }
  }

  mutating func reports(_ event: LEExtendedAdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    event.reports.compactMap { report in
      guard let address = report.address.device else { return nil }
      let type = report.eventType
      let key = Key(address: address, sid: report.sid, isScanResponse: type.contains(.scanResponse))
      var data = report.data
      if let index = unfinished.firstIndex(where: { $0.key == key }) { data = unfinished.remove(at: index).data + data }
      guard !type.contains(.incomplete) else {
        if unfinished.count == Self.limit { unfinished.removeFirst() }
        unfinished.append((key, Array(data.prefix(Self.longest))))
        return nil
      }
      return AdvertisingReport(
        address: address, isScanResponse: key.isScanResponse, isConnectable: type.contains(.connectable),
        isScannable: type.contains(.scannable), rssi: Self.rssi(report.rssi), data: Array(data.prefix(Self.longest)),
        isTruncated: type.contains(.truncated), time: now)
    }
  }

  private static func rssi(_ value: Int8) -> Int? { value == 127 ? nil : Int(value) }
}
