import Bluetooth
import Testing

@testable import Beacons

/// BTHome version 2: the examples of bthome.io and of its reference parser.
@Suite struct BTHomeTests {
  private let address = DeviceAddress(value: 0x5448_E68F_80A5, kind: .public)

  private func decode(_ hex: String, _ open: (SealedData) -> SealedData.Opened = { _ in .keyIsMissing }) -> DecodedData?
  {
    let data = AdvertisingData([.serviceData(0xFCD2, Hex.decode(hex) ?? [])])
    return data.decoded(address: address, open: open).first
  }

  @Test(
    "Objects",
    arguments: [
      ("4002ca0903bf13", ["temperature 25.06", "humidity 50.55"]),
      ("400009015d025d0903b718", ["packet 9", "battery 93", "temperature 23.97", "humidity 63.27"]),
      ("40002e01641e012e34451601", ["packet 46", "battery 100", "light true", "humidity 52", "temperature 27.8"]),
      ("4004138a01", ["pressure 1008.83"]), ("4405138a14", ["illuminance 13460.67"]), ("40065e1f", ["mass 80.3"]),
      ("40073e1d", ["massPounds 74.86"]), ("4008ca06", ["dewPoint 17.38"]), ("400960", ["count 96"]),
      ("400a138a14", ["energy 1346.067"]), ("400b021b00", ["power 69.14"]), ("400c020c", ["voltage 3.074"]),
      ("400f01", ["on true"]), ("401001", ["powered true"]), ("401100", ["open false"]),
      ("402d01", ["windowOpen true"]),
      ("400d120c0e021c", ["pm25 3090", "pm10 7170"]), ("4012e204", ["co2 1250"]), ("40133301", ["tvoc 307"]),
      ("4014020c", ["moisture 30.74"]), ("403a04", ["button longPress"]),
      ("403a003a013a03", ["button none", "button2 press", "button3 triplePress"]), ("403a80", ["button hold"]),
      ("403afe", []), ("403c0103", ["dimmer -3"]), ("403c0000", ["dimmer 0"]), ("403c0202", ["dimmer 2"]),
      ("403f020c", ["rotation 307.4"]),
      ("40400c00", ["distance 0.012"]), ("40414e00", ["distance 7.8"]), ("40424e3400", ["duration 13.39"]),
      ("40434e34", ["current 13.39"]), ("40444e34", ["speed 133.9"]), ("40624099dfff", ["speed -2.123456"]),
      ("40451101", ["temperature 27.3"]), ("404632", ["uvIndex 5.0"]), ("40478756", ["volume 2215.1"]),
      ("4048dc87", ["volume 34.78"]), ("4049dc87", ["flow 34.78"]), ("404a020c", ["voltage 307.4"]),
      ("404b138a14", ["gas 1346.067"]), ("404c41018a01", ["gas 25821.505"]), ("404d12138a14", ["energy 344593.17"]),
      ("404e87562a01", ["volume 19551.879"]), ("404f87562a01", ["water 19551.879"]),
      ("44505d396164", ["timestamp 1684093277"]), ("44518756", ["acceleration 22.151"]),
      ("40630057d0ff", ["acceleration -3.123456"]), ("44528756", ["gyroscope 22.151"]),
      ("44530c48656c6c6f20576f726c6421", ["text Hello World!"]),
      ("44540c48656c6c6f20576f726c6421", ["raw 48656c6c6f20576f726c6421"]), ("44530187", []),
      ("405587562a01", ["volumeStorage 19551.879"]), ("4056e803", ["conductivity 1000"]),
      ("4057ea", ["temperature -22"]),
      ("4058ea", ["temperature -7.7"]), ("4059ea", ["count -22"]), ("405aeaea", ["count -5398"]),
      ("405bea0234ea", ["count -365690134"]), ("405c02fbffff", ["power -12.78"]), ("405d02ea", ["current -5.63"]),
      ("405e3f755f11d5", ["direction 300.15", "precipitation 5454.5"]), ("406001", ["channel 1"]),
      ("4061ac0d", ["rotationalSpeed 3500"]), ("406402", ["lightLevel 2"]),
      ("4000010b0000004a0d0901330ce90c", ["packet 1", "power 0.0", "voltage 231.7", "battery 51", "voltage2 3.305"]),
      ("42b2188d38c1a404138a01", ["address A4:C1:38:8D:18:B2", "pressure 1008.83"]),
      // An unknown object, and a truncated one: the values before them are reported.
      ("40015dfe5d0903b718", ["battery 93", "unread 6"]), ("4002ca0903bf", ["temperature 25.06", "unread 2"]),
      ("40f100010204f2000106", ["firmware 4.2.1.0", "firmware2 6.1.0"]), ("40", []),
    ])
  func objects(hex: String, values: [String]) throws {
    let decoded = try #require(decode(hex))
    #expect(decoded.kind == "bthome")
    let shown = decoded.members.map { member in
      switch member.value {
      case .flag(let flag): "\(member.name) \(flag)"
      case .integer(let integer): "\(member.name) \(integer)"
      case .number(let number): "\(member.name) \(number)"
      case .text(let text): "\(member.name) \(text)"
      }
    }
    #expect(shown == values)
  }

  @Test("Other versions, and encrypted data without a counter and a check")
  func others() {
    for hex in ["", "00", "20", "60e1", "41ba0db07aeef600", "42b2188d38"] { #expect(decode(hex) == nil, "\(hex)") }
  }

  @Test("What is encrypted is handed over with its nonce, under the address of the device or the one in the packet")
  func encrypted() throws {
    var sealed: [SealedData] = []
    let wrong = decode("41a47266c95f730011223378237214") { box in
      sealed.append(box)
      return .keyIsWrong
    }
    #expect(wrong?["encrypted"] == .flag(true) && wrong?["key"] == .text("wrong"))
    #expect(wrong?["counter"] == .integer(0x3322_1100))
    let box = try #require(sealed.first)
    #expect(Hex.encode(box.nonce) == "5448e68f80a5d2fc4100112233")
    #expect(Hex.encode(box.payload) == "a47266c95f73" && Hex.encode(box.check) == "78237214")
    #expect(box.address == address)
    let right = decode("43a5808fe64854f196c06ffb4900112233f08ecbde") { box in
      #expect(Hex.encode(box.nonce) == "5448e68f80a5d2fc4300112233")
      return .octets([2, 0xCA, 9])
    }
    #expect(right?["temperature"] == .number(25.06) && right?["address"] == .text("54:48:E6:8F:80:A5"))
    #expect(decode("41a47266c95f730011223378237214")?["key"] == .text("missing"))
    // The address of an anonymous advertisement is unknown, and so is its key.
    let data = AdvertisingData([.serviceData(0xFCD2, Hex.decode("41a47266c95f730011223378237214") ?? [])])
    let anonymous = data.decoded(address: nil) { _ in .octets([]) }
    #expect(anonymous.first?.members.map(\.name) == ["encrypted", "counter"])
  }
}
