import Bluetooth
import Testing

/// `ad-vectors.json`: advertising data of real devices, and UUID texts, with BlueZ's reading of them.
@Suite(.enabled(if: Vectors.has("ad-vectors.json"), Vectors.missing("ad-vectors.json")))
struct AdvertisingDataConformanceTests {
  struct File: Decodable {
    var adCases: [Case]
    var uuidParse: [UUIDText]
    var uuidCompress: [UUIDText]
    var uuidMalformed: [String]
    enum CodingKeys: String, CodingKey {
      case adCases = "ad_cases"
      case uuidParse = "uuid_parse"
      case uuidCompress = "uuid_compress"
      case uuidMalformed = "uuid_malformed"
    }
  }
  struct Case: Decodable {
    struct Structure: Decodable { var type: UInt8, data: String }
    struct Manufacturer: Decodable { var company: UInt16, data: String }
    struct Service: Decodable { var uuid: String, data: String }
    var name: String
    var data: String
    var structures: [Structure]
    var flags: UInt8
    var txPower: Int?
    var services: [String]
    var manufacturerData: [Manufacturer]
    var serviceData: [Service]
    var nameOctets: String?
    var nameComplete: Bool?
    var nameUTF8: String?
    var earlyTermination: Bool?
    enum CodingKeys: String, CodingKey {
      case name, data, structures, flags, services
      case txPower = "tx_power"
      case manufacturerData = "manufacturer_data"
      case serviceData = "service_data"
      case nameOctets = "name_octets"
      case nameComplete = "name_complete"
      case nameUTF8 = "name_utf8"
      case earlyTermination = "early_termination"
    }
  }
  struct UUIDText: Decodable {
    var string: String
    var width: Int
    var value: UInt32?
    var uuid128: String?
    var octets: String?
    enum CodingKeys: String, CodingKey {
      case string, width, value, uuid128
      case octets = "octets_be"
    }
  }

  let file: File
  init() throws { file = try Vectors.load("ad-vectors.json", as: File.self) }

  @Test func everyCaseIsRead() throws {
    #expect(file.adCases.count >= 19)
    Tally.run(.advertising, "ad_cases", file.adCases) { vector in
      let octets = try #require(Hex.decode(vector.data))
      let data = AdvertisingData(parsing: octets)
      let name = Comment(rawValue: vector.name)
      try #require(data.structures.map(\.type.rawValue) == vector.structures.map(\.type), name)
      try #require(data.structures.map { Hex.encode($0.data) } == vector.structures.map(\.data), name)
      try #require(data.malformedCount == 0, name)
      try #require(data.flags?.rawValue ?? 0 == vector.flags, name)
      try #require(data.txPowerLevel == vector.txPower, name)
      let services = try vector.services.map { try #require(BluetoothUUID($0)) }
      try #require(data.structures.flatMap(\.serviceUUIDs) == services, name)
      try #require(Set(data.serviceUUIDs) == Set(services), name)
      try #require(data.manufacturerData.map(\.company) == vector.manufacturerData.map(\.company), name)
      try #require(data.manufacturerData.map { Hex.encode($0.data) } == vector.manufacturerData.map(\.data), name)
      let serviceData = try vector.serviceData.map { try #require(BluetoothUUID($0.uuid)) }
      try #require(data.serviceData.map(\.uuid) == serviceData, name)
      try #require(data.serviceData.map { Hex.encode($0.data) } == vector.serviceData.map(\.data), name)
    }
  }

  @Test func namesAreReadAndShortenedAtWhatIsNoText() throws {
    Tally.run(.advertising, "ad_cases", file.adCases) { vector in
      let data = AdvertisingData(parsing: try #require(Hex.decode(vector.data)))
      let name = Comment(rawValue: vector.name)
      try #require(data.localName ?? "" == vector.nameUTF8 ?? "", name)
      try #require(data.first(.completeLocalName).map { Hex.encode($0) } == vector.nameOctets, name)
      if vector.nameComplete != nil { try #require(data.first(.completeLocalName) != nil, name) }
    }
  }

  @Test func whatWasReadIsWrittenAgain() throws {
    Tally.run(.advertising, "ad_cases", file.adCases) { vector in
      let octets = try #require(Hex.decode(vector.data))
      let encoded = try AdvertisingData(parsing: octets).encode()
      try #require(encoded == Array(octets.prefix(encoded.count)))
      try #require(octets.dropFirst(encoded.count).allSatisfy { $0 == 0 })
      try #require((encoded.count < octets.count) == (vector.earlyTermination ?? false), Comment(rawValue: vector.name))
    }
  }

  @Test func everyPrefixIsReadWithoutInventingAnything() throws {
    Tally.run(.advertising, "ad_cases", file.adCases) { vector in
      let octets = try #require(Hex.decode(vector.data))
      let whole = AdvertisingData(parsing: octets)
      for count in 0..<octets.count {
        let part = AdvertisingData(parsing: octets.prefix(count))
        try #require(part.structures == Array(whole.structures.prefix(part.structures.count)))
        try #require(part.malformedCount <= 1)
      }
    }
  }

  @Test func uuidTextsAreParsed() throws {
    #expect(!file.uuidParse.isEmpty)
    Tally.run(.advertising, "uuid_parse", file.uuidParse) { vector in
      let uuid = try #require(BluetoothUUID(vector.string), "\(vector.string)")
      try #require(uuid == vector.uuid128.flatMap { BluetoothUUID($0) })
      try #require(Hex.encode(uuid.littleEndian128.reversed()) == vector.octets)
      if let value = vector.value { try #require(uuid.short32 == value) }
    }
  }

  @Test func uuidsAreCompressedToWhatATTCarries() throws {
    #expect(!file.uuidCompress.isEmpty)
    Tally.run(.advertising, "uuid_compress", file.uuidCompress) { vector in
      let uuid = try #require(BluetoothUUID(vector.string))
      try #require(uuid.attOctets.count * 8 == vector.width, "\(vector.string)")
      if let value = vector.value { try #require(uuid.short16.map(UInt32.init) == value) }
      if let octets = vector.octets { try #require(Hex.encode(uuid.attOctets.reversed()) == octets) }
    }
  }

  @Test func malformedUUIDTextsAreRefused() {
    #expect(!file.uuidMalformed.isEmpty)
    Tally.run(.advertising, "uuid_malformed", file.uuidMalformed) { text in
      try #require(BluetoothUUID(text) == nil, "\(text)")
    }
  }
}
