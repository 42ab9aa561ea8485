import Bluetooth
import Testing
import ValueFormats

@Suite struct AttributeNamingTests {
  @Test("a name from a device has at most 64 characters, and none that changes lines or directions")
  func told() throws {
    let uuid = try #require(BluetoothUUID("6F3C0002-0000-4000-8000-000000000000"))
    var naming = AttributeNaming()
    naming.received(0x2901, Array("\u{202E} Tor\u{1B}que\u{2028}\u{2066} 2 \u{202C}".utf8), of: 3)
    #expect(naming.name(of: uuid, handle: 3) == "Torque 2")
    naming.received(0x2901, Array(String(repeating: "x", count: 100).utf8), of: 3)
    #expect(naming.name(of: uuid, handle: 3) == String(repeating: "x", count: 64))
    naming.received(0x2901, Array("\u{202E}".utf8), of: 4)
    #expect(naming.name(of: uuid, handle: 4) == nil)
  }
}
