import AssignedValues
import BledRPC
import Bluetooth

/// Everything received from one device: its advertising, the meaning, and the octets.
struct ScanDetail {
  private let device: ScanList.Device

  init(_ device: ScanList.Device) { self.device = device }

  /// The lines, the most important first.
  var lines: [[ScreenLine.Cell]] {
    let report = device.report
    var lines: [[ScreenLine.Cell]] = [
      [
        ("\(report.name ?? "-")  ", .bold), ("\(report.address) \(report.addressType)  ", .plain),
        (report.peripheral, .dim),
      ],
      [(facts.joined(separator: ", "), .plain)],
    ]
    lines += (report.decoded ?? []).map { [($0.text, .good)] }
    lines += structures(report.data)
    if let scanResponse = report.scanResponse {
      lines.append([("in the scan response:", .dim)])
      lines += structures(scanResponse)
    }
    return lines
  }

  private var facts: [String] {
    let report = device.report
    return [
      report.connectable ? "accepts connections" : "does not accept connections",
      device.level.map { "\(Int(nearest: $0)) dBm on average" }, report.txPower.map { "sent at \($0) dBm" },
      report.primaryPHY.map { "PHY \($0)" + (report.secondaryPHY.map { " and \($0)" } ?? "") },
      report.sid.map { "set \($0)" }, report.periodicInterval.map { "periodic every \(shortNumber($0 * 1000)) ms" },
      "on \(report.adapter)",
    ].compactMap { $0 }
  }

  /// Each AD structure: its name, and its meaning or its octets.
  private func structures(_ data: HexBytes) -> [[ScreenLine.Cell]] {
    AdvertisingData(parsing: data.octets).structures.map { structure in
      [("\(structure.type.name)  ", .dim), (structure.meaning ?? Hex.encode(structure.data), .plain)]
    }
  }
}
