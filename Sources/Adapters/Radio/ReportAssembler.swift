import Adapter
import Bluetooth
import HCI

/// Makes advertising reports from the controller's events. Fragments of extended advertisements are reassembled here;
/// at most 16 incomplete ones are kept, and the oldest is dropped first.
struct ReportAssembler {
  private struct Key: Hashable {
    let address: HCIAddress
    let sid: UInt8
    let isScanResponse: Bool
  }

  private static let limit = 16
  private static let longest = 1650
  private var unfinished: [(key: Key, data: [UInt8])] = []

  mutating func reports(_ reports: AdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    switch reports {
    case .legacy(let reports): self.reports(reports, at: now)
    case .extended(let reports): self.reports(reports, at: now)
    }
  }

  private func reports(_ event: LEAdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    event.reports.compactMap { report in
      guard let address = report.address.device else { return nil }
      // Legacy advertising has one PHY.
      return AdvertisingReport(
        address: address, isScanResponse: report.eventType == 4, isConnectable: report.eventType <= 1,
        isScannable: report.eventType == 0 || report.eventType == 2, isDirected: report.eventType == 1,
        primaryPHY: .le1M, rssi: Self.power(report.rssi), data: report.data, time: now)
    }
  }

  private mutating func reports(_ event: LEExtendedAdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    event.reports.compactMap { report in
      let address = report.address.device
      guard address != nil || report.address.type == .anonymous else { return nil }
      let type = report.eventType
      // Some firmware sends empty reports beside those of long chains.
      if address?.value == 0, type.rawValue == 0, report.data.isEmpty { return nil }
      let key = Key(address: report.address, sid: report.sid, isScanResponse: type.contains(.scanResponse))
      var data = report.data
      if let index = unfinished.firstIndex(where: { $0.key == key }) { data = unfinished.remove(at: index).data + data }
      if data.count > Self.longest { data.removeLast(data.count - Self.longest) }
      guard !type.contains(.incomplete) else {
        if unfinished.count == Self.limit { unfinished.removeFirst() }
        unfinished.append((key, data))
        return nil
      }
      var whole = AdvertisingReport(
        address: address, isScanResponse: key.isScanResponse, isConnectable: type.contains(.connectable),
        isScannable: type.contains(.scannable), isDirected: type.contains(.directed),
        primaryPHY: PHY(rawValue: report.primaryPHY), secondaryPHY: PHY(rawValue: report.secondaryPHY),
        sid: report.sid < 0x10 ? report.sid : nil, txPower: Self.power(report.txPower), rssi: Self.power(report.rssi),
        data: data, isTruncated: type.contains(.truncated), time: now)
      if report.periodicAdvertisingInterval > 0 {
        whole.periodicInterval = TimeUnits.connectionUnits(report.periodicAdvertisingInterval)
      }
      return whole
    }
  }

  /// In dBm; 127 where it is not known.
  private static func power(_ value: Int8) -> Int? { value == 127 ? nil : Int(value) }
}
