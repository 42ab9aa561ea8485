import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// The sensors that are heard, one line each: name, measurements in columns, battery and age.
@MainActor final class SensorTable {
  /// How many sensors are listed.
  private static let maximumSensors = 1024
  /// How many measurements have a column; others share the last one.
  private static let maximumColumns = 3

  private struct Sensor {
    var report: ScanReport.Params
    var reading: SensorReading
  }

  private var sensors: [String: Sensor] = [:]

  /// True if no sensor was heard.
  var isEmpty: Bool { sensors.isEmpty }

  /// Takes a report. The reports of other devices are ignored.
  func add(_ report: ScanReport.Params) {
    let decoded = report.decoded ?? []
    if sensors[report.peripheral]?.reading.update(decoded) != nil {
      sensors[report.peripheral]?.report = report
    } else if sensors.count < Self.maximumSensors, let reading = SensorReading(decoded) {
      sensors[report.peripheral] = Sensor(report: report, reading: reading)
    }
  }

  /// By name; sensors without one come last.
  private var sorted: [Sensor] {
    sensors.values.sorted { one, other in
      let keys = [one.report, other.report].map { ($0.name == nil ? 1 : 0, $0.name?.lowercased() ?? "", $0.address) }
      return keys[0] < keys[1]
    }
  }

  /// The table.
  /// - Parameter now: seconds since the epoch.
  func table(at now: Double) -> Table {
    let (sensors, columns) = (sorted, columns)
    let measured = columns.map { Table.Column(heading: $0.title.uppercased(), right: true) }
    var table = Table(
      [.init(heading: "NAME")] + measured + [
        .init(heading: "BATTERY", right: true), .init(heading: "AGE", right: true), .init(heading: "RSSI", right: true),
        .init(heading: "ADDRESS"), .init(heading: "OTHERS"),
      ])
    table.flexible = 0
    for sensor in sensors { table.rows.append(row(of: sensor, columns, at: now)) }
    return table
  }

  private func row(of sensor: Sensor, _ columns: [SensorReading.Value], at now: Double) -> [Table.Cell] {
    let (report, reading) = (sensor.report, sensor.reading)
    let values = reading.measurements
    let others = values.filter { value in !columns.contains { $0.name == value.name } }
    let words = [reading.problem].compactMap { $0 } + others.map { "\($0.title) \($0.text)" }
    var row = [Table.Cell(text: report.name ?? "- (\(reading.format))", style: .bold)]
    for column in columns { row.append(.init(text: values.first { $0.name == column.name }?.text ?? "-")) }
    row.append(.init(text: reading.battery?.text ?? "-"))
    row.append(.init(text: "\(max(0, Int(exactly: (now - report.time).rounded()) ?? 0)) s"))
    row.append(.init(text: report.rssi.map { String($0) } ?? "-"))
    row.append(.init(text: report.address))
    row.append(.init(text: words.isEmpty ? "-" : words.joined(separator: ", ")))
    return row
  }

  /// The measurements with a column: the most important ones.
  private var columns: [SensorReading.Value] {
    var ranked: [Int: SensorReading.Value] = [:]
    for value in sensors.values.flatMap(\.reading.measurements) {
      if let rank = SensorReading.rank(value.name) { ranked[rank] = value }
    }
    return ranked.sorted { $0.key < $1.key }.prefix(Self.maximumColumns).map(\.value)
  }

  /// A sensor as an object.
  struct Object: Encodable {
    let peripheral: String
    let address: String
    let name: String?
    let rssi: Int?
    let format: String
    let problem: String?
    let values: [String: JSONValue]
    let units: [String: String]
  }

  /// The sensors as objects, each with the time at which it was last heard.
  var objects: [(object: Object, time: Double)] {
    sorted.map { sensor in
      let values = sensor.reading.values
      let object = Object(
        peripheral: sensor.report.peripheral, address: sensor.report.address, name: sensor.report.name,
        rssi: sensor.report.rssi, format: sensor.reading.format, problem: sensor.reading.problem,
        values: .init(values.map { ($0.name, JSONValue($0.value)) }) { first, _ in first },
        units: .init(values.compactMap { value in value.unit.map { (value.name, $0) } }) { first, _ in first })
      return (object, sensor.report.time)
    }
  }
}

extension JSONValue {
  fileprivate init(_ value: DecodedData.Value) {
    switch value {
    case .flag(let flag): self = .bool(flag)
    case .integer(let integer): self = .integer(integer)
    case .number(let number): self = .number(number)
    case .text(let text): self = .text(text)
    }
  }
}
