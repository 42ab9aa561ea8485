import Bluetooth
import Testing

@testable import Beacons

/// Beacons and sensors: published examples, and data that violate their formats.
@Suite struct BeaconDecodingTests {
  /// The meaning of one AD structure of manufacturer-specific data.
  private func manufacturer(_ hex: String) throws -> DecodedData? {
    let data = AdvertisingData([.init(.manufacturerSpecificData, try #require(Hex.decode(hex)))])
    return data.decoded(address: nil).first
  }

  /// The meaning of service data; the service with its low octet first.
  private func service(_ hex: String, _ open: (SealedData) -> SealedData.Opened = { _ in .keyIsMissing }) throws
    -> DecodedData?
  {
    let data = AdvertisingData([.init(.serviceData16, try #require(Hex.decode(hex)))])
    return data.decoded(address: DeviceAddress("54:48:E6:8F:80:A5", kind: .public), open: open).first
  }

  private func expect(
    _ decoded: DecodedData?, _ kind: DecodedData.Kind, _ values: [String: DecodedData.Value],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(decoded?.kind == kind.rawValue, sourceLocation: sourceLocation)
    let members = decoded?.members.map { ($0.name, $0.value) } ?? []
    #expect(Dictionary(members, uniquingKeysWith: { $1 }) == values, sourceLocation: sourceLocation)
  }

  // MARK: Beacons

  @Test("iBeacon: a packet of a beacon with Apple's example UUID")
  func iBeacon() throws {
    let hex = "4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5"
    expect(
      try manufacturer(hex), .iBeacon,
      [
        "uuid": .text("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"), "major": .integer(100), "minor": .integer(0),
        "measuredPower": .integer(-59),
      ])
    let data = try #require(Hex.decode(hex).flatMap { AdvertisingData.ManufacturerData(octets: $0) })
    #expect(IBeacon(data)?.manufacturerData == data)
    // Other data of Apple, and one octet more or less.
    for other in [
      "4c000f06a033bd08c500", "4c001005441cbd08c5", "4c00", hex + "00", String(hex.dropLast(2)),
      hex.replacingOccurrences("4c00", "4d00"),
    ] {
      #expect(try manufacturer(other) == nil, "\(other)")
    }
  }

  @Test func altBeacon() throws {
    let hex = "ffffbeacd3162f5af3ee494799db09756062d0fc005a0005c400"
    expect(
      try manufacturer(hex), .altBeacon,
      [
        "uuid": .text("D3162F5A-F3EE-4947-99DB-09756062D0FC"), "major": .integer(90), "minor": .integer(5),
        "measuredPower": .integer(-60), "company": .integer(0xFFFF), "reserved": .integer(0),
      ])
    let data = try #require(Hex.decode(hex).flatMap { AdvertisingData.ManufacturerData(octets: $0) })
    #expect(AltBeacon(data)?.manufacturerData == data)
    #expect(try manufacturer(String(hex.dropLast(2))) == nil)
    #expect(try manufacturer(hex + "00") == nil)
  }

  @Test func eddystone() throws {
    expect(
      try service("aafe0004010203040506070809000102030405060000"), .eddystoneUID,
      ["namespace": .text("01020304050607080900"), "instance": .text("010203040506"), "txPower": .integer(4)])
    // Without the two reserved octets, as older beacons send it.
    #expect(try service("aafe000401020304050607080900010203040506")?.kind == "eddystoneUID")
    expect(
      try service("aafe100403746573740c"), .eddystoneURL,
      ["url": .text("https://test.biz"), "txPower": .integer(4)])
    expect(
      try service("aafe100400746573740674657374"), .eddystoneURL,
      ["url": .text("http://www.test.gov/test"), "txPower": .integer(4)])
    expect(
      try service("aafe2000018005400000010000010000"), .eddystoneTLM,
      ["voltage": .number(0.384), "temperature": .number(5.25), "packets": .integer(256), "uptime": .number(6553.6)])
    // Without battery and thermometer.
    expect(
      try service("aafe2000000080000000000000000000"), .eddystoneTLM, ["packets": .integer(0), "uptime": .number(0)])
    expect(
      try service("aafe20010102030405060708090a0b0c01021112"), .eddystoneTLM,
      [
        "encrypted": .flag(true), "payload": .text("0102030405060708090a0b0c"), "salt": .text("0102"),
        "check": .text("1112"),
      ])
    expect(
      try service("aafe30045152535455565758"), .eddystoneEID,
      ["identifier": .text("5152535455565758"), "txPower": .integer(4)])
    // Cut off or too long, of an unknown version; a reserved octet, an unknown beginning, nothing, too much.
    for other in [
      "20010102030405060708090a0b0c010211", "20010102030405060708090a0b0c0102111213", "2001018005400000010000010000",
      "20020102030405060708090a0b0c01021112", "300451525354555657", "3004515253545556575859", "1004030e", "10040461",
      "100403", "1004", "10", "", "100403" + String(repeating: "61", count: 18), "00", "20",
    ] {
      #expect(try service("aafe" + other) == nil, "\(other)")
    }
  }

  @Test("URLs of Eddystone are written as short as they can be, and errors say what would do")
  func urls() throws {
    for (url, hex) in [
      ("https://test.biz", "1004" + "03746573740c"), ("http://www.test.gov/test", "1004" + "00746573740674657374"),
      ("https://goo.gl/Aq18zF", "1004" + "03676f6f2e676c2f41713138" + "7a46"), ("http://www.", "1004" + "027777772e"),
    ] {
      let data = try Eddystone.urlData(txPower: 4, url: url)
      #expect(Hex.encode(data) == hex)
      #expect(Eddystone(data) == .url(txPower: 4, url: url))
    }
    for url in ["", "ftp://a", "https://", "https://ä.de", "https://a b", "https://abcdefghijklmnopqr"] {
      let error = #expect(throws: BluetoothError.self) { try Eddystone.urlData(txPower: 0, url: url) }
      #expect(error?.name == "invalidParameter")
    }
    #expect(Eddystone.uidData(txPower: 0, namespace: [1], instance: [1, 2, 3, 4, 5, 6]) == nil)
    let uid = try #require(
      Eddystone.uidData(txPower: -20, namespace: Array(1...10), instance: [1, 2, 3, 4, 5, 6]))
    #expect(uid.count == 20)
    #expect(Eddystone(uid) == .uid(txPower: -20, namespace: Array(1...10), instance: [1, 2, 3, 4, 5, 6]))
  }

  @Test("A beacon fits into a legacy advertisement with its flags, without a scan response")
  func fits() throws {
    let uuid = BluetoothUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    let iBeacon = IBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: -59)
    let altBeacon = AltBeacon(company: 0xFFFF, uuid: uuid, major: 1, minor: 2, measuredPower: -59)
    let uid = try #require(Eddystone.uidData(txPower: 0, namespace: Array(1...10), instance: [1, 2, 3, 4, 5, 6]))
    let url = try Eddystone.urlData(txPower: 0, url: "https://abcdefghijklmnopq")
    var contents = [iBeacon.manufacturerData, altBeacon.manufacturerData].map {
      AdvertisingContent(manufacturerData: $0)
    }
    for data in [uid, url] {
      contents.append(
        AdvertisingContent(serviceUUIDs: [Eddystone.service], serviceData: [.init(uuid: Eddystone.service, data: data)])
      )
    }
    let packed = try contents.map { try $0.packed(capacity: 31, scanResponseCapacity: 0).data }
    #expect(packed.map(\.count) == [30, 31, 31, 31])
    let kinds = packed.map { AdvertisingData(parsing: $0).decoded(address: nil).map(\.kind) }
    #expect(kinds == [["iBeacon"], ["altBeacon"], ["eddystoneUID"], ["eddystoneURL"]])
  }

  // MARK: Sensors

  @Test("RuuviTag: the test vectors of both formats")
  func ruuviTag() throws {
    func values(
      _ format: Int, _ temperature: Double, _ pressure: Double, _ humidity: Double, _ acceleration: [Double],
      _ voltage: Double
    ) -> [String: DecodedData.Value] {
      [
        "format": .integer(format), "temperature": .number(temperature), "pressure": .number(pressure),
        "humidity": .number(humidity), "accelerationX": .number(acceleration[0]),
        "accelerationY": .number(acceleration[1]), "accelerationZ": .number(acceleration[2]),
        "voltage": .number(voltage),
      ]
    }
    let largest = [32.767, 32.767, 32.767]
    let smallest = [-32.767, -32.767, -32.767]
    expect(
      try manufacturer("990403291a1ece1efc18f94202ca0b53"), .ruuviTag,
      values(3, 26.3, 1027.66, 20.5, [-1, -1.726, 0.714], 2.899))
    expect(
      try manufacturer("990403ff7f63ffff7fff7fff7fffffff"), .ruuviTag,
      values(3, 127.99, 1155.35, 127.5, largest, 65.535))
    expect(
      try manufacturer("99040300ff6300008001800180010000"), .ruuviTag, values(3, -127.99, 500, 0, smallest, 0))
    func rest(_ power: Int, _ movements: Int, _ sequence: Int) -> [String: DecodedData.Value] {
      [
        "txPower": .integer(power), "movements": .integer(movements), "sequence": .integer(sequence),
        "address": .text("CB:B8:33:4C:88:4F"),
      ]
    }
    expect(
      try manufacturer("99040512fc5394c37c0004fffc040cac364200cdcbb8334c884f"), .ruuviTag,
      values(5, 24.3, 1000.44, 53.49, [0.004, -0.004, 1.036], 2.977).merging(rest(4, 66, 205)) { $1 })
    expect(
      try manufacturer("9904057ffffffefffe7fff7fff7fffffdefefffecbb8334c884f"), .ruuviTag,
      values(5, 163.835, 1155.34, 163.835, largest, 3.646).merging(rest(20, 254, 65534)) { $1 })
    expect(
      try manufacturer("9904058001000000008001800180010000000000cbb8334c884f"), .ruuviTag,
      values(5, -163.835, 500, 0, smallest, 1.6).merging(rest(-40, 0, 0)) { $1 })
    expect(
      try manufacturer("9904058000ffffffff800080008000ffffffffffffffffffffff"), .ruuviTag, ["format": .integer(5)])
    // Hundredths of a degree beyond 99, other lengths, other formats.
    #expect(try manufacturer("990403291a64ce1efc18f94202ca0b53")?["temperature"] == nil)
    for other in [
      "9904", "990403", "990405ff", "990403291a1ece1efc18f94202ca0b5300", "990408291a1ece1efc18f94202ca0b53",
    ] {
      #expect(try manufacturer(other) == nil, "\(other)")
    }
  }

  @Test func govee() throws {
    func values(_ temperature: Double, _ humidity: Double, _ battery: Int) -> [String: DecodedData.Value] {
      ["temperature": .number(temperature), "humidity": .number(humidity), "battery": .integer(battery)]
    }
    // H5075, also below zero; H5074.
    expect(try manufacturer("88ec0003215d6400"), .govee, values(20.5, 14.9, 100))
    expect(try manufacturer("88ec0081c2896400"), .govee, values(-11.5, 33.7, 100))
    expect(try manufacturer("88ec0088078c116402"), .govee, values(19.28, 44.92, 100))
    // H5102, with another maker's company: only with its service.
    let maker = AdvertisingData.Structure(.manufacturerSpecificData, try #require(Hex.decode("0100010103cb0164")))
    let known = AdvertisingData([maker] + AdvertisingData.Structure.services([0xEC88])).decoded(address: nil)
    expect(known.first, .govee, values(24.8, 57.7, 100))
    #expect(AdvertisingData([maker]).decoded(address: nil).isEmpty)
    #expect(try manufacturer("88ec0003215d64") == nil)
  }

  @Test("MiBeacon: plain objects; what is encrypted is told, and what versions 2 and 3 encrypt is left")
  func miBeacon() throws {
    expect(
      try service("95fe5020aa01da219335342d580d1004fe004802"), .miBeacon,
      [
        "product": .integer(0x01AA), "packet": .integer(218), "address": .text("58:2D:34:35:93:21"),
        "temperature": .number(25.4), "humidity": .number(58.4),
      ])
    expect(
      try service("95fe50305b05034c94b438c1a40d10041001ea01"), .miBeacon,
      [
        "product": .integer(0x055B), "packet": .integer(3), "address": .text("A4:C1:38:B4:94:4C"),
        "temperature": .number(27.2), "humidity": .number(49),
      ])
    // With capabilities.
    expect(
      try service("95fe7120980012f34f6b8d7cc40d041002c400"), .miBeacon,
      [
        "product": .integer(0x0098), "packet": .integer(18), "address": .text("C4:7C:8D:6B:4F:F3"),
        "temperature": .number(19.6),
      ])
    expect(
      try service("95fe4030dd032403000101"), .miBeacon,
      ["product": .integer(0x03DD), "packet": .integer(36), "motion": .flag(true)])
    expect(
      try service("95fe58585b0550f4830238c1a495ef58763c26000097e2abb5"), .miBeacon,
      [
        "product": .integer(0x055B), "packet": .integer(80), "address": .text("A4:C1:38:02:83:F4"),
        "encrypted": .flag(true), "key": .text("missing"),
      ])
    for cut in ["95fe58585b0550f4830238c1a495ef", "95fe58385b0550f4830238c1a495ef58763c26000097e2abb5"] {
      #expect(try service(cut)?.members.map(\.name) == ["product", "packet", "address", "encrypted"])
    }
    // An object that is cut off.
    #expect(try service("95fe4030dd03240310")?.members.count == 2)
    for other in ["95fe", "95fe4030dd03", "95fe5010dd0324", "95fec030dd0324", "95fe5030dd032401"] {
      #expect(try service(other) == nil, "\(other)")
    }
  }

  @Test func switchBot() throws {
    func values(_ model: String, _ temperature: Double, _ humidity: Int, _ battery: Int) -> [String: DecodedData.Value]
    {
      [
        "model": .text(model), "temperature": .number(temperature), "humidity": .integer(humidity),
        "battery": .integer(battery),
      ]
    }
    expect(try service("000d54006400990e"), .switchBot, values("meter", 25, 14, 100))
    expect(try service("3dfd6900640098a6"), .switchBot, values("meterPlus", 24, 38, 100))
    expect(try service("3dfd6900ba031938"), .switchBot, values("meterPlus", -25.3, 56, 58))
    for other in ["3dfd", "3dfd48906400", "3dfd4800ba031938", "3dfd6900ba0319"] {
      #expect(try service(other) == nil, "\(other)")
    }
  }

  // MARK: The table

  @Test("All that a packet says is told, up to a bound, and repeated names are numbered")
  func several() throws {
    let beacon = IBeacon(uuid: 0x180D, major: 1, minor: 2, measuredPower: -59).manufacturerData
    let both = AdvertisingData(
      [.manufacturerData(beacon)]
        + [.serviceData(0xFCD2, [0x40, 2, 0xCA, 9, 2, 0xCF, 9, 2, 0xCF, 8])] + [.localName("Both")])
    let decoded = both.decoded(address: nil)
    #expect(decoded.map(\.kind) == ["iBeacon", "bthome"])
    #expect(decoded.last?.members.map(\.name) == ["temperature", "temperature2", "temperature3"])
    #expect(decoded.last?.text == "bthome: temperature 25.06 °C, temperature2 25.11 °C, temperature3 22.55 °C")
    let many = (1...20).map { IBeacon(uuid: 0x180D, major: 1, minor: $0, measuredPower: -59) }
    let decodedMany = AdvertisingData(many.map { .manufacturerData($0.manufacturerData) }).decoded(address: nil)
    #expect(decodedMany.count == AdvertisingData.maximumDecoded)
    let twice = AdvertisingData(Array(repeating: .manufacturerData(beacon), count: 2))
    #expect(twice.decoded(address: nil).count == 1, "the scan response repeats the advertisement")
    let long = AdvertisingData([.serviceData(0xFCD2, [0x40] + Array(repeating: 1, count: 240))])
    let battery = long.decoded(address: nil).first
    #expect(battery?.members.count == DecodedData.limit + 1)
    #expect(battery?["unread"] == .integer(240 - 2 * DecodedData.limit))
  }

  @Test func linesForPeople() throws {
    #expect(
      try manufacturer("990403291a1ece1efc18f94202ca0b53")?.text
        == "ruuviTag: temperature 26.3 °C, humidity 20.5 %, pressure 1027.66 hPa, accelerationX -1.0 g, "
        + "accelerationY -1.726 g, accelerationZ 0.714 g, voltage 2.899 V")
    #expect(try service("d2fc402101")?.text == "bthome: motion")
    #expect(try service("d2fc402100")?.text == "bthome: not motion")
    #expect(DecodedData.unit(of: "pm10") == "µg/m³" && DecodedData.unit(of: "co2") == "ppm")
    #expect(DecodedData.unit(of: "temperature12") == "°C" && DecodedData.unit(of: "uuid") == nil)
  }
}

extension String {
  fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String {
    hasPrefix(old) ? new + dropFirst(old.count) : self
  }
}
