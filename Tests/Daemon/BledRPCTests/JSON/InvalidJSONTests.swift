import Bluetooth
import FoundationEssentials
import Testing

@testable import BledRPC

/// The border of JSON, to the octet, and the forms that no message may have.
@Suite("JSON at the border") struct InvalidJSONTests {
  private func refusal(_ octets: [UInt8]) -> RPCMessage.RefusedLine? {
    do throws(RPCMessage.RefusedLine) {
      _ = try RPCMessage(line: Data(octets))
      return nil
    } catch {
      return error
    }
  }

  private func refusal(_ line: String) -> RPCMessage.RefusedLine? { refusal(Array(line.utf8)) }

  /// Two lines with the value where the method ignores it: of the plain form, and not.
  private func lines(with value: [UInt8]) -> [[UInt8]] {
    ["", #""\u0066":0,"#].map { other in
      let start = #"{"jsonrpc":"2.0","id":1,\#(other)"method":"adapter.list","params":{"x-y":"#
      return Array(start.utf8) + value + Array("}}".utf8)
    }
  }

  @Test(
    "valid values are read, wherever they are",
    arguments: [
      "0", "-0", "1.5", "-1e+9", "1E-2", "1e999", "\"\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\uD83D\\uDE00\"",
      "\"\\ud800\"", "\"é 🙂 \u{7F}\u{10FFFF}\"", "[]", "[[],{}]", "[1 , 2\t]", "{ }", "{\"a\":{\"b\":[null]}}",
      "{\"a\":1,\"a\":2}", "true", "false", "null",
    ])
  func valid(value: String) throws {
    for line in lines(with: Array(value.utf8)) {
      #expect(refusal(line) == nil, "\(String(decoding: line, as: UTF8.self)): \(refusal(line).map { "\($0)" } ?? "")")
      _ = try RPCMessage(line: Data(line)).params(Empty.self)
    }
  }

