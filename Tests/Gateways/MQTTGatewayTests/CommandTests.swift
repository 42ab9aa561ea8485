import Bluetooth
import MQTTGateway
import Testing

struct CommandTests {
  private func command(_ text: String) throws -> Command { try Command(Array(text.utf8)) }

  @Test func readsAndWritesAreThoseOfOpenMQTTGateway() throws {
    let read = try command(
      """
      {"ble_read_address":"AA:BB:CC:DD:EE:FF","ble_read_service":"cba20d00-224d-11e6-9fb8-0002a5d5c51b",
       "ble_read_char":"2a00","value_type":"STRING","ttl":4,"immediate":true}
      """)
    guard case .read(let target) = read else { throw Unexpected() }
    #expect("\(target.address)" == "AA:BB:CC:DD:EE:FF" && !target.hasType)
    #expect(target.characteristic == 0x2A00 && target.form == .string)
    let write = try command(
      """
      {"ble_write_address":"AA:BB:CC:DD:EE:FF","ble_write_char":"2a00","ble_write_value":"0aff","value_type":"HEX",
       "mac_type":1}
      """)
    guard case .write(let target, let value, true) = write else { throw Unexpected() }
    #expect(value == [0x0A, 0xFF] && target.address.kind == .random && target.hasType)
  }

  private struct Unexpected: Error {}

  private static let forms: [(String, String, [UInt8])] = [
    ("INT", "5", [5]), ("INT", "300", [0x2C, 1]), ("INT", "-1", [0xFF]), ("INT", "-129", [0x7F, 0xFF]),
    ("INT", "\"70000\"", [0x70, 0x11, 1, 0]), ("FLOAT", "1.5", [0, 0, 0xC0, 0x3F]),
    ("FLOAT", "1", [0, 0, 0x80, 0x3F]), ("STRING", "\"on\"", [0x6F, 0x6E]),
    ("INT", "9223372036854775807", [255, 255, 255, 255, 255, 255, 255, 127]),
  ]

  @Test(arguments: forms)
  func valuesHaveAForm(_ form: String, _ text: String, _ octets: [UInt8]) throws {
    let write = try command(
      """
      {"ble_write_address":"AA:BB:CC:DD:EE:FF","ble_write_char":"2a00","ble_write_value":\(text),
       "value_type":"\(form)"}
      """)
    guard case .write(_, let value, _) = write else { throw Unexpected() }
    #expect(value == octets)
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"ble_read_address":5}"#, #"{"ble_read_address":"x","ble_read_char":"2a00"}"#,
    #"{"ble_read_address":"AA:BB:CC:DD:EE:FF"}"#, "\u{0}\u{1}",
    #"{"ble_read_address":"AA:BB:CC:DD:EE:FF","ble_read_char":"z"}"#,
    #"{"ble_write_address":"AA:BB:CC:DD:EE:FF","ble_write_char":"2a00"}"#,
    #"{"ble_write_address":"AA:BB:CC:DD:EE:FF","ble_write_char":"2a00","ble_write_value":"z","value_type":"HEX"}"#,
    #"{"ble_read_address":"AA:BB:CC:DD:EE:FF","ble_read_char":"2a00","value_type":"BLOB"}"#,
    String(repeating: "[", count: 5000), String(repeating: " ", count: 9000),
  ])
  func anythingElseIsRefused(_ text: String) {
    #expect(throws: Command.Failure.self) { try command(text) }
  }

  @Test func aValueOfMoreThan512OctetsIsRefused() {
    let value = String(repeating: "00", count: 513)
    #expect(throws: Command.Failure.self) {
      try command(
        """
        {"ble_write_address":"AA:BB:CC:DD:EE:FF","ble_write_char":"2a00","value_type":"HEX","ble_write_value":"\(value)"}
        """)
    }
  }
}
