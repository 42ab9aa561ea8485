import BledRPC
import Bluetooth
import FoundationEssentials
import Testing

struct ReportOutlineTests {
  private func message(_ name: String, rssi: Int? = -61, scanResponse: [UInt8]? = [1, 2]) throws -> RPCMessage {
    var report = ScanReport.Params(
      peripheral: "CC17", adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: "random", connectable: true,
      data: HexBytes([2, 1, 6]), time: 12.5)
    report.name = name
    report.rssi = rssi
    report.scanResponse = scanResponse.map { HexBytes($0) }
    report.services = [0x180D]
    report.serviceData = ["180F": HexBytes([100])]
    report.decoded = [DecodedData(kind: "bthome", members: [.init(name: "battery", value: .integer(100))])]
    return try RPCMessage(line: RPCEncoding.notification(ScanReport.self, report).dropLast())
  }

  /// The name requires the general reader for the line.
  @Test(arguments: ["Belt", "Gürtel", "a \"quoted\" name\n"])
  func theOutlineIsThatOfTheWholeReport(name: String) throws {
    for (rssi, scanResponse) in [(-61, [1, 2]), (nil, nil)] as [(Int?, [UInt8]?)] {
      let message = try message(name, rssi: rssi, scanResponse: scanResponse)
      let outline = try #require(message.concerned(ScanReport.Outline.self))
      let report = try message.params(ScanReport.Params.self)
      #expect(report.name == name && outline.name == name)
      #expect(outline.adapter == report.adapter && outline.connectable == report.connectable)
      #expect(outline.time == report.time)
      #expect(outline.peripheral == report.peripheral && outline.address == report.address)
      #expect(outline.addressType == report.addressType && outline.rssi == report.rssi)
      #expect(outline.data == report.data && outline.scanResponse == report.scanResponse)
      #expect(outline.rssi == rssi && outline.scanResponse?.octets == scanResponse)
    }
  }

  @Test func aReportWithoutDataHasNone() throws {
    let params = #"{"peripheral":"a","adapter":"c","address":"b","addressType":"random","connectable":true,"time":1}"#
    let message = try RPCMessage(line: Data(#"{"jsonrpc":"2.0","method":"scan.report","params":\#(params)}"#.utf8))
    #expect(message.concerned(ScanReport.Outline.self) == nil)
  }
}
