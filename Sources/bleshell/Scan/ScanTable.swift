import BledRPC
import Bluetooth
import FoundationEssentials

/// The devices of a scan, one line each.
@MainActor final class ScanTable {
  /// How many devices are listed: one with private addresses is a new one again and again.
  private static let maximumDevices = 4096

  private let output: Output
  private var unlisted = 0
  private var reports: [String: ScanReport.Params] = [:]
  private var order: [String] = []

  init(output: Output) { self.output = output }

  /// Whether no device is in it.
  var isEmpty: Bool { order.isEmpty }

  func add(_ report: ScanReport.Params) {
    guard reports[report.peripheral] != nil || order.count < Self.maximumDevices else { return unlisted += 1 }
    if reports.updateValue(report, forKey: report.peripheral) == nil { order.append(report.peripheral) }
  }

  /// A device is not heard any more.
  func lose(_ peripheral: String) {
    guard reports.removeValue(forKey: peripheral) != nil else { return }
    order.removeAll { $0 == peripheral }
  }

  /// Prints the table.
  func finish() {
    table.lines(output, width: output.isTerminal ? Output.terminalSize.columns : nil).forEach(output.line)
    if unlisted > 0 { output.problem("\(unlisted) reports on more than \(Self.maximumDevices) devices are not listed") }
    if order.isEmpty { output.problem("no device was heard") }
  }

  private var table: Table {
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "RSSI", right: true),
      .init(heading: "IDENTIFIER"), .init(heading: "ADVERTISES"))
    for report in order.compactMap({ reports[$0] }) {
      table.rows.append([
        .init(text: report.name ?? "-", style: .bold), .init(text: "\(report.address) \(report.addressType)"),
        .init(text: report.rssi.map(String.init) ?? "-"), .init(text: "\(report.peripheral.prefix(8))", style: .dim),
        .init(text: Self.contents(report).joined(separator: ", ")),
      ])
    }
    return table
  }

  /// One report on a line of its own.
  static func reportLine(_ report: ScanReport.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date(timeIntervalSince1970: report.time)), .dim)
    let name = output.styled(Output.clean(report.name ?? "-"), .bold)
    let rssi = report.rssi.map { "\($0) dBm" } ?? "-"
    return "\(time)  \(report.address)  \(rssi)  \(name)  \(Output.clean(contents(report).joined(separator: ", ")))"
  }

  /// A device that is not heard any more on a line.
  static func lostLine(_ lost: ScanLost.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date()), .dim)
    let last = clockText(Date(timeIntervalSince1970: lost.lastHeard))
    return "\(time)  \(lost.peripheral.prefix(8)) is lost; it was last heard at \(last)"
  }

  /// An anonymous advertisement on a line.
  static func reportLine(_ report: ScanAnonymousReport.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date(timeIntervalSince1970: report.time)), .dim)
    let name = output.styled(Output.clean(report.name ?? "-"), .bold)
    let rssi = report.rssi.map { "\($0) dBm" } ?? "-"
    let parts = report.decoded?.map(\.text) ?? contents(report.services, report.manufacturerData, report.serviceData)
    return "\(time)  anonymous  \(rssi)  \(name)  \(Output.clean(parts.joined(separator: ", ")))"
  }

  /// The content of an advertisement: values of beacons and sensors, or services, company and data.
  nonisolated static func contents(_ report: ScanReport.Params) -> [String] {
    var parts = report.decoded?.map(\.text) ?? contents(report.services, report.manufacturerData, report.serviceData)
    if report.primaryPHY == "coded" { parts.append("(long range)") }
    if !report.connectable { parts.append("(not connectable)") }
    return parts
  }

  /// Services by name, company, data.
  nonisolated private static func contents(
    _ services: [BluetoothUUID]?, _ manufacturerData: HexBytes?, _ serviceData: [String: HexBytes]?
  ) -> [String] {
    var parts = (services ?? []).map { $0.assignedName ?? "\($0)" }
    if let octets = manufacturerData?.octets, octets.count >= 2 {
      let data = AdvertisingData.ManufacturerData(
        company: UInt16(octets[0]) | UInt16(octets[1]) << 8, data: Array(octets.dropFirst(2)))
      parts.append("\(data.companyName ?? "company 0x\(String(data.company, radix: 16))") \(Hex.encode(data.data))")
    }
    for (service, data) in (serviceData ?? [:]).sorted(by: { $0.key < $1.key }) {
      parts.append("\(BluetoothUUID(service)?.assignedName ?? service) = \(Hex.encode(data.octets))")
    }
    return parts
  }
}

extension ScanTable {
  /// The names of the values in `csvLine`.
  static let csvHeading = "time,peripheral,address,addressType,rssi,connectable,name,services,data"

  /// A report as comma-separated values; the time in seconds since 1970, the signal strength in dBm, the services
  /// separated by blanks, the data in hex.
  static func csvLine(_ report: ScanReport.Params) -> String {
    CSV.line([
      "\(report.time)", report.peripheral, report.address, report.addressType.text, report.rssi.map(String.init) ?? "",
      "\(report.connectable)", report.name ?? "", (report.services ?? []).map { "\($0)" }.joined(separator: " "),
      Hex.encode(report.data.octets),
    ])
  }
}
