import ATT
import Bluetooth
@testable import GATT
import Testing

/// Core 5.4, Vol 3, Part G, 4.8 to 4.11, octet for octet.
struct ClientValueTests {
  private func done(_ id: UInt64 = 1) -> String { "finished \(id) \(GATTResult.done)" }
  private func value(_ octets: [UInt8], _ id: UInt64 = 1) -> String { "finished \(id) \(GATTResult.value(octets))" }

  @Test func mtuIsExchangedOnce() throws {
    var client = LinkScript(maximumMTU: 247)
    client.start(.exchangeMTU, "02f700")
    try client.exchange("036400", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.mtu(100))", "mtu 100"])
    client.start(.exchangeMTU, id: 2, nil)
    #expect(client.takeEvents() == ["finished 2 \(GATTResult.mtu(100))"])
    #expect(client.connection.mtu == 100)
  }

  @Test func serverWithoutMTUExchange() throws {
    var client = LinkScript(maximumMTU: 247)
    client.start(.exchangeMTU, "02f700")
    try client.exchange("0102000006", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.requestNotSupported, handle: 0))"])
    #expect(client.connection.mtu == 23)
  }

  @Test func reads() throws {
    var client = LinkScript()
    client.start(.read(3), "0a0300")
    try client.exchange("0b0102", nil)
    #expect(client.takeEvents() == [value([1, 2])])
    client.start(.read(3), "0a0300")
    try client.exchange("010a03000f", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.insufficientEncryption, handle: 3))"])
  }

  @Test func longRead() throws {
    let octets = [UInt8](0..<44)
    var client = LinkScript()
    client.start(.readLong(3), "0a0300")
    try client.exchange("0b" + Hex.encode(octets[..<22]), "0c03001600")
    try client.exchange("0d" + Hex.encode(octets[22...]), "0c03002c00")
    try client.exchange("0d", nil)
    #expect(client.takeEvents() == [value(octets)])
    client.start(.readLong(3, offset: 30), "0c03001e00")
    try client.exchange("0d0102", nil)
    #expect(client.takeEvents() == [value([1, 2])])
  }

  @Test(arguments: [ATTErrorCode.invalidOffset, .attributeNotLong, .attributeNotFound])
  func serverThatRefusesToReadBehindTheEnd(_ error: ATTErrorCode) throws {
    let octets = [UInt8](0..<22)
    var client = LinkScript()
    client.start(.readLong(3), "0a0300")
    try client.exchange("0b" + Hex.encode(octets), "0c03001600")
    try client.exchange(
      Hex.encode(ATTPDU.errorResponse(request: .readBlobRequest, handle: 3, error: error).encoded), nil)
    #expect(client.takeEvents() == [value(octets)])
  }

  @Test func valueWithoutEndEnds() throws {
    var client = LinkScript()
    client.start(.readLong(3), "0a0300")
    var packets = 0
    var events: [String] = []
    while events.isEmpty, packets < 100 {
      let piece = [UInt8](repeating: 7, count: 22)
      let packet = [packets == 0 ? 0x0B : 0x0D] + piece
      client.perform { connection, database, actions, now in
        connection.received(packet, now: now, database: &database, actions: &actions)
      }
      packets += 1
      events = client.takeEvents()
    }
    // 23 pieces of 22 octets are 506; the next is more than the longest value.
    #expect(packets == 24)
    #expect(events == ["finished 1 \(GATTResult.cutValue([UInt8](repeating: 7, count: 512)))"])
  }

  @Test func readMultiple() throws {
    var client = LinkScript()
    client.start(.readMultiple([3, 7]), "0e03000700")
    try client.exchange("0f010203", nil)
    #expect(client.takeEvents() == [value([1, 2, 3])])
    client.start(.readMultipleVariable([3, 7, 9]), "20030007000900")
    try client.exchange("210100ff000005" + "0001", nil)
    let found = [DiscoveredValue(handle: 3, value: [255]), DiscoveredValue(handle: 7, value: [])]
    #expect(client.takeEvents() == ["finished 1 \(GATTResult.values(found))"])
    client.start(.readMultiple([3]), nil)
    client.start(.readMultiple([UInt16](1...12)), nil)
    #expect(client.takeEvents() == ["finished 1 invalidParameter", "finished 1 invalidParameter"])
  }

  @Test("The database hash takes one request: a server has one")
  func readDatabaseHash() throws {
    var client = LinkScript()
    client.start(.readDatabaseHash, "080100ffff2a2b")
    try client.exchange("09120d00000102030405060708090a0b0c0d0e0f", nil)
    #expect(client.takeEvents() == [value([UInt8](0...15))])
    client.start(.readDatabaseHash, "080100ffff2a2b")
    try client.exchange("010801000a", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.attributeNotFound, handle: 1))"])
  }

  @Test func readByUUID() throws {
    var client = LinkScript()
    client.start(.readByUUID(0x2A00), "080100ffff002a")
    try client.exchange("09040300626c", "080400ffff002a")
    try client.exchange("010804000a", nil)
    #expect(
      client.takeEvents() == ["finished 1 \(GATTResult.values([DiscoveredValue(handle: 3, value: [0x62, 0x6C])]))"])
    client.start(.readByUUID(0x2A00, in: 3...3), "080300030000" + "2a")
    try client.exchange("010803000a", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.attributeNotFound, handle: 3))"])
  }

  @Test func writes() throws {
    var client = LinkScript()
    client.start(.write(3, [1, 2]), "1203000102")
    try client.exchange("13", nil)
    client.start(.subscribe(descriptor: 9, .indication), "1209000200")
    try client.exchange("13", nil)
    client.start(.subscribe(descriptor: 9, []), "1209000000")
    try client.exchange("13", nil)
    #expect(client.takeEvents() == [done(), done(), done()])
    client.start(.write(3, [UInt8](0..<21)), nil)
    client.start(.writeWithoutResponse(3, [UInt8](0..<21)), nil)
    let tooLong = "finished 1 \(GATTError.valueTooLong(maximum: 20))"
    #expect(client.takeEvents() == [tooLong, tooLong])
  }

  @Test func commandsGoOutBesideARequest() throws {
    var client = LinkScript()
    client.start(.read(3), "0a0300")
    client.start(.writeWithoutResponse(4, [9]), id: 2, "52040009")
    #expect(client.takeEvents() == [done(2)])
    try client.exchange("0b07", nil)
    #expect(client.takeEvents() == [value([7])])
  }

  @Test func signedWrites() throws {
    var client = LinkScript()
    let write = GATTProcedure.signedWrite(3, [9]) { packet in
      packet == [0xD2, 3, 0, 9] ? [4, 3, 2, 1] + [1, 2, 3, 4, 5, 6, 7, 8] : []
    }
    client.start(write, "d2030009" + "04030201" + "0102030405060708")
    client.connection.securityChanged(SecurityState(level: 2, keySize: 16))
    client.start(write, "52030009")
    #expect(client.takeEvents() == [done(), done()])
  }

  @Test func longWrite() throws {
    let octets = [UInt8](0..<20)
    var client = LinkScript()
    client.start(.writeLong(3, octets, offset: 1), "1603000100" + Hex.encode(octets[..<18]))
    // An echo that differs means nothing to a long write.
    try client.exchange("1703000100ff", "1603001300" + Hex.encode(octets[18...]))
    try client.exchange("1703001300" + Hex.encode(octets[18...]), "1801")
    try client.exchange("19", nil)
    #expect(client.takeEvents() == [done()])
  }

  @Test("Pieces are as long as the MTU when they are sent; it rises, and never falls")
  func longWriteWhileTheMTUChanges() throws {
    let octets = [UInt8](0..<150)
    var client = LinkScript(maximumMTU: 100)
    try client.exchange("023200", "036400")
    client.start(.writeLong(3, octets), "1603000000" + Hex.encode(octets[..<45]))
    try client.exchange("021700", "036400")
    try client.exchange("1703000000", "1603002d00" + Hex.encode(octets[45..<90]))
    try client.exchange("024b00", "036400")
    try client.exchange("1703002d00", "1603005a00" + Hex.encode(octets[90...]))
    try client.exchange("1703005a00", "1801")
    try client.exchange("19", nil)
    #expect(client.takeEvents() == ["mtu 50", "mtu 75", done()])
  }

  @Test("A part that was asked for before the MTU rose may be as short as the MTU was then")
  func longReadWhileTheMTURises() throws {
    let octets = [UInt8](0..<100)
    var client = LinkScript(maximumMTU: 247)
    client.start(.readLong(3), "0a0300")
    try client.exchange("02f700", "03f700")
    try client.exchange("0b" + Hex.encode(octets[..<22]), "0c03001600")
    try client.exchange("0d" + Hex.encode(octets[22...]), nil)
    #expect(client.takeEvents() == ["mtu 247", value(octets)])
  }

  @Test func reliableWriteOfSeveralValues() throws {
    var client = LinkScript()
    let writes = [AttributeWrite(handle: 3, value: [1]), AttributeWrite(handle: 5, offset: 2, value: [2])]
    client.start(.reliableWrite(writes), "160300000001")
    try client.exchange("170300000001", "160500020002")
    try client.exchange("170500020002", "1801")
    try client.exchange("19", nil)
    #expect(client.takeEvents() == [done()])
    client.start(.reliableWrite([]), nil)
    #expect(client.takeEvents() == ["finished 1 invalidParameter"])
  }

  @Test(arguments: ["170300000002", "170400000001", "170300010001", "1703000000"])
  func reliableWriteThatComesBackChanged(_ echo: String) throws {
    var client = LinkScript()
    client.start(.reliableWrite([AttributeWrite(handle: 3, value: [1])]), "160300000001")
    try client.exchange(echo, "1800")
    try client.exchange("19", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.invalidResponse(.prepareWriteResponse, .echo))"])
  }

  @Test func refusedPrepareIsCancelled() throws {
    var client = LinkScript()
    client.start(.writeLong(3, [1]), "160300000001")
    try client.exchange("0116030009", "1800")
    // Even if that is refused too, the first reason counts.
    try client.exchange("0118000006", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.prepareQueueFull, handle: 3))"])
    client.start(.writeLong(3, [1]), "160300000001")
    try client.exchange("170300000001", "1801")
    try client.exchange("011803000d", nil)
    #expect(client.takeEvents() == ["finished 1 \(GATTError.att(.invalidAttributeValueLength, handle: 3))"])
  }

  @Test func valuesOfTheServer() throws {
    var client = LinkScript()
    try client.exchange("1b030001", nil)
    try client.exchange("1d030002", "1e")
    try client.exchange("23030001000105000200" + "0203", nil)
    try client.exchange("1b03", nil)
    try client.exchange("230300ff0001", nil)
    #expect(client.takeEvents() == ["notified 3 01", "indicated 3 02", "notified 3 01", "notified 5 0203"])
  }
}
