import Bluetooth
import Testing

@Suite struct AdvertisingDataTests {
  @Test func aStructureLongerThanTheRestIsDroppedAndCounted() {
    let data = AdvertisingData(parsing: [2, 0x01, 0x06, 9, 0x09, 0x41])
    #expect(data.structures == [.flags([.generalDiscoverable, .brEDRNotSupported])])
    #expect(data.malformedCount == 1)
  }

  @Test func aLoneLengthIsDroppedAndCounted() {
    #expect(AdvertisingData(parsing: [5]).malformedCount == 1)
    #expect(AdvertisingData(parsing: [0]).malformedCount == 0)
    #expect(AdvertisingData(parsing: []).structures.isEmpty)
  }

  @Test func zeroEndsTheDataEarly() {
    let data = AdvertisingData(parsing: [2, 0x0A, 0xF6, 0, 2, 0x01, 0x06])
    #expect(data.txPowerLevel == -10)
    #expect(data.flags == nil)
  }

  @Test func aStructureWithoutDataIsKept() {
    #expect(AdvertisingData(parsing: [1, 0x03]).structures == [.init(.completeServices16, [])])
    #expect(AdvertisingData(parsing: [1, 0x01, 1, 0x0A, 1, 0x19, 2, 0xFF, 1, 3, 0x16, 1, 2]).flags == nil)
  }

  @Test func fieldsThatAreTooShortAreMissingAndNothingElse() {
    let data = AdvertisingData(parsing: [
      1, 0x01, 1, 0x0A, 2, 0x19, 1, 2, 0xFF, 1, 2, 0x16, 1, 4, 0x03, 0x0D, 0x18, 0x0F,
    ])
    #expect(data.structures.count == 6)
    #expect(data.txPowerLevel == nil)
    #expect(data.appearance == nil)
    #expect(data.manufacturerData.isEmpty)
    #expect(data.serviceData.isEmpty)
    #expect(data.serviceUUIDs == [0x180D])
  }

  @Test func servicesOfAllWidthsAreListedOnceAndInOrder() throws {
    let long = try #require(BluetoothUUID("F0000000-1111-2222-3333-444455556666"))
    let uuids: [BluetoothUUID] = [0x180D, 0x180F, BluetoothUUID(UInt32(0x1234_5678)), long]
    let octets = try AdvertisingData(
      AdvertisingData.Structure.services(uuids) + AdvertisingData.Structure.solicitedServices(uuids)
    ).encode()
    #expect(
      Hex.encode(octets.prefix(12)) == "05030d180f18050578563412")
    let data = AdvertisingData(parsing: octets)
    #expect(data.serviceUUIDs == uuids)
    #expect(data.solicitedServiceUUIDs == uuids)
    #expect(data.merged(with: data).serviceUUIDs == uuids)
  }

  @Test func serviceDataTakesTheShortestUUID() throws {
    let long = try #require(BluetoothUUID("F0000000-1111-2222-3333-444455556666"))
    for (uuid, type): (BluetoothUUID, UInt8) in [(0x180F, 0x16), (BluetoothUUID(UInt32(0x12345)), 0x20), (long, 0x21)] {
      let structure = AdvertisingData.Structure.serviceData(uuid, [7, 8])
      #expect(structure.type.rawValue == type)
      #expect(structure.serviceData == .init(uuid: uuid, data: [7, 8]))
    }
  }

  @Test func theCompleteNameWinsOverTheShortenedOne() throws {
    let short = AdvertisingData([.localName("Hea", isComplete: false)])
    #expect(short.localName == "Hea" && short.first(.completeLocalName) == nil)
    let both = short.merged(with: AdvertisingData([.localName("Heart")]))
    #expect(both.localName == "Heart")
  }

  @Test func dataThatALengthCannotSayIsRefused() {
    let data = AdvertisingData([.init(.manufacturerSpecificData, Array(repeating: 1, count: 255))])
    #expect { try data.encode() } throws: { ($0 as? BluetoothError)?.name == "advertisingDataTooLong" }
  }

  @Test func typesHaveNames() {
    #expect(AdvertisingDataType.completeLocalName.name == "Complete Local Name")
    #expect(AdvertisingDataType(rawValue: 0x99).name == "AD type 0x99")
  }
}
