import Bluetooth
import Testing

@Suite struct AdvertisingContentTests {
  let long = BluetoothUUID(high: 0xF000_0000_1111_2222, low: 0x3333_4444_5555_6666)

  @Test func whatFitsStaysInTheAdvertisement() throws {
    let packed = try AdvertisingContent(name: "Belt", serviceUUIDs: [0x180D], appearance: 0x0341).packed()
    #expect(Hex.encode(packed.data) == "020106" + "03030d18" + "03194103" + "050942656c74")
    #expect(packed.scanResponse.isEmpty)
    #expect(packed.shortenedName == nil)
  }

  @Test func aNameThatDoesNotFitGoesToTheScanResponse() throws {
    let packed = try AdvertisingContent(name: "A belt for the heart", serviceUUIDs: [long]).packed()
    #expect(packed.data.count == 3 + 18)
    let response = AdvertisingData(parsing: packed.scanResponse)
    #expect(response.localName == "A belt for the heart")
    #expect(response.first(.shortenedLocalName) == nil)
  }

  @Test func aNameIsShortenedByWholeCharacters() throws {
    let name = String(repeating: "ä", count: 20)
    let packed = try AdvertisingContent(name: name, serviceUUIDs: [0x180D]).packed()
    #expect(packed.shortenedName == String(repeating: "ä", count: 14))
    let response = AdvertisingData(parsing: packed.scanResponse)
    #expect(response.localName == packed.shortenedName)
    #expect(response.first(.completeLocalName) == nil)
    #expect(packed.scanResponse.count == 30)
  }

  @Test func withoutAScanResponseTheNameIsShortenedInTheAdvertisement() throws {
    let packed = try AdvertisingContent(name: "A belt for the heart", serviceUUIDs: [long])
      .packed(scanResponseCapacity: 0)
    #expect(packed.data.count == 31)
    #expect(packed.scanResponse.isEmpty)
    #expect(packed.shortenedName == "A belt f")
  }

  @Test func servicesThatFitNowhereWholeAreSplit() throws {
    let uuids = (0..<20).map { BluetoothUUID(UInt16(0x1800 + $0)) }
    let packed = try AdvertisingContent(serviceUUIDs: uuids).packed()
    let data = AdvertisingData(parsing: packed.data)
    #expect(data.first(.incompleteServices16) != nil)
    #expect(data.serviceUUIDs == Array(uuids.prefix(13)))
    #expect(data.merged(with: AdvertisingData(parsing: packed.scanResponse)).serviceUUIDs == uuids)
  }

  @Test func theLongestGoFirstWhereTheOrderOfImportanceLeavesNoRoom() throws {

    func other(_ length: Int) -> AdvertisingData.Structure { .init(.uri, Array(repeating: 7, count: length - 2)) }
    let content = AdvertisingContent(others: [other(9), other(9), other(14), other(14)])
    let packed = try content.packed(capacity: 31, scanResponseCapacity: 25)
    #expect(packed.data.count + packed.scanResponse.count == 3 + 46)
  }

  @Test func whatDoesNotFitIsRefusedByName() {
    let content = AdvertisingContent(
      serviceUUIDs: [0x180D], manufacturerData: .init(company: 0x004C, data: Array(repeating: 1, count: 28)))
    #expect {
      try content.packed()
    } throws: {
      guard let error = $0 as? BluetoothError else { return false }
      return error.domain == .gap && error.code == GAPError.advertisingDataTooLong.rawValue
        && error.message.hasPrefix("Manufacturer Specific Data takes 32 octets")
    }
  }

  @Test func aNameWithoutRoomForOneCharacterIsRefused() {
    let content = AdvertisingContent(name: "Belt", others: [.init(.uri, Array(repeating: 7, count: 26))])
    #expect(throws: BluetoothError.self) { try content.packed(scanResponseCapacity: 0) }
    #expect(throws: Never.self) { try content.packed(scanResponseCapacity: 3) }
  }

  @Test func extendedAdvertisingHoldsMore() throws {
    let data = AdvertisingData.ManufacturerData(company: 0xFFFF, data: Array(repeating: 1, count: 200))
    let packed = try AdvertisingContent(name: "Belt", manufacturerData: data).packed(
      capacity: 251, scanResponseCapacity: 0)
    #expect(AdvertisingData(parsing: packed.data).manufacturerData == [data])
    #expect(AdvertisingData(parsing: packed.data).localName == "Belt")
  }

  @Test func everythingComesBackAsItWasGiven() throws {
    let content = AdvertisingContent(
      name: "x", serviceUUIDs: [0x180D], solicitedServiceUUIDs: [0x1805],
      serviceData: [.init(uuid: 0x180F, data: [99])], manufacturerData: .init(company: 0x0059, data: [1, 2]),
      appearance: 0x0341, txPowerLevel: -4)
    let packed = try content.packed()
    let data = AdvertisingData(parsing: packed.data).merged(with: AdvertisingData(parsing: packed.scanResponse))
    #expect(data.flags == content.flags)
    #expect(data.localName == "x")
    #expect(data.serviceUUIDs == [0x180D])
    #expect(data.solicitedServiceUUIDs == [0x1805])
    #expect(data.serviceData == content.serviceData)
    #expect(data.manufacturerData.first == content.manufacturerData)
    #expect(data.appearance == 0x0341)
    #expect(data.txPowerLevel == -4)
  }
}
