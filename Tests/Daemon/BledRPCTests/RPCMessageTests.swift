import BledRPC
import Bluetooth
import FoundationEssentials
import Testing

@Suite("RPCMessage") struct RPCMessageTests {
  private func message(_ line: String) throws -> RPCMessage { try RPCMessage(line: Data(line.utf8)) }

  /// The refusal of the line.
  private func refusal(_ line: String) throws -> RPCMessage.RefusedLine {
    try #require(throws: RPCMessage.RefusedLine.self) { try message(line) }
  }

  /// The message with which the params are refused.
  private func paramsRefusal<Params: RPCPayload>(_ line: String, as type: Params.Type) throws -> String {
    let message = try message(line)
    let error = try #require(throws: RPCError.self) { try message.params(type) }
    #expect(error.code == RPCError.invalidParams)
    return error.message
  }

  @Test("calls, notifications, answers and refusals")
  func kinds() throws {
    #expect(
      try message(#"{"jsonrpc":"2.0","id":1,"method":"scan.stop"}"#).kind
        == .request(id: .number(1), method: "scan.stop"))
    #expect(try message(#"{"jsonrpc":"2.0","id":"a","method":"x"}"#).kind == .request(id: .text("a"), method: "x"))
    #expect(try message(#"{"method":"scan.report","jsonrpc":"2.0"}"#).kind == .notification(method: "scan.report"))
    #expect(try message(#"{"jsonrpc":"2.0","id":-7,"result":{}}"#).kind == .success(id: .number(-7)))
    let error = RPCError(code: -32601, message: "no")
    #expect(
      try message(#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#).kind
        == .failure(id: .number(1), error))
    #expect(
      try message(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#).kind
        == .failure(id: nil, error))
  }

