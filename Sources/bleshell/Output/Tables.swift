import BledRPC
import Bluetooth
import FoundationEssentials

/// Columns of text under headings, as wide as they need to be.
struct Table {
  /// One field.
  struct Cell {
    var text: String
    var style: Output.Style = .plain
  }

  /// A column: its heading, and whether it is right-aligned.
  struct Column {
    var heading: String
    var right = false
  }

  let columns: [Column]
  var rows: [[Cell]] = []

  init(_ columns: Column...) { self.columns = columns }

  /// The lines, headings first. Control characters in text from devices are replaced.
  /// - Parameter width: The width at which lines are truncated; no limit if nil.
  func lines(_ output: Output, width: Int? = nil) -> [String] {
    let heading = columns.map { Cell(text: $0.heading, style: .dim) }
    let all = ([heading] + rows).map { $0.map { Cell(text: Output.clean($0.text), style: $0.style) } }
    let widths = columns.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
    return all.map { row in
      var line = ""
      var used = 0
      for (index, cell) in row.enumerated() {
        let last = index == row.count - 1
        var text = cell.text
        let padding = String(repeating: " ", count: widths[index] - text.count)
        text = columns[index].right ? padding + text : last ? text : text + padding
        if index > 0 { text = "  " + text }
        if let width { text = String(text.prefix(max(0, width - used))) }
        used += text.count
        line += output.styled(text, cell.style)
      }
      return line
    }
  }
}

/// The devices of a scan: one line each, redrawn in place on a terminal.
@MainActor final class ScanTable {
  private let output: Output
  private let live: LiveLines?
  private var reports: [String: ScanReport.Params] = [:]
  private var order: [String] = []

  init(output: Output, live: Bool) {
    self.output = output
    self.live = live ? LiveLines(output: output) : nil
    draw()
  }

  func add(_ report: ScanReport.Params) {
    if reports.updateValue(report, forKey: report.peripheral) == nil { order.append(report.peripheral) }
    if live?.isDue == true { draw() }
  }

  /// A device is not heard any more.
  func lose(_ peripheral: String) {
    guard reports.removeValue(forKey: peripheral) != nil else { return }
    order.removeAll { $0 == peripheral }
    draw()
  }

  /// Prints the final table.
  func finish() {
    live?.erase()
    table.lines(output, width: output.isTerminal ? Output.terminalSize.columns : nil).forEach(output.line)
    if order.isEmpty { output.problem("no device was heard") }
  }

  private func draw() {
    live?.draw(
      table.lines(output, width: Output.terminalSize.columns), "scanning, \(order.count) heard; Ctrl-C stops")
  }

  private var table: Table {
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "RSSI", right: true),
      .init(heading: "IDENTIFIER"), .init(heading: "ADVERTISES"))
    for report in order.compactMap({ reports[$0] }) {
      table.rows.append([
        .init(text: report.name ?? "-", style: .bold), .init(text: "\(report.address) \(report.addressType)"),
        .init(text: report.rssi.map(String.init) ?? "-"), .init(text: "\(report.peripheral.prefix(8))", style: .dim),
        .init(text: Self.contents(report), style: .plain),
      ])
    }
    return table
  }

  /// One report on a line of its own.
  static func reportLine(_ report: ScanReport.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date(timeIntervalSince1970: report.time)), .dim)
    let name = output.styled(Output.clean(report.name ?? "-"), .bold)
    let rssi = report.rssi.map { "\($0) dBm" } ?? "-"
    return "\(time)  \(report.address)  \(rssi)  \(name)  \(Output.clean(contents(report)))"
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

  private static func contents(_ report: ScanReport.Params) -> String {
    var parts = report.decoded?.map(\.text) ?? contents(report.services, report.manufacturerData, report.serviceData)
    if report.primaryPHY == "coded" { parts.append("(long range)") }
    if !report.connectable { parts.append("(not connectable)") }
    return parts.joined(separator: ", ")
  }

  /// Services by name, company, data.
  private static func contents(
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
