import Bluetooth
@testable import GATT
import Testing

/// Core 5.4, Vol 3, Part G, 4.4 to 4.7, octet for octet.
struct ClientDiscoveryTests {
  private let long = BluetoothUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

  @Test func primaryServices() throws {
    var client = LinkScript()
    client.start(.discoverServices(.primary), "100100ffff0028")
    try client.exchange("1106010005000018" + "06000d000d18", "100e00ffff0028")
    try client.exchange("11140e001400ffeeddccbbaa99887766554433221100", "101500ffff0028")
    try client.exchange("011015000a", nil)
    let found = [
      DiscoveredService(range: 1...5, uuid: 0x1800), DiscoveredService(range: 6...13, uuid: 0x180D),
      DiscoveredService(range: 14...20, uuid: long),
    ]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.services(found))"])
  }

  @Test func searchEndsAtTheLastHandle() throws {
    var client = LinkScript()
    client.start(.discoverServices(.secondary), "100100ffff0128")
    try client.exchange("11060100ffff0018", nil)
    #expect(client.takeEvents().count == 1)
    client.start(.discoverPrimaryServices(uuid: 0x180D), "060100ffff00280d18")
    try client.exchange("0706000d00", "060e00ffff00280d18")
    try client.exchange("070e00ffff", nil)
    let found = [DiscoveredService(range: 6...13, uuid: 0x180D), DiscoveredService(range: 14...0xFFFF, uuid: 0x180D)]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.services(found))"])
  }

  @Test func includedServices() throws {
    var client = LinkScript()
    client.start(.findIncludedServices(in: 1...9), "080100090002" + "28")
    try client.exchange("0908020010001f000f18", "080300090002" + "28")
    try client.exchange("0906030020002f00040030003f00", "0a2000")
    try client.exchange("0bffeeddccbbaa99887766554433221100", "0a3000")
    try client.exchange("0bffeeddccbbaa99887766554433221100", "080500090002" + "28")
    try client.exchange("010805000a", nil)
    let found = [
      DiscoveredInclude(handle: 2, range: 16...31, uuid: 0x180F),
      DiscoveredInclude(handle: 3, range: 32...47, uuid: long),
      DiscoveredInclude(handle: 4, range: 48...63, uuid: long),
    ]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.includedServices(found))"])
  }

  @Test func characteristics() throws {
    var client = LinkScript()
    client.start(.discoverCharacteristics(in: 6...20), "080600140003" + "28")
    try client.exchange("0907070010080" + "0372a0a00020b00382a", "080b00140003" + "28")
    try client.exchange("09150c000e0d00ffeeddccbbaa99887766554433221100", "080d00140003" + "28")
    try client.exchange("01080d000a", nil)
    let found = [
      DiscoveredCharacteristic(handle: 7, valueHandle: 8, endHandle: 9, properties: .notify, uuid: 0x2A37),
      DiscoveredCharacteristic(handle: 10, valueHandle: 11, endHandle: 11, properties: .read, uuid: 0x2A38),
      DiscoveredCharacteristic(
        handle: 12, valueHandle: 13, endHandle: 20, properties: [.read, .write, .writeWithoutResponse], uuid: long),
    ]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.characteristics(found))"])
  }

  @Test func descriptors() throws {
    var client = LinkScript()
    client.start(.discoverDescriptors(in: 3...6), "0403000600")
    try client.exchange("0501030002290400" + "0329", "0405000600")
    try client.exchange("05020600ffeeddccbbaa99887766554433221100", nil)
    let found = [
      DiscoveredDescriptor(handle: 3, uuid: 0x2902), DiscoveredDescriptor(handle: 4, uuid: 0x2903),
      DiscoveredDescriptor(handle: 6, uuid: long),
    ]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.descriptors(found))"])
  }

  @Test func nothingFoundIsNoError() throws {
    var client = LinkScript()
    client.start(.discoverServices(.primary), "100100ffff0028")
    try client.exchange("011001000a", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.services([]))"])
    client.start(.discoverServices(.primary), "100100ffff0028")
    try client.exchange("0110010005", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.insufficientAuthentication, handle: 1))"])
  }

  @Test(arguments: [
    // Services that do not ascend, begin before the search or end before they begin.
    ("11060100050000180500" + "07000118", nil),
    ("110600000500" + "0018", nil),
    ("11060500040000" + "18", nil),
    // Elements of a length that no service has.
    ("1107010005000018ff", GATTError.ResponseFault.malformed),
    ("110501000500ff", .malformed),
    // Elements that are not whole.
    ("1106010005000018ff", .malformed),
  ])
  func hostileServices(_ answer: String, _ fault: GATTError.ResponseFault?) throws {
    var client = LinkScript()
    client.start(.discoverServices(.primary), "100100ffff0028")
    try client.exchange(answer, nil)
    let first = DiscoveredService(range: 1...5, uuid: 0x1800)
    let found = GATTResult.services(answer.hasPrefix("1106010005") && fault == nil ? [first] : [])
    let error =
      fault.map { GATTError.invalidResponse(.readByGroupTypeResponse, $0) }
      ?? .irregularHandles(found, .readByGroupTypeResponse)
    #expect(client.takeEvents() == ["finished 1 \(error)"])
    // The bearer continues.
    client.start(.read(3), "0a0300")
  }

  @Test(arguments: [
    "0907050012060000" + "2a", "09070a00121500002a", "09070a00120c00002a0b00120d00002a", "09070a00120a00002a",
    "09070a00120900002a", "09071500121600002a",
    "09070a00120b00002a09001" + "20a00002a",
    "090a0a00120b00002a010203", "0902" + "0a00",
  ])
  func hostileCharacteristics(_ answer: String) throws {
    var client = LinkScript()
    client.start(.discoverCharacteristics(in: 6...20), "080600140003" + "28")
    try client.exchange(answer, nil)
    let events = client.takeEvents()
    let words = ["invalidResponse", "irregularHandles"]
    #expect(events.count == 1 && words.contains { events[0].contains($0) }, "\(events)")
  }

  @Test(arguments: ["0501020002" + "29", "050107000229", "05010400022904000329", "05010300022903000229"])
  func hostileDescriptors(_ answer: String) throws {
    var client = LinkScript()
    client.start(.discoverDescriptors(in: 3...6), "0403000600")
    try client.exchange(answer, answer == "05010400022904000329" ? nil : nil)
    let events = client.takeEvents()
    #expect(events.count == 1 && events[0].contains("irregularHandles"), "\(events)")
  }

  @Test(arguments: ["0908020000001f000f18", "090802001f0010000f18", "0907020010001f000f", "09080a0010001f000f18"])
  func hostileIncludes(_ answer: String) throws {
    var client = LinkScript()
    client.start(.findIncludedServices(in: 1...9), "080100090002" + "28")
    try client.exchange(answer, nil)
    let events = client.takeEvents()
    let words = ["invalidResponse", "irregularHandles"]
    #expect(events.count == 1 && words.contains { events[0].contains($0) }, "\(events)")
  }

  @Test func includedUUIDOfAWrongLength() throws {
    var client = LinkScript()
    client.start(.findIncludedServices(in: 1...9), "080100090002" + "28")
    try client.exchange("0906030020002f00", "0a2000")
    try client.exchange("0b0018", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.invalidResponse(.readResponse, .malformed))"])
  }

  @Test func endlessDiscoveryEnds() throws {
    // A server that finds one more service at any requested handle.
    var client = LinkScript()
    client.start(.discoverServices(.primary), "100100ffff0028")
    var requests = 1
    while client.takeEvents().isEmpty, requests < 70_000 {
      let handle = Hex.encode([UInt8(requests & 0xFF), UInt8(requests >> 8 & 0xFF)])
      let octets = try #require(Hex.decode("1106" + handle + handle + "0018"))
      client.perform { connection, database, actions, now in
        connection.received(octets, now: now, database: &database, actions: &actions)
      }
      _ = client.takeSent()
      requests += 1
    }
    #expect(requests == 0x10000)
  }

  @Test func rangesThatMakeNoSense() throws {
    var client = LinkScript()
    client.start(.discoverDescriptors(in: 0...3), nil)
    client.start(.discoverPrimaryServices(value: [1, 2, 3]), id: 2, nil)
    #expect(client.takeEvents() == ["finished 1 invalidParameter", "finished 2 invalidParameter"])
  }
}
