import BledRPC
import Bluetooth
import Testing

@testable import bleshell

/// The table of `bleshell devices --sensors`.
@MainActor @Suite struct SensorTableTests {
  private func report(_ device: String, name: String?, kind: String = "bthome", _ members: [DecodedData.Member])
    -> ScanReport.Params
  {
    var report = ScanReport.Params(
      peripheral: device, adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: .init(.random),
      connectable: false, data: HexBytes([]), time: 100)
    (report.name, report.rssi) = (name, -60)
    report.decoded = [DecodedData(kind: kind, members: members)]
    return report
  }

  @Test("common measurements have columns, and the others share one")
  func columns() {
    let table = SensorTable()
    table.add(
      report("b", name: nil, [.init(name: "movements", value: .integer(3)), .init(name: "co2", value: .integer(400))]))
    table.add(report("a", name: "Attic", [.init(name: "temperature", value: .number(21.5))]))
    table.add(report("a", name: "Attic", [.init(name: "battery", value: .integer(65))]))
    table.add(report("c", name: "Beacon", kind: "iBeacon", [.init(name: "major", value: .integer(1))]))
    let lines = table.table(at: 103.4).lines(width: nil) { text, _ in text }
    #expect(
      lines == [
        "NAME        TEMPERATURE      CO₂  BATTERY  AGE  RSSI  ADDRESS            OTHERS",
        "Attic           21.5 °C        -     65 %  3 s   -60  C0:DE:00:00:00:01  -",
        "- (BTHome)            -  400 ppm        -  3 s   -60  C0:DE:00:00:00:01  movements 3",
      ])
  }
}
