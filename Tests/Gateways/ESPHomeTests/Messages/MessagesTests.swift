import BledRPC
import Bluetooth
import Testing

@testable import ESPHome

/// Messages against the octets that aioesphomeapi 46.23 has for them.
@Suite struct MessagesTests {
  private static let device: UInt64 = 0xC0DE_0000_0004

  private func payload(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

  @Test func responses() throws {
    let expected: [(APIFrame, UInt32, String)] = [
      (
        .hello(minor: 15, server: "bled 0.1.0", name: "kitchen"), 2,
        "0801100f1a0a626c656420302e312e3022076b69746368656e"
      ),
      (
        .advertisements(APIFrame.advertisement(address: Self.device, rssi: -62, addressType: 1, data: [2, 1, 6])), 93,
        "0a110884808080e09b30107b18012203020106"
      ),
      (
        .parsedAdvertisement(
          address: Self.device, rssi: -62, addressType: 1,
          AdvertisingData(parsing: [
            3, 3, 0x0D, 0x18, 3, 9, 0x41, 0x42, 4, 0x16, 0x0F, 0x18, 100, 5, 0xFF, 0x4C, 0, 1, 2,
          ])), 67,
        "0884808080e09b3012024142187b2206307831383044"
          + "2a0b0a06307831383046" + "1a0164" + "320a0a0430783463" + "1a020102" + "3801"
      ),
      (.connected(Self.device, mtu: 247), 69, "0884808080e09b30100118f701"),
      (.notConnected(Self.device, error: -1), 69, "0884808080e09b3020ffffffffffffffffff01"),
      (.connectionsFree(limit: 8, allocated: [5, Self.device]), 81, "080610081a080584808080e09b30"),
      (.failed(5, 999, error: -1), 82, "080510e70718ffffffffffffffffff01"),
      (.scannerState(.running, isActive: true, configuredActive: false), 126, "08021001"),
    ]
    for (frame, type, octets) in expected {
      #expect(frame.type == type)
      #expect(Hex.encode(frame.payload) == octets)
    }
  }

  @Test func services() throws {
    let long = BluetoothUUID(high: 0xB1ED_0002_5EED_4B1E, low: 0x8D00_0000_0000_0000)
    let service = ServiceDescription(
      handle: 12, end: 15, uuid: 0x180D, primary: true,
      characteristics: [
        CharacteristicDescription(
          handle: 14, end: 15, uuid: long, properties: ["notify"],
          descriptors: [DescriptorDescription(handle: 15, uuid: 0x2902)])
      ])
    #expect(
      Hex.encode(APIFrame.service(5, service, minor: 12).payload)
        == "08051228100c1a210a149e96b5f7a580c0f6b10180808080808080808d01100e18102205100f188252208d30")
    // Older clients know UUIDs of 128 bits alone.
    let old = ServiceDescription(handle: 12, end: 15, uuid: 0x180D, primary: true)
    #expect(
      Hex.encode(APIFrame.service(5, old, minor: 11).payload)
        == "080512150a1180a08080d08106fbe9ecfc859080808001100c")
  }

  @Test func requests() throws {
    let expected: [(UInt32, String, APIRequest)] = [
      (1, "0a024841" + "1001" + "1813", .hello(client: [72, 65], minor: 19, isTarget: false)),
      (1, "0a024841" + "1001" + "1813" + "2001", .hello(client: [72, 65], minor: 19, isTarget: true)),
      (68, "0884808080e09b30100518012001", .connect(address: Self.device, addressType: 1)),
      (
        75, "0805100e1801220568656c6c6f",
        .attribute(address: 5, handle: 14, .write(Array("hello".utf8), response: true))
      ),
      (
        145, "08051006180c289003",
        .setParameters(
          address: 5, APIRequest.LinkParameters(minimumInterval: 6, maximumInterval: 12, latency: 0, timeout: 400))
      ),
      (127, "0801", .setScannerMode(active: true)), (127, "", .setScannerMode(active: false)),
      // Unknown fields of each type are ignored.
      (7, "f80101" + "fa010101" + "fd0101020304" + "f901" + "0102030405060708", .ping), (9999, "", .other),
    ]
    for (type, octets, request) in expected {
      #expect(APIRequest(APIFrame(type: type, payload: try payload(octets))) == request)
    }
  }

  /// Truncated numbers and contents, a number of eleven octets, groups, and a handle beyond 16 bits.
  @Test(arguments: [
    "08", "0a05", "0aff", "08ffffffffffffffffffffff01", "0b", "0affffffffffffffffff01", "09010203", "0d01",
  ])
  func malformedFields(_ octets: String) throws {
    #expect(APIRequest(APIFrame(type: 7, payload: try payload(octets))) == nil)
  }

  @Test func aHandleBeyond16Bits() throws {
    #expect(APIRequest(APIFrame(type: 73, payload: try payload("080510808004"))) == nil)
  }
}
