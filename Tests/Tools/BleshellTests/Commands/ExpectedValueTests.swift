import Bluetooth
import Testing
import ValueFormats

@testable import bleshell

/// The values that `expect` is content with, and the names that shells are offered.
@Suite struct ExpectedValueTests {
  private func fits(_ text: String?, _ value: [UInt8], text isText: Bool = false, mask: String? = nil) throws -> Bool {
    try ExpectedValue(text, isText: isText, mask: mask).fits(value, of: Self.attribute(0x2A19))
  }

  private static func attribute(_ uuid: BluetoothUUID, _ format: String? = nil) throws -> Attribute {
    var attribute = Attribute(handle: 1, uuid: uuid, properties: [])
    attribute.format = try format.map { try ValueFormat($0) }
    return attribute
  }

  @Test func octetsTextAndMasks() throws {
    #expect(try fits(nil, []) && fits(nil, [1]))
    #expect(try fits("01 02", [1, 2]) && !fits("0102", [1, 2, 3]) && !fits("0102", [1, 3]))
    #expect(try fits("OK", Array("OK".utf8), text: true) && !fits("OK", Array("OK\r".utf8), text: true))
    #expect(try fits("0100", [1, 0x7F], mask: "ff80") && !fits("0100", [1, 0x80], mask: "ff80"))
    #expect(try !fits("0100", [1], mask: "ff80"))
  }

  @Test func ranges() throws {
    #expect(try fits("60..100", [60]) && fits("60..100", [100]) && !fits("60..100", [59]) && !fits("60..100", []))
    #expect(try fits("60..", [61]) && !fits("60..", [5]) && fits("..9.5", [9]) && !fits("..9.5", [10]))
    // Without a known format: the least significant octet first.
    let range = try ExpectedValue("256..300", isText: false, mask: nil)
    let unknown = try Self.attribute(0xFFF1)
    #expect(
      range.fits([0, 1], of: unknown) && !range.fits([1, 0], of: unknown)
        && !range.fits(.init(repeating: 0, count: 9), of: unknown))
    let torque = try Self.attribute(0xFFF1, "i16be*0.1 Nm")
    let negative = try ExpectedValue("-0.2..0", isText: false, mask: nil)
    #expect(negative.fits([0xFF, 0xFF], of: torque) && !negative.fits([0, 1], of: torque))
  }

  @Test("what makes no sense is refused", arguments: ["6", "60..50", "..", "a..b", "0102xx"])
  func refused(text: String) {
    #expect(throws: Failure.self) { try ExpectedValue(text, isText: false, mask: nil) }
    #expect(throws: Failure.self) { try ExpectedValue("0102", isText: false, mask: text) }
    #expect(throws: Failure.self) { try ExpectedValue(nil, isText: true, mask: nil) }
    #expect(throws: Failure.self) { try ExpectedValue("0102", isText: false, mask: "ff") }
  }

  @Test("shells are offered no name with a character that means something to one of them")
  func plainNames() {
    #expect(["Heart Belt", "Échelle-2", "日本", "a_b.c+d"].allSatisfy(ShellCompletion.isPlain))
    for name in [
      "", "-rf", " a", "a ", "$(reboot)", "`id`", "a;b", "a&b", "a|b", "a>b", "a'b", "a\"b", "a\\b", "a\nb", "a\tb",
      "a*", "a?", "[a]", "{a,b}", "~", "a:b", "!1", "a#b", "a%b", "a\u{202E}b", String(repeating: "n", count: 65),
    ] { #expect(!ShellCompletion.isPlain(name), "\(name)") }
  }
}
