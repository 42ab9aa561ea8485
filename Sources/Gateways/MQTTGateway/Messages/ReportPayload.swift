import BledRPC
import Bluetooth

/// The message of a received device, in the fields of OpenMQTTGateway and of bled: `bled_id`, `gateway`, `seq` and
/// `time`, which tell the reports of several gateways apart and give their order.
struct ReportPayload {
  /// The names of fields that no decoded value may have.
  static let reserved: Set<String> = [
    "id", "mac_type", "name", "rssi", "distance", "servicedata", "servicedatauuid", "manufacturerdata", "brand",
    "model", "model_id", "type", "mfid", "bled_id", "gateway", "seq", "time", "adapter", "connectable",
  ]

  let report: ScanReport.Params
  let gateway: String
  /// The number of the message: one more than the previous one.
  let sequence: UInt64

  /// The octets.
  /// - Throws: for numbers that JSON does not have.
  func octets() throws -> [UInt8] {
    var writer = JSONWriter()
    let decoded = report.decoded ?? []
    try writer.object { writer in
      writer.member("id", report.address)
      writer.member("mac_type", report.addressType.known == .public ? 0 : 1)
      if let name = report.name { writer.member("name", name) }
      if let rssi = report.rssi {
        writer.member("rssi", rssi)
        if let power = Self.measuredPower(decoded) {
          writer.name("distance")
          try writer.value(Self.distance(rssi: rssi, measuredPower: power))
        }
      }
      // One service's data as OpenMQTTGateway has it; sorted, so that the choice is stable.
      if let (uuid, data) = report.serviceData?.min(by: { $0.key < $1.key }) {
        writer.name("servicedata")
        writer.value(data)
        writer.member("servicedatauuid", uuid.lowercased())
      }
      if let data = report.manufacturerData {
        writer.name("manufacturerdata")
        writer.value(data)
      }
      if let power = report.txPower, Self.measuredPower(decoded) == nil, !Self.hasPower(decoded) {
        writer.member("txpower", power)
      }
      try DecodedFields.write(decoded, to: &writer)
      writer.member("connectable", report.connectable)
      writer.member("bled_id", report.peripheral)
      writer.member("adapter", report.adapter)
      writer.member("gateway", gateway)
      writer.member("seq", sequence)
      try writer.time(report.time)
    }
    return writer.codes
  }

  private static func hasPower(_ decoded: [DecodedData]) -> Bool { decoded.contains { $0["txPower"] != nil } }

  /// The signal strength of a beacon at 1 m, according to itself.
  private static func measuredPower(_ decoded: [DecodedData]) -> Int? {
    for data in decoded {
      if case .integer(let power) = data["measuredPower"] { return power }
    }
    return nil
  }

  /// The distance in metres in free space, rounded to centimetres.
  private static func distance(rssi: Int, measuredPower: Int) -> Double {
    let tenths = Double(min(200, max(-200, measuredPower)) - min(20, max(-127, rssi))) / 20
    return (PowerOfTen.value(tenths) * 100).rounded() / 100
  }
}
