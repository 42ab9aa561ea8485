import Bluetooth
import Testing

@testable import AssignedValues

/// AD structures as people read them.
@Suite struct AdvertisedValueTests {
  @Test(
    "Structures have their meaning in words; octets without one have none",
    arguments: [
      ("020106", "general discoverable, BR/EDR not supported"), ("020100", "none"), ("0101", nil),
      ("050942656c74", "Belt"), ("020a04", "4 dBm"), ("020afc", "-4 dBm"), ("03194103", "Heart Rate Belt"),
      ("021941", nil),
      ("03030d18", "Heart Rate"), ("05030d180f18", "Heart Rate, Battery"), ("0403ff180f", "18FF"),
      ("04160f1864", "Battery: 100 %"), ("0516 0f18 0102", "Battery: 0102"), ("0316 0f18", "Battery"),
      ("05ff4c000215", "Apple: 0215"), ("03ff4c00", "Apple"), ("03fffefe", "company 0xfefe"),
      ("02ff4c", nil),
      ("02ef01", nil),
    ] as [(String, String?)])
  func meaning(hex: String, text: String?) throws {
    let octets = try #require(Hex.decode(hex.replacing(" ", with: "")))
    let structure = try #require(AdvertisingData(parsing: octets).structures.first)
    #expect(structure.meaning == text)
  }
}
