import Bluetooth
import MCUmgr
import Testing

/// Values in CBOR: RFC 8949's own examples, the lengths of Zephyr's encoder, and octets that are no value.
@Suite struct CBORTests {
  @Test(
    "the examples of RFC 8949, Appendix A",
    arguments: [
      ("00", .unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)), ("1903e8", .unsigned(1000)),
      ("1a000f4240", .unsigned(1_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", .negative(0)),
      ("3903e7", .negative(999)), ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("f93c00", .number(1)),
      ("fa47c35000", .number(100_000)), ("fb3ff199999999999a", .number(1.1)), ("40", .octets([])),
      ("4401020304", .octets([1, 2, 3, 4])), ("60", .text("")), ("62c3bc", .text("ü")), ("80", .array([])),
      ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])), ("a0", .map([])),
      ("a16161f5", .map([CBORPair(key: .text("a"), value: .bool(true))])),
      ("5f42010243030405ff", .octets([1, 2, 3, 4, 5])), ("7f657374726561646d696e67ff", .text("streaming")),
      ("9fff", .array([])), ("bf6346756ef5ff", .map([CBORPair(key: .text("Fun"), value: .bool(true))])),
    ] as [(String, CBORValue)])
  func examples(hex: String, value: CBORValue) throws {
    #expect(try CBORValue(decoding: octets(hex)) == value)
  }

  @Test(
    "octets that are no value, or more than one",
    arguments: [
      "", "18", "19 01", "1b 00000000", "1c", "1f", "3f", "41", "5b ffffffffffffffff", "5f 41", "5f 01 ff",
      "5f 5f ff ff",
      "61 ff", "7f 41 00 ff", "81", "9b ffffffffffffffff", "9b 7fffffffffffffff 00", "bf 00 ff", "a1 00", "c0 00", "e0",
      "f8 20", "ff", "9f", "00 00", "bf",
    ])
  func faults(hex: String) {
    #expect(throws: CBORError.self) { try CBORValue(decoding: octets(hex)) }
  }

  @Test("arrays within arrays have an end")
  func depth() throws {
    func nested(_ levels: Int) -> [UInt8] { Array(repeating: 0x81, count: levels - 1) + [0x80] }
    _ = try CBORValue(decoding: nested(16))
    #expect(throws: CBORError.self) { try CBORValue(decoding: nested(17)) }
    #expect(throws: CBORError.self) { try CBORValue(decoding: Array(repeating: 0x9F, count: 1 << 20)) }
  }

  @Test("members have their types, and numbers their range")
  func members() throws {
    let map = try CBORValue(decoding: octets("a3 6161 01 6162 20 6161 02"))
    #expect(map["a"]?.integer == 1 && map["b"]?.signedInteger == -1 && map["b"]?.integer == nil)
    #expect(map["c"] == nil && map["a"]?["a"] == nil && map["a"]?.string == nil)
    #expect(CBORValue.unsigned(.max).integer == nil && CBORValue.negative(.max).signedInteger == nil)
  }
}

func octets(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { $0 != " " }) ?? [] }
