import BledRPC
import Bluetooth
import FoundationEssentials
import Testing

@Suite("RPCEncoding") struct RPCEncodingTests {
  private func received(_ line: Data) throws -> RPCMessage {
    #expect(line.last == UInt8(ascii: "\n"))
    #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
    return try RPCMessage(line: line.dropLast())
  }

  @Test("a call survives the way there")
  func request() throws {
    let params = GATTWrite.Params(peripheral: "p\n\"/", handle: 0xFFFF, value: HexBytes([0, 0xAB]), response: false)
    let line = try RPCEncoding.request(GATTWrite.self, id: .number(3), params)
    let message = try received(line)
    #expect(message.kind == .request(id: .number(3), method: "gatt.write"))
    let back = try message.params(GATTWrite.Params.self)
    #expect(back.peripheral == params.peripheral)
    #expect(back.attribute.handle == 0xFFFF)
    #expect(back.value.octets == [0, 0xAB])
    #expect(back.response == false)
  }

  @Test("members without a value are left out, octets and UUIDs have their text form")
  func wire() throws {
    let line = try RPCEncoding.request(
      ScanStart.self, id: .text("a"), .init(services: [0x180D, BluetoothUUID(high: 1, low: 2)]))
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains(#""params":{"services":["180D","00000000-0000-0001-0000-000000000002"]}"#))
    let write = try RPCEncoding.request(
      GATTWrite.self, id: .number(1), .init(peripheral: "p", handle: 1, value: HexBytes([0xAB])))
    #expect(String(decoding: write, as: UTF8.self).contains(#""value":"ab""#))
  }

  @Test("a notification has no id")
  func notification() throws {
    let line = try RPCEncoding.notification(ServerReady.self, Empty())
    #expect(try received(line).kind == .notification(method: "server.ready"))
    #expect(!String(decoding: line, as: UTF8.self).contains("\"id\""))
  }

  @Test("a result survives the way back")
  func success() throws {
    let tree = ServiceDescription(
      handle: 1, end: 5, uuid: 0x180D, primary: true,
      characteristics: [.init(handle: 3, end: 4, uuid: 0x2A37, properties: ["notify"], descriptors: [])])
    let message = try received(RPCEncoding.success(id: .number(9), GATTServices(services: [tree])))
    #expect(message.kind == .success(id: .number(9)))
    #expect(try message.result(GATTServices.self).services == [tree])
  }

  @Test("an error carries domain, code and name, and becomes the same error again")
  func failure() throws {
    let error = BluetoothError(domain: .att, code: 0x0F, name: "insufficientEncryption", message: "Pair first.")
    let message = try received(RPCEncoding.failure(id: .number(1), RPCError(error)))
    guard case .failure(.number(1), let back) = message.kind else {
      Issue.record("not a failure: \(message.kind)")
      return
    }
    #expect(back.code == RPCError.operationFailed)
    #expect(back.bluetoothError == error)
  }

  @Test("a failure without an id says null")
  func failureWithoutID() throws {
    let line = try RPCEncoding.failure(id: nil, RPCError(code: RPCError.parseError, message: "no"))
    #expect(String(decoding: line, as: UTF8.self).contains(#""id":null"#))
  }

  @Test("any JSON survives as it is")
  func anyJSON() throws {
    let text = #"{"a":[1,-2.5,true,null,"x",{}],"b":{"c":9007199254740993}}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(value == ["a": [1, .number(-2.5), true, .null, "x", [:]], "b": ["c": 9_007_199_254_740_993]])
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
  }
}
