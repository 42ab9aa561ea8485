import Bluetooth
import FoundationEssentials
import Testing

@testable import BledRPC

/// The one-pass reader agrees with the general one, and the hand-made writer with Foundation's.
@Suite("Plain form") struct PlainFormTests {
  /// A member that only `JSONReader` reads, put in front, keeps a line from the one-pass reader.
  private func disguised(_ line: String) -> String { #"{"\u0066":0,"# + line.dropFirst() }

  private static let lines: [String] = [
    #"{"jsonrpc":"2.0","id":1,"method":"gatt.read","params":{"peripheral":"A","handle":3}}"#,
    #"{ "id" : "x" , "jsonrpc" : "2.0" , "method" : "gatt.read" , "params" : {"handle":65535 , "peripheral" : "" } } "#,
    #"{"jsonrpc":"2.0","method":"m","extra":[1,-0,1.5e-3,[],{},true,false,null,{"a":[{}]}]}"#,
    #"{"jsonrpc":"2.0","id":0,"result":{}}"#, #"{"jsonrpc":"2.0","id":-12,"result":{"value":"00fF"}}"#,
    #"{"jsonrpc":"2.0","id":123456789012345678,"method":"m"}"#,
    #"{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"}"#,
    #"{"jsonrpc":"2.0","id":01,"method":"m"}"#, #"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,
    #"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#, #"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
    #"{"jsonrpc":"2.0","id":[],"method":"m"}"#, #"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
    #"{"jsonrpc":"2.0","method":"a","method":"b"}"#, #"{"jsonrpc":"1.0","method":"a"}"#, #"{"method":"a"}"#,
    #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","id":1,"result":5}"#,
    #"{"jsonrpc":"2.0","id":1,"method":"m","params":5}"#,
    #"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, #"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
    #"{"jsonrpc":"2.0","id":1,"method":"m","error":{"code":1,"message":"x"}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    #"{"jsonrpc":"2.0","method":"\u0061"}"#, #"{"jsonrpc":"2.0","method":"grün"}"#,
    "{\"jsonrpc\":\"2.0\",\"method\":\"a\tb\"}",
    #"{"jsonrpc":"2.0","method":"m"}x"#, #"{"jsonrpc":"2.0","method":"m",}"#, #"{"jsonrpc":"2.0","method":"m""#,
    #"{"jsonrpc":"2.0","method":"m","x":tru}"#, #"{"jsonrpc":"2.0","method":"m","x":1.}"#,
    #"{"jsonrpc":"2.0","method":"m","x":-}"#,
    #"{"jsonrpc":"2.0","method":"m","x":[1,]}"#, #"{"jsonrpc":"2.0","method":"m","x":[1 2]}"#,
    #"{"jsonrpc":"2.0","method":"m","x":.5}"#,
    #"{"jsonrpc":"2.0","method":"m","x":1e}"#, #"{"jsonrpc":"2.0","method":"m","x":00}"#,
    #"{"jsonrpc":"2.0" "method":"m"}"#,
  ]

  @Test("a line means the same to both readers, or both refuse it", arguments: lines)
  func sameKind(line: String) {
    func read(_ text: String) -> Result<RPCMessage.Kind, RPCMessage.RefusedLine> {
      Result { () throws(RPCMessage.RefusedLine) in try RPCMessage(line: Data(text.utf8)).kind }
    }
    switch (read(line), read(disguised(line))) {
    case (.success(let one), .success(let other)): #expect(one == other)
    case (.failure(let one), .failure(let other)):
      #expect(one.id == other.id)
      #expect(one.error == other.error)
    case (let one, let other): Issue.record("\(one) is not \(other)")
    }
  }

  @Test("ordinary lines are read in one pass; all others are left to JSONReader")
  func plain() {
    func isPlain(_ line: String) -> Bool { PlainEnvelope(Data(line.utf8)) != nil }
    for line in Self.lines.prefix(6) { #expect(isPlain(line), "\(line)") }
    for line in Self.lines { #expect(!isPlain(disguised(line)), "\(line)") }
    let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    #expect(!isPlain(#"{"jsonrpc":"2.0","method":"m","x":\#(deep)}"#))
  }

  private static let params: [String] =
    [
      #"{"peripheral":"A","handle":3}"#, #"{"peripheral":"A","handle":3,"value":""}"#,
      #"{"peripheral":"A","handle":3,"value":"00Ff","response":true}"#,
      #"{"peripheral":"A","handle":3,"value":"00","response":false,"more":{"a":[1]}}"#,
      #"{"peripheral":"A","handle":3,"value":"00","serial":7}"#,
      #"{"peripheral":"A","handle":3,"value":"00","serial":-7}"#,
      #"{"peripheral":"A","handle":3,"value":"00","serial":7.0}"#,
      #"{"peripheral":"A","handle":3,"value":"00","serial":""}"#,
      #"{"peripheral":"A","handle":3,"value":"00","response":null}"#, #"{"peripheral":"A","handle":3,"value":"0"}"#,
      #"{"peripheral":"A","handle":3,"value":"0g"}"#, #"{"peripheral":"A","handle":3,"value":5}"#,
      #"{"peripheral":"A","handle":65536,"value":"00"}"#, #"{"peripheral":"A","handle":-1,"value":"00"}"#,
      #"{"peripheral":"A","handle":3.0,"value":"00"}"#, #"{"peripheral":"A","handle":"3","value":"00"}"#,
      #"{"peripheral":"A","value":"00"}"#, #"{"handle":1,"value":"00"}"#, #"{"peripheral":1,"handle":1,"value":"00"}"#,
      #"{"peripheral":"A","peripheral":"B","handle":1,"value":"00"}"#,
      #"{"peripheral":"A","handle":1,"handle":2,"value":"00"}"#,
      #"{"peripheral":"A","handle":1,"value":"00","value":"11"}"#,
      #"{"peripheral":"A","handle":1,"value":"00","response":1}"#,
      #"{"peripheral":"A","handle":1,"value":"00","response":true,"response":false}"#, #"{}"#, #"[]"#, #"null"#,
      #"{"peripheral":"A","characteristic":"2a37"}"#, #"{"peripheral":"A","characteristic":"2A37","value":"00"}"#,
      #"{"peripheral":"A","characteristic":"0x2A37","service":"180D","descriptor":"2902","index":-1,"value":"00"}"#,
      #"{"peripheral":"A","service":"12345678-1234-5678-1234-567812345678","handle":1,"value":"00"}"#,
      #"{"peripheral":"A","service":"12345678-1234-5678-1234_567812345678","value":"00"}"#,
      #"{"peripheral":"A","characteristic":"2A3","value":"00"}"#, #"{"peripheral":"A","characteristic":10807}"#,
      #"{"peripheral":"A","characteristic":null,"handle":1,"value":"00"}"#, #"{"peripheral":"A","index":1.5}"#,
      #"{"peripheral":"A","characteristic":"2A37","characteristic":"2A38","value":"00"}"#,
      #"{"handle":7,"uuid":"2A37"}"#, #"{"handle":7,"uuid":"2A37","value":"00"}"#, #"{"uuid":"x","value":"00"}"#,
      #"{"handle":7,"handle":8,"value":"00"}"#, #"{"handle":65536,"uuid":"2A37"}"#,
    ]
    + [
      "1763437265.123456", "0", "0.5", "-0.5", " 1 ", "1e5", "1.5E-3", "null",
      "123456789012345678901", "1.1234567890123456789012",
    ].map { #"{"peripheral":"A","handle":3,"value":"00","time":\#($0)}"# }

  @Test(
    "what is read and written thousands of times is read in one pass, by handle or by UUID",
    arguments: [
      #"{"peripheral":"A","handle":3}"#, #"{"peripheral":"A","characteristic":"2A37"}"#,
      #"{"peripheral":"A","service":"180D","characteristic":"2A37","descriptor":"2902","index":0}"#,
    ])
  func byUUID(params: String) {
    func isPlain<Value: RPCPayload>(_ text: String, _: Value.Type) -> Bool {
      let codes = Array(text.utf8)
      return codes.withUnsafeBufferPointer {
        var scanner = JSONScanner($0)
        return Value(from: &scanner) != nil
      }
    }
    #expect(isPlain(params, GATTRead.Params.self))
    #expect(isPlain(params.dropLast() + #","value":"00","response":true}"#, GATTWrite.Params.self))
    #expect(isPlain(#"{"value":"00","handle":3,"uuid":"2A37"}"#, GATTRead.Result.self))
    #expect(isPlain(#"{"handle":3,"uuid":"2A37"}"#, AttributeFound.self))
  }

  @Test("params and results mean the same to both readers, or both refuse them", arguments: params)
  func sameParams(params: String) throws {
    try compare(params, GATTRead.Params.self)
    try compare(params, GATTWrite.Params.self)
    try compare(params, GATTValue.Params.self)
    try compare(params, CharacteristicReference.self)
    try compare(params, Empty.self)
    let line = #"{"jsonrpc":"2.0","id":1,"result":\#(params)}"#
    let (one, other) = (try RPCMessage(line: Data(line.utf8)), try RPCMessage(line: Data(disguised(line).utf8)))
    #expect(written { try one.result(GATTRead.Result.self) } == written { try other.result(GATTRead.Result.self) })
    #expect(written { try one.result(Empty.self) } == written { try other.result(Empty.self) })
    #expect(written { try one.result(AttributeFound.self) } == written { try other.result(AttributeFound.self) })
  }

  private func compare<Params: RPCPayload>(_ params: String, _: Params.Type) throws {
    let line = #"{"jsonrpc":"2.0","method":"m","params":\#(params)}"#
    let (one, other) = (try RPCMessage(line: Data(line.utf8)), try RPCMessage(line: Data(disguised(line).utf8)))
    #expect(written { try one.params(Params.self) } == written { try other.params(Params.self) })
  }

  /// The value read, as Foundation writes it, or the reason why it was refused.
  private func written(_ read: () throws -> some Encodable) -> String {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return String(decoding: try encoder.encode(try read()), as: UTF8.self)
    } catch { return "\(error)" }
  }

  @Test("what is written by hand is read as what Foundation writes")
  func sameWriting() throws {
    let octets = HexBytes(Array(0...255))
    try compareWritten(Empty())
    try compareWritten(GATTRead.Params(peripheral: "A\"\\/\u{1}\u{1F}\n é 🙂", handle: 0))
    try compareWritten(GATTRead.Result(value: octets))
    try compareWritten(GATTRead.Result(value: HexBytes([])))
    for response in [nil, true, false] {
      try compareWritten(GATTWrite.Params(peripheral: "A", handle: 65535, value: octets, response: response))
    }
    try compareWritten(GATTValue.Params(peripheral: "", handle: 1, value: octets))
    try compareWritten(GATTValue.Params(peripheral: "", handle: 1, value: octets, time: 1_763_437_265.123456))
    try compareWritten(GATTValue.Params(peripheral: "", handle: 1, value: octets, time: 0.5, serial: 7))
    let full = PeripheralList.Entry(
      peripheral: "P", address: "00:11:22:33:44:55", addressType: "public", adapter: "hci0", name: "\"Näme", rssi: -1,
      state: "connected", mine: true, mtu: 23, connectable: false,
      blocked: true, incoming: true, sinceReport: 1.5)
    let poor = PeripheralList.Entry(
      peripheral: "P", address: "A", addressType: "random", adapter: "hci0", name: nil, rssi: nil,
      state: "disconnected", mine: false, mtu: nil)
    for entries in [[], [poor], [full, poor]] { try compareWritten(PeripheralList.Result(peripherals: entries)) }
    var report = ScanReport.Params(
      peripheral: "P", adapter: "hci0", address: "00:11:22:33:44:55", addressType: "public", connectable: false,
      data: octets, time: 1_763_437_265.123456)
    try compareWritten(report)
    (report.name, report.rssi, report.txPower, report.appearance) = ("\u{7F}\"Näme", -127, 20, 0)
    report.services = [0x180D, BluetoothUUID(0x1234_5678 as UInt32), BluetoothUUID(high: 1, low: 2)]
    report.solicitedServices = []
    (report.serviceData, report.manufacturerData) = (["180D": octets, "FFF0": HexBytes([])], octets)
    (report.scanResponse, report.time, report.connectable) = (octets, 5, true)
    (report.truncated, report.directed, report.primaryPHY, report.secondaryPHY) = (true, true, "1M", "coded")
    (report.sid, report.scan) = (15, 65_535)
    try compareWritten(report)
    let decoded = [
      DecodedData(
        kind: "bthome",
        members: [
          .init(name: "temperature", value: .number(-25.06)), .init(name: "text", value: .text("\"Ä")),
          .init(name: "motion", value: .flag(false)), .init(name: "count", value: .integer(-1)),
        ]), DecodedData(kind: "govee", members: []),
    ]
    for decoded in [nil, [], decoded] {
      report.decoded = decoded
      try compareWritten(report)
      // The form of the report, which is written once, with the parts that change between reports.
      let form = try ScanReport.Form(report)
      for (rssi, time) in [(-3, 7.5), (nil, 8)] as [(Int?, Double)] {
        (report.rssi, report.time) = (rssi, time)
        let line = try form.line(
          decoded: try decoded.map(ScanReport.encoded), scan: report.scan, rssi: rssi, time: time)
        #expect(try line == RPCEncoding.notification(ScanReport.self, report))
      }
    }
  }

  @Test("Decoded data is read as it was written, in the order of its names")
  func decodedData() throws {
    let written = #"[{"kind":"x","b":1,"a":-2.5,"d":true,"c":"t","list":[1],"none":null}]"#
    let read = try JSONDecoder().decode([DecodedData].self, from: Data(written.utf8))
    #expect(read.map(\.kind) == ["x"])
    #expect(
      read.first?.members == [
        .init(name: "a", value: .number(-2.5)), .init(name: "b", value: .integer(1)),
        .init(name: "c", value: .text("t")), .init(name: "d", value: .flag(true)),
      ])
    let report = ScanReport.Params(
      peripheral: "", adapter: "", address: "", addressType: "", connectable: true, data: HexBytes([]), time: 1)
    var told = report
    told.decoded = read
    let line = try RPCEncoding.notification(ScanReport.self, told)
    let message = try RPCMessage(line: Data(line.dropLast()))
    #expect(try message.params(ScanReport.Params.self) == told)
  }

  private func compareWritten<Value: RPCPayload>(_ value: Value) throws {
    var writer = JSONWriter()
    try value.write(to: &writer)
    let one = try JSONDecoder().decode(JSONValue.self, from: Data(writer.codes))
    let other = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    #expect(one == other)
  }

  @Test("a number that JSON does not have is not written")
  func noNumber() {
    for time in [Double.nan, .infinity] {
      #expect(throws: (any Error).self) {
        try RPCEncoding.notification(
          ScanReport.self,
          .init(
            peripheral: "", adapter: "", address: "", addressType: "", connectable: true, data: HexBytes([]), time: time
          ))
      }
    }
  }
}
