import Testing

@testable import Bluetooth

/// The table of assigned numbers, and the names that are found in it.
@Suite struct AssignedNamesTests {
  @Test func everyLineIsFoundByItsNumber() throws {
    let lines = String(decoding: AssignedNames.table.octets, as: UTF8.self).split(separator: "\n")
    #expect(lines.count > 1000)
    for line in lines {
      let words = line.split(separator: " ", maxSplits: 2)
      let kind = try #require(AssignedNames.Kind(rawValue: String(words[0])), "\(line)")
      #expect(AssignedNames.name(of: String(words[1]), kind) == String(words[2]), "\(line)")
    }
  }

  /// Each company of the SIG's list is found by its number, under the short name where it has one.
  @Test func everyCompanyIsFoundByItsNumber() throws {
    let lines = String(decoding: AssignedNames.companies.octets, as: UTF8.self).split(separator: "\n")
    #expect(lines.count > 3900)
    for line in lines {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      let number = try #require(UInt16(words[0], radix: 16), "\(line)")
      let short = AssignedNames.table.name(of: "company \(words[0])")
      let data = AdvertisingData.ManufacturerData(company: number, data: [])
      #expect(data.companyName == short ?? words[1], "\(line)")
    }
  }

  @Test func numbersWithoutALineHaveNoName() {
    for kind in AssignedNames.Kind.allCases {
      for number in ["", "0", "0000-", "180", "FFFFF", "Z", "\u{7F}"] {
        #expect(AssignedNames.name(of: number, kind) == nil, "\(kind) \(number)")
      }
    }
  }

  @Test func namesOfTheBluetoothSIG() {
    #expect(BluetoothUUID(0x180D).assignedName == "Heart Rate")
    #expect(BluetoothUUID(0x2A37).assignedName == "Heart Rate Measurement")
    #expect(BluetoothUUID(0x2A00).assignedName == "Device Name")
    #expect(BluetoothUUID(0x2B2A).assignedName == "Database Hash")
    #expect(BluetoothUUID(0x2902).assignedName == "Client Characteristic Configuration")
    #expect(BluetoothUUID(0x2803).assignedName == "Characteristic")
    #expect(BluetoothUUID(0xABCD).assignedName == nil)
    #expect(BluetoothUUID("12345678-1234-1234-1234-123456789ABC")?.assignedName == nil)
    #expect(AdvertisingData.ManufacturerData(company: 0x004C, data: []).companyName == "Apple")
    #expect(AdvertisingDataType.flags.name == "Flags")
    #expect(Appearance(rawValue: 0x0341).description == "Heart Rate Belt")
  }

  @Test("UUIDs that vendors have published have names, but no assigned ones")
  func vendorNames() throws {
    let receive = try #require(BluetoothUUID("6e400002-b5a3-f393-e0a9-e50e24dcca9e"))
    #expect(receive.knownName == "Nordic UART RX" && receive.assignedName == nil)
    #expect(BluetoothUUID("00467768-6228-2272-4663-277478268003")?.knownName == "Improv RPC Command")
    #expect(BluetoothUUID("8D53DC1D-1DB7-4CD3-868B-8A527460AA84")?.knownName == "MCUmgr SMP")
    #expect((0x2A37 as BluetoothUUID).knownName == "Heart Rate Measurement")
    #expect(BluetoothUUID("6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10")?.knownName == nil)
  }

  @Test func servicesAndCompaniesAreFoundByName() {
    #expect(BluetoothUUID.services(named: "heart rate") == [0x180D])
    #expect(BluetoothUUID.services(named: "Generic").starts(with: [0x1800, 0x1801]))
    #expect(BluetoothUUID.services(named: "") == [] && BluetoothUUID.services(named: "nonsense") == [])
    // A characteristic, a unit and an appearance are no services.
    #expect(BluetoothUUID.services(named: "heart rate measurement") == [])
    #expect(AdvertisingData.ManufacturerData.companies(named: "apple") == [0x004C])
    // Short names precede those of the list, which are used if no short one matches.
    #expect(AdvertisingData.ManufacturerData.companies(named: "Nordic") == [0x0059])
    #expect(AdvertisingData.ManufacturerData.companies(named: "ericsson") == [0x0000])
    #expect(AdvertisingData.ManufacturerData(company: 0xFFFF, data: []).companyName == "None (for tests)")
    #expect(AdvertisingData.ManufacturerData(company: 0xFFFE, data: []).companyName == nil)
  }
}
