import Bluetooth
import Testing
import ValueFormats

/// Values that are written by their format.
@Suite struct FormatEncodingTests {
  @Test(
    "a value becomes the octets that are read as this value",
    arguments: [
      ("u8", "255", "ff"), ("u16", "300", "2c01"), ("u16be", "300", "012c"), ("i16", "-2", "feff"),
      ("u12", "4095", "ff0f"), ("i64", "-9223372036854775808", "0000000000000080"),
      ("u64", "18446744073709551615", "ffffffffffffffff"), ("i16*0.01 °C", "22.60 °C", "d408"),
      ("i16le*0.1-40 °C", "-32.7", "4900"), ("u8/255 V", "1", "ff"), ("f32", "1.5", "0000c03f"),
      ("f64be", "1.5", "3ff8000000000000"), ("bool", "yes", "01"), ("flags8(low|full)", "low+full", "03"),
      ("flags8(low|full)", "none", "00"), ("enum8(off|idle|9=fault)", "fault", "09"), ("enum8(off)", "7", "07"),
      ("text", "Hall 1", "48616c6c2031"), ("text[4]", "ab", "61620000"), ("hex", "01 02", "0102"),
      ("u8 state, i16 temperature*0.01 °C, flags8(low|full) battery", "3, 22.6, full", "03d40802"),
      ("u8 state, i16 temperature*0.01 °C", "state 3, temperature 22.60 °C", "03d408"),
      ("u8@2 a, u8@0 b", "1,2", "020001"),
    ])
  func octets(format: String, text: String, hex: String) throws {
    let format = try ValueFormat(format)
    let octets = try format.octets(of: text)
    #expect(Hex.encode(octets) == hex)
    #expect(format.read(octets) != nil)
  }

  @Test(
    "a value that does not fit is refused, with the reason",
    arguments: [
      ("u8", "256", "u8"), ("u8", "-1", "u8"), ("i8", "128", "i8"), ("u8", "x", "number"), ("u8", "nan", "number"),
      ("u8", "1.5", "between"), ("u16*0.5", "0.3", "between"), ("u8 a, u8 b", "1", "2 fields"), ("bool", "2", "yes"),
      ("flags8(a)", "b", "names"), ("enum8(a)", "256", "names"), ("text[1]", "ab", "longer"),
      ("hex[2]", "01", "2 octets"), ("medfloat16", "1", "hex"),
      ("f64*1e-18", "1e300", "fit"), ("f32", "1e39", "fit"), ("text", String(repeating: "a", count: 513), "512"),
    ])
  func refused(format: String, text: String, reason: String) throws {
    let format = try ValueFormat(format)
    #expect { try format.octets(of: text) } throws: { "\($0)".contains(reason) }
  }
}