  @Test(
    "a line that is not valid JSON is a parse error without an id",
    arguments: ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\" \"id\":1}", "\u{0}", "{'a':1}"])
  func noJSON(line: String) throws {
    let refusal = try refusal(line)
    #expect(refusal.error.code == RPCError.parseError)
    #expect(refusal.id == nil)
  }

  @Test(
    "a comma before a closing bracket is not valid JSON, wherever it is",
    arguments: [
      #"{"jsonrpc":"2.0","id":1,"method":"x",}"#, #"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1, }}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1,2,]}}"#, #"{"jsonrpc":"2.0","id":"\"","method":"x",}"#,
    ])
  func trailingComma(line: String) throws {
    let refusal = try refusal(line)
    #expect(refusal.error.code == RPCError.parseError && refusal.id == nil)
  }

  @Test("a comma before a bracket in a string is text")
  func commaInText() throws {
    let line = #"{"jsonrpc":"2.0","id":",}\",]\\","method":"x","params":{"ä":",]"}}"#
    #expect(try message(line).kind == .request(id: .text(#",}",]\"#), method: "x"))
  }

  @Test("octets that are not UTF-8 are a parse error")
  func noUTF8() throws {
    let line = Data(#"{"jsonrpc":"2.0","id":1,"method":""#.utf8) + [0xFF, 0xFE] + Data(#""}"#.utf8)
    let refusal = try #require(throws: RPCMessage.RefusedLine.self) { try RPCMessage(line: line) }
    #expect(refusal.error.code == RPCError.parseError || refusal.error.code == RPCError.invalidRequest)
  }

  @Test("JSON nested without end is refused, not followed")
  func nesting() throws {
    let depth = 100_000
    let line = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(try refusal(line).error.code == RPCError.parseError)
    let inside = #"{"jsonrpc":"2.0","id":1,"method":"x","params":"# + line + "}"
    #expect(try refusal(inside).error.code == RPCError.parseError)
  }

  @Test("batches are refused, with what to send instead")
  func batch() throws {
    let refusal = try refusal(#"[{"jsonrpc":"2.0","id":1,"method":"scan.stop"}]"#)
    #expect(refusal.error.code == RPCError.invalidRequest)
    #expect(refusal.error.message.contains("batches are not supported"))
  }

  @Test(
    "JSON that is not a message is an invalid request, with the id if there is one",
    arguments: [
      ("5", nil), ("\"text\"", nil), ("null", nil), ("{}", nil),
      (#"{"id":1,"method":"x"}"#, .number(1)),
      (#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, .number(1)),
      (#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, .number(1)),
      (#"{"jsonrpc":"2.0","id":"a","method":5}"#, .text("a")),
      (#"{"jsonrpc":"2.0","id":1,"method":"x","error":{"code":1,"message":""}}"#, .number(1)),
      (#"{"jsonrpc":"2.0"}"#, nil),
      (#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, .number(1)),
    ] as [(String, RequestID?)])
  func noMessage(line: String, id: RequestID?) throws {
    let refusal = try refusal(line)
    #expect(refusal.error.code == RPCError.invalidRequest)
    #expect(refusal.id == id)
  }

  @Test(
    "an id is an integer or a string",
    arguments: ["null", "1.5", "1e400", "99999999999999999999", "true", "[1]", "{}"])
  func badID(id: String) throws {
    let refusal = try refusal(#"{"jsonrpc":"2.0","id":\#(id),"method":"x"}"#)
    #expect(refusal.error.code == RPCError.invalidRequest || refusal.error.code == RPCError.parseError)
    #expect(refusal.id == nil)
  }

  @Test("the refusal of an id says what it may be", arguments: ["1.5", "true", "[1]", "{}"])
  func badIDIsExplained(id: String) throws {
    let refusal = try refusal(#"{"jsonrpc":"2.0","id":\#(id),"method":"x"}"#)
    #expect(refusal.error.message == "id: expected an integer or a string")
  }

  @Test("the largest and smallest numbers are ids")
  func extremeID() throws {
    for id in [Int.min, -1, 0, Int.max] {
      #expect(
        try message(#"{"jsonrpc":"2.0","id":\#(id),"method":"x"}"#).kind == .request(id: .number(id), method: "x"))
    }
  }

  @Test("missing params count as {}")
  func missingParams() throws {
    let call = #"{"jsonrpc":"2.0","id":1,"method":"x"}"#
    #expect(try message(call).params(ScanStart.Params.self).services == nil)
    #expect(try paramsRefusal(call, as: GATTRead.Params.self) == "peripheral: missing")
  }

  @Test("params of methods without any are an object all the same", arguments: ["\"x\"", "5", "[]", "true"])
  func paramsThatAreNoObject(params: String) throws {
    let call = #"{"jsonrpc":"2.0","id":1,"method":"x","params":\#(params)}"#
    #expect(try paramsRefusal(call, as: Empty.self) == "params: expected an object")
    #expect(try paramsRefusal(call, as: ScanStart.Params.self) == "params: expected an object")
  }

  @Test("unknown params are refused, and the error lists the known ones; names that begin with x- are ignored")
  func unknownMembers() throws {
    func call(_ params: String) -> String { #"{"jsonrpc":"2.0","id":1,"method":"x","params":{\#(params)},"more":1}"# }
    let noted = call(#""peripheral":"p","handle":3,"x-note":{"handel":1}"#)
    #expect(try message(noted).params(GATTRead.Params.self).attribute.handle == 3)
    #expect(
      try paramsRefusal(call(#""peripheral":"p","handle":3,"later":[]"#), as: GATTRead.Params.self)
        == """
        params: "later" is not known here; there is "characteristic", "descriptor", "force", "handle", "index", \
        "peripheral", "service"
        """)
    let servces = try paramsRefusal(call(#""servces":["180D"]"#), as: ScanStart.Params.self)
    #expect(servces.contains("\"servces\" is not known here") && servces.contains("\"services\""))
    let characteristics = #"[{"uuid":"2A37","properties":[]},{"uuid":"2A38","properties":[],"propertys":[]}]"#
    let nested = call(#""service":{"uuid":"180D","characteristics":\#(characteristics)}"#)
    #expect(
      try paramsRefusal(nested, as: ServiceAdd.Params.self)
        .hasPrefix("params.service.characteristics[1]: \"propertys\" is not known here"))
    // An object that is read as a dictionary may have any members.
    let data = call(#""serviceData":{"180D":"01"}"#)
    #expect(try message(data).params(AdvertisingStart.Params.self).serviceData?.count == 1)
    #expect(try paramsRefusal(call(#""a":1"#), as: Empty.self) == "params: \"a\" is not known here; there is nothing")
  }

  @Test(
    "the error for invalid params names the place and what is expected there",
    arguments: [
      (#"{"handle":1}"#, "params.peripheral: missing"),
      (#"{"peripheral":5,"handle":1}"#, "params.peripheral: expected a string"),
      (#"{"peripheral":"p","handle":"1"}"#, "params.handle: expected an integer"),
      (#"{"peripheral":null,"handle":1}"#, "params.peripheral: expected a string, found null"),
      (#"[]"#, "params: expected an object"),
      (#""p""#, "params: expected an object"),
    ])
  func wrongParams(params: String, expected: String) throws {
    let call = #"{"jsonrpc":"2.0","id":1,"method":"x","params":\#(params)}"#
    #expect(try paramsRefusal(call, as: GATTRead.Params.self) == expected)
  }

  @Test("the error for numbers out of range, odd hex and wrong UUIDs names the place")
  func wrongValues() throws {
    func call(_ params: String) -> String { #"{"jsonrpc":"2.0","id":1,"method":"x","params":\#(params)}"# }
    for handle in ["-1", "65536", "1.5", "1e300"] {
      let text = try paramsRefusal(call(#"{"peripheral":"p","handle":\#(handle)}"#), as: GATTRead.Params.self)
      #expect(text.hasPrefix("params.handle: "), "\(text)")
    }
    for value in ["0", "0g", "0x01"] {
      let params = #"{"peripheral":"p","handle":1,"value":"\#(value)"}"#
      #expect(try paramsRefusal(call(params), as: GATTWrite.Params.self).contains("params.value: bytes must be"))
    }
    let text = try paramsRefusal(call(#"{"services":["180D","18"]}"#), as: ScanStart.Params.self)
    #expect(text.hasPrefix("params.services[1]: \"18\" is not a UUID"), "\(text)")
    let write = #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37"}]}}"#
    #expect(
      try paramsRefusal(call(write), as: ServiceAdd.Params.self)
        == "params.service.characteristics[0].properties: missing")
  }

  @Test("the error names the place also where JSONDecoder gives none")
  func valuesOutOfRange() throws {
    func refusal<Params: RPCPayload>(_ params: String, _ type: Params.Type) throws -> String {
      try paramsRefusal(#"{"jsonrpc":"2.0","id":1,"method":"x","params":\#(params)}"#, as: type)
    }
    let half = "expected a string of valid characters"
    #expect(try refusal(#"{"address":"\ud800"}"#, PeripheralConnect.Params.self) == "params.address: \(half)")
    #expect(try refusal(#"{"peripheral":"\udc00","handle":1}"#, GATTRead.Params.self) == "params.peripheral: \(half)")
    #expect(
      try refusal(#"{"address":"x","timeout":1e999}"#, PeripheralConnect.Params.self)
        == "params.timeout: expected a number within its range")
    for handle in ["-1", "65536", "1.5"] {
      #expect(
        try refusal(#"{"service":{"uuid":"180D","includes":[\#(handle)]}}"#, ServiceAdd.Params.self)
          == "params.service.includes: expected integers within their range")
    }
    #expect(
      try refusal(#"{"central":"x","latency":"quick"}"#, ServerSetLatency.Params.self)
        == #"params.latency: "quick" is not one of "low", "medium", "high""#)
  }

  @Test("the error for an invalid result names the place")
  func wrongResult() throws {
    let answer = try message(#"{"jsonrpc":"2.0","id":1,"result":{"value":1}}"#)
    let error = try #require(throws: RPCError.self) { try answer.result(GATTRead.Result.self) }
    #expect(error.message.hasSuffix("result.value: expected a string"))
  }

  @Test("lines cut at any place are refused, never understood as something else")
  func cuts() throws {
    let whole = Array(#"{"jsonrpc":"2.0","id":12,"method":"gatt.read","params":{"peripheral":"p","handle":3}}"#.utf8)
    for length in 0..<whole.count {
      #expect(throws: RPCMessage.RefusedLine.self) { try RPCMessage(line: Data(whole[..<length])) }
    }
  }
}
