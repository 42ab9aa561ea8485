import Bluetooth
import HCI

/// An advertisement as it is on the air.
package struct Advertisement: Hashable, Sendable {
  /// The sender's address.
  package var address = HCIAddress()
  /// The device that it is meant for; nil for all.
  package var target: HCIAddress?
  package var isConnectable = true
  package var isScannable = true
  /// True if it does not say the sender's address.
  package var isAnonymous = false
  /// True if it is sent in the packets that every device receives.
  package var isLegacy = true
  /// The PHY on which it begins, and the one of its data.
  package var primaryPHY = PHY.le1M
  package var secondaryPHY = PHY.le1M
  /// The number of its set, for extended ones.
  package var sid: UInt8 = 0
  /// In dBm; 127 if it does not say.
  package var txPower: Int8 = 127
  package var data: [UInt8] = []
  package var scanResponse: [UInt8] = []
  /// The train that it announces; nil for none.
  var train: TrainInformation?

  package init() {}

  /// True for a kind that can announce a train (Core 5.4, Vol 4, Part E, 7.8.61).
  var canAnnounceTrain: Bool { !isLegacy && !isConnectable && !isScannable && !isAnonymous }

  /// True for a device that receives all advertisements, or has this address.
  func concerns(_ addresses: [HCIAddress]) -> Bool { target.map(addresses.contains) ?? true }

  // MARK: - Reports

  /// The reports for a host that uses legacy commands (Core 5.4, Vol 4, Part E, 7.7.65.2).
  func legacyReports(rssi: Int8, isActive: Bool) -> [HCIEvent] {
    guard isLegacy else { return [] }
    let type: UInt8 = target != nil ? 1 : isConnectable ? 0 : isScannable ? 2 : 3
    var parts = [(type: type, data: data)]
    if isActive, isScannable, target == nil { parts.append((4, scanResponse)) }
    return parts.map { type, data in
      .leAdvertisingReport(
        LEAdvertisingReports {
          $0.reports = [
            LEAdvertisingReports.Report {
              ($0.eventType, $0.address, $0.data, $0.rssi) = (type, address, data, rssi)
            }
          ]
        })
    }
  }

  /// The longest data of one extended report.
  private static let longestReport = 229

  /// The reports for a host that uses extended commands (7.7.65.13): long data come in pieces.
  func extendedReports(rssi: Int8, isActive: Bool) -> [HCIEvent] {
    var kind: LEExtendedAdvertisingReports.EventType = isLegacy ? .legacy : []
    if isConnectable { kind.insert(.connectable) }
    if isScannable { kind.insert(.scannable) }
    if target != nil { kind.insert(.directed) }
    let answers = isActive && isScannable && target == nil
    // An extended advertisement that is scannable has its data in the response alone.
    let isEmpty = !isLegacy && isScannable
    return (isEmpty && answers ? [] : pieces(kind, data, rssi))
      + (answers ? pieces(kind.union(.scanResponse), scanResponse, rssi) : [])
  }

  private func pieces(
    _ kind: LEExtendedAdvertisingReports.EventType, _ data: [UInt8], _ rssi: Int8
  ) -> [HCIEvent] {
    stride(from: 0, to: max(data.count, 1), by: Self.longestReport).map { start in
      let end = min(start + Self.longestReport, data.count)
      return .leExtendedAdvertisingReport(
        LEExtendedAdvertisingReports {
          $0.reports = [
            LEExtendedAdvertisingReports.Report {
              $0.eventType = end < data.count ? kind.union(.incomplete) : kind
              $0.address = address
              if isAnonymous { ($0.address.type, $0.address.value) = (.anonymous, 0) }
              $0.periodicAdvertisingInterval = train?.interval ?? 0
              $0.primaryPHY = primaryPHY.rawValue
              $0.secondaryPHY = isLegacy ? 0 : secondaryPHY.rawValue
              $0.sid = isLegacy ? 0xFF : sid
              ($0.txPower, $0.rssi) = (txPower, rssi)
              if let target { $0.directAddress = target }
              $0.data = Array(data[start..<end])
            }
          ]
        })
    }
  }
}
