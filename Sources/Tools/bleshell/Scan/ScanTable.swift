import AssignedValues
import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// The devices of a scan, one line each, the strongest first.
@MainActor final class ScanTable {
  /// Maximum listed devices: a device with private addresses repeatedly counts as a new one.
  private static let maximumDevices = 4096

  private let output: Output
  private var unlisted = 0
  private var reports: [String: ScanReport.Params] = [:]

  init(output: Output) { self.output = output }

  /// True without a device.
  var isEmpty: Bool { reports.isEmpty }

  /// True if it contains a device.
  func contains(_ peripheral: String) -> Bool { reports[peripheral] != nil }

  func add(_ report: ScanReport.Params) {
    guard contains(report.peripheral) || reports.count < Self.maximumDevices else { return unlisted += 1 }
    reports[report.peripheral] = report
  }

  /// A device is no longer received.
  /// - Returns: Its latest entry.
  @discardableResult func lose(_ peripheral: String) -> ScanReport.Params? {
    reports.removeValue(forKey: peripheral)
  }

  /// Prints the table.
  /// - Parameter connected: Sentences on devices that were not received because they are connected.
  func finish(connected: [String]) {
    table.lines(output).forEach(output.line)
    if unlisted > 0 { output.problem("\(unlisted) reports on more than \(Self.maximumDevices) devices are not listed") }
    connected.forEach(output.problem)
    if isEmpty, connected.isEmpty { output.problem("no device was heard") }
  }

  private var table: Table {
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "RSSI", right: true),
      .init(heading: "ID"), .init(heading: "ADVERTISES"))
    for report in reports.values.sorted(by: { $0.order > $1.order }) {
      table.rows.append([
        .init(text: report.name ?? "-", style: .bold), .init(text: "\(report.address) \(report.addressType)"),
        .init(text: report.rssi.map(String.init) ?? "-"), .init(text: "\(report.peripheral.prefix(8))", style: .dim),
        .init(text: Self.contents(report).joined(separator: ", ")),
      ])
    }
    return table
  }

  /// The line of a report.
  static func reportLine(_ report: ScanReport.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date(timeIntervalSince1970: report.time)), .dim)
    let name = output.styled(Output.clean(report.name ?? "-"), .bold)
    let rssi = report.rssi.map { "\($0) dBm" } ?? "-"
    return "\(time)  \(report.address)  \(rssi)  \(name)  \(Output.clean(contents(report).joined(separator: ", ")))"
  }

  /// The line of a device that is no longer received.
  static func lostLine(_ lost: ScanLost.Params, _ device: ScanReport.Params?, _ output: Output) -> String {
    let time = output.styled(clockText(Date()), .dim)
    let last = clockText(Date(timeIntervalSince1970: lost.lastHeard))
    let name = output.styled(Output.clean(device?.name ?? "\(lost.peripheral.prefix(8))"), .bold)
    return "\(time)  \(device?.address ?? "-")  \(name) is lost; it was last heard at \(last)"
  }

  /// The lost device as an object.
  struct Lost: Encodable {
    let peripheral: String
    let address: String?
    let name: String?
    let lastHeard: Double
    let scan: Int?

    init(_ lost: ScanLost.Params, address: String?, name: String?) {
      (peripheral, lastHeard, scan) = (lost.peripheral, lost.lastHeard, lost.scan)
      (self.address, self.name) = (address, name)
    }
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
    var parts = (services ?? []).map { $0.knownName ?? "\($0)" }
    if let octets = manufacturerData?.octets, octets.count >= 2 {
      let data = AdvertisingData.ManufacturerData(
        company: UInt16(octets[0]) | UInt16(octets[1]) << 8, data: Array(octets.dropFirst(2)))
      parts.append("\(data.companyName ?? "company 0x\(String(data.company, radix: 16))") \(Hex.encode(data.data))")
    }
    for (service, data) in (serviceData ?? [:]).sorted(by: { $0.key < $1.key }) {
      let uuid = BluetoothUUID(service)
      let value = uuid.flatMap { AssignedValue.text(forDataOf: $0, data.octets) } ?? "= 0x\(Hex.encode(data.octets))"
      parts.append("\(uuid?.knownName ?? service) \(value)")
    }
    return parts
  }
}

extension ScanReport.Params {
  /// By signal; the identifier orders equally strong ones.
  fileprivate var order: (Int, String) { (rssi ?? -200, peripheral) }
}