  @Test(
    "what is not JSON is a parse error, also where a method ignores it",
    arguments: [
      "", "01", "-", "+1", ".5", "5.", "1e", "1e+", "0x1", "Infinity", "NaN", "tru", "truex", "nul", "True", "'a'",
      "\"",
      "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\tb\"", "\"\\", "[1,]", "[,1]", "[1 2]", "[1", "1]", "{\"a\"}",
      "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "{\"a\" 1}", "{,}", "/* */1", "1//", "\u{FEFF}1", "\u{A0}1", "\u{0}",
    ])
  func invalid(value: String) {
    for line in lines(with: Array(value.utf8)) {
      let found = refusal(line)
      #expect(found?.error.code == RPCError.parseError && found?.id == nil, "\(String(decoding: line, as: UTF8.self))")
    }
  }

  @Test(
    "octets that are not UTF-8 are a parse error (Unicode, table 3-7)",
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF0, 0x9F, 0x99], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ] as [[UInt8]])
  func notUTF8(octets: [UInt8]) {
    let quote = [UInt8(ascii: "\"")]
    for line in lines(with: quote + octets + quote) + lines(with: Array("{\"".utf8) + octets + Array("\":1}".utf8)) {
      #expect(refusal(line)?.error.code == RPCError.parseError)
    }
  }

  @Test("UTF-16 and UTF-32 are not accepted, nor a byte order mark")
  func otherEncodings() {
    let line = #"{"jsonrpc":"2.0","id":1,"method":"adapter.list"}"#
    let big = line.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let little = line.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let wide = line.unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value & 0xFF)] }
    for octets in [
      big, little, wide, [0xFE, 0xFF] + big, [0xFF, 0xFE] + little, [0xEF, 0xBB, 0xBF] + Array(line.utf8),
    ] {
      #expect(refusal(octets)?.error.code == RPCError.parseError)
    }
  }

  @Test("a name has at most 128 octets, however it is written; the id is given back")
  func longNames() {
    func name(_ name: String) -> RPCMessage.RefusedLine? {
      refusal(#"{"jsonrpc":"2.0","id":"i","method":"x","params":{"a":[{"\#(name)":1}]}}"#)
    }
    for unit in ["x", "é", "\\u0078", "\\n"] {
      let octets = unit == "é" ? 2 : 1
      #expect(name(String(repeating: unit, count: 128 / octets)) == nil, "\(unit)")
      let found = name(String(repeating: unit, count: 128 / octets + 1))
      #expect(found?.error.code == RPCError.invalidRequest && found?.id == .text("i"))
      #expect(found?.error.message == "the line has a name of \(128 + octets) octets; the limit is 128")
    }
  }

  @Test("values are nested at most 32 deep; the id is given back")
  func nesting() {
    func nested(_ count: Int, _ disguise: String) -> RPCMessage.RefusedLine? {
      let value = String(repeating: "[", count: count) + "1" + String(repeating: "]", count: count)
      return refusal(#"{"jsonrpc":"2.0",\#(disguise)"method":"x","params":{"a":\#(value)},"id":5}"#)
    }
    for disguise in ["", #""\u0066":0,"#] {
      #expect(nested(30, disguise) == nil)
      let found = nested(31, disguise)
      #expect(found?.error.code == RPCError.parseError && found?.id == .number(5))
      #expect(nested(100_000, disguise)?.id == .number(5))
    }
    #expect(refusal(String(repeating: "[", count: 1 << 20))?.error.code == RPCError.parseError)
  }

  @Test(
    "what is neither a request nor a response is refused with its id",
    arguments: [
      #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","id":1,"method":null}"#,
      #"{"jsonrpc":"2.0","id":1,"params":{}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":null,"params":{},"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":null}"#,
      #"{"jsonrpc":"2.0","id":1,"method":["x"]}"#, #"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
      #"{"id":1,"method":"x","jsonrpc":"2.0","jsonrpc":"2.0"}"#, #"{"jsonrpc":null,"id":1,"method":"x"}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}}"#,
    ])
  func neither(line: String) {
    #expect(refusal(line)?.error.code == RPCError.invalidRequest)
    #expect(refusal(line)?.id == .number(1))
  }

  @Test("an id that is repeated, or too long to be held, is not given back")
  func badIDs() {
    for line in [
      #"{"jsonrpc":"2.0","id":1,"method":"x","id":2}"#,
      #"{"jsonrpc":"2.0","id":"\#(String(repeating: "i", count: 129))","method":"x"}"#,
      #"{"jsonrpc":"2.0","id":null,"method":null}"#,
    ] {
      #expect(refusal(line)?.error.code == RPCError.invalidRequest)
      #expect(refusal(line)?.id == nil)
    }
    #expect(refusal(#"{"jsonrpc":"2.0","id":"\#(String(repeating: "i", count: 128))","method":"x"}"#) == nil)
  }

  @Test("params that are null, or repeat a member that is read, are not valid")
  func badParams() throws {
    func message(_ params: String) throws -> String? {
      let message = try RPCMessage(line: Data(#"{"jsonrpc":"2.0","id":1,"method":"x","params":\#(params)}"#.utf8))
      do throws(RPCError) {
        _ = try message.params(GATTRead.Params.self)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(try message("null") == "params: expected an object, found null")
    #expect(
      try message(#"{"peripheral":"A","peripheral":"B","handle":1}"#)
        == "params.peripheral: this member occurs more than once")
    let many = (0..<100).map { #""x-\#($0)":0,"# }.joined()
    #expect(
      try message(#"{\#(many)"peripheral":"A","handle":1,"handle":1,"handle":1}"#)
        == "params.handle: this member occurs more than once")
    #expect(try message(#"{\#(many)"peripheral":"é","handle":1}"#) == nil)
    #expect(try message(#"{"x-a":1,"x-a":2,"peripheral":"A","handle":1}"#) == nil)
    #expect(try message(#"{"\u0070eripheral":"A","handle":1.0}"#) == nil)
    #expect(try message(#"{"peripheral":"A","handle":1e3}"#) == nil)
    // KELVIN SIGN is equal to K for Swift.
    #expect(try message(#"{"peripheral":"A","handle":1,"\u212A":0}"#)?.contains("\u{212A}") == true)
  }

  @Test("text is compared octet for octet")
  func octetText() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    #expect(composed == decomposed && OctetText(composed) != OctetText(decomposed))
    #expect(Set([composed, decomposed].map { OctetText($0) }).count == 2)
    #expect(OctetText("a") == "a" && !"\u{212A}".hasSameOctets(as: "K"))
    #expect(ConnectionLatency(word: "low") == .low && ConnectionLatency(word: "Low") == nil)
  }

  @Test("text in a message is cut, and has no control characters")
  func excerpts() {
    #expect("abc".excerpt == "abc")
    #expect("a\u{7}b\n".excerpt == "a\u{FFFD}b\u{FFFD}")
    #expect(String(repeating: "x", count: 64).excerpt == String(repeating: "x", count: 64))
    #expect(String(repeating: "é", count: 64).excerpt == String(repeating: "é", count: 32) + "…")
    #expect(("a" + String(repeating: "\u{300}", count: 1 << 20)).excerpt.utf8.count <= 68)
  }

  @Test("What a message was asked for is forgotten with it")
  func usedMembersEnd() throws {
    enum NoKeys: CodingKey {}
    weak var left: UsedMembers?
    try Array("{}".utf8).withUnsafeBufferPointer { codes in
      let used = UsedMembers()
      left = used
      let reader = JSONReader(JSONText(codes: codes), at: 0..<2, name: nil, used: used)
      _ = try reader.container(keyedBy: NoKeys.self)
    }
    #expect(left == nil)
  }
}
