import BledRPC
import Bluetooth

extension ScanTable {
  /// The quantities of sensors that have a column of their own.
  nonisolated private static let quantities = ["temperature", "humidity", "pressure", "battery", "voltage"]

  /// The names of the values in `csvLine`.
  nonisolated static let csvHeading =
    "time,date,peripheral,address,addressType,rssi,connectable,name,services,manufacturerData,serviceData,data,"
    + "scanResponse,kind," + quantities.joined(separator: ",") + ",decoded"

  /// A report as comma-separated values: the time in seconds since 1970 and in ISO 8601, the signal strength in dBm,
  /// the services separated by blanks, data in hex, and its decoded form: its kind, the quantities of sensors,
  /// and everything as NAME=VALUE.
  nonisolated static func csvLine(_ report: ScanReport.Params) -> String {
    let decoded = report.decoded ?? []
    let members = decoded.flatMap(\.members)
    let serviceData = (report.serviceData ?? [:]).sorted { $0.key < $1.key }
    let received: [String] = [
      "\(report.time)", dateText(report.time), report.peripheral, report.address, report.addressType.text,
      report.rssi.map(String.init) ?? "", "\(report.connectable)", report.name ?? "",
      (report.services ?? []).map { "\($0)" }.joined(separator: " "),
      Hex.encode(report.manufacturerData?.octets ?? []),
      serviceData.map { "\($0.key)=\(Hex.encode($0.value.octets))" }.joined(separator: " "),
      Hex.encode(report.data.octets), Hex.encode(report.scanResponse?.octets ?? []),
    ]
    let measured = quantities.map { name in members.first { $0.name == name }?.value.dataText ?? "" }
    let kinds = decoded.map(\.kind).joined(separator: " ")
    let everything = members.map { "\($0.name)=\($0.value.dataText)" }.joined(separator: "; ")
    return CSV.line(received + [kinds] + measured + [everything])
  }
}

extension DecodedData.Value {
  /// The value as data.
  fileprivate var dataText: String {
    switch self {
    case .flag(let flag): "\(flag)"
    case .integer(let integer): "\(integer)"
    case .number(let number): numberText(number)
    case .text(let text): text
    }
  }
}
