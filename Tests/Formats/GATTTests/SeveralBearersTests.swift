import ATT
import Bluetooth
import GATT
import Testing

/// Enhanced bearers of a link (Core 5.4, Vol 3, Part F, 3.2.11): each has the same features as the first, for itself.
@Suite struct SeveralBearersTests {
  private let first = BearerID(1)
  private let second = BearerID(2)

  private func given(_ database: AttributeDatabase = AttributeDatabase(), mtu: Int = 64) -> LinkScript {
    var link = LinkScript(database)
    link.open(first, mtu: mtu)
    link.open(second, mtu: mtu)
    return link
  }

  @Test("Each bearer has a request of its own under way; answers belong to the procedure of their bearer")
  func atOnce() throws {
    var link = given()
    link.start(.read(3), id: 1, "0a0300")
    link.start(.read(4), id: 2, on: first)
    link.start(.read(5), id: 3, on: second)
    #expect(link.takeEvents() == ["on 1: 0a0400", "on 2: 0a0500"])
    link.start(.read(6), id: 4, on: first)
    #expect(link.takeEvents() == ["finished 4 busy"])
    try link.receive("0b05", on: second)
    try link.receive("0b04", on: first)
    try link.exchange("0b03", nil)
    #expect(link.takeEvents() == ["finished 3 value([5])", "finished 2 value([4])", "finished 1 value([3])"])
  }

  @Test("A bearer's MTU is that of its channel, for long reads and for writes; it is never exchanged")
  func mtu() throws {
    var link = given(mtu: 64)
    link.start(.readLong(3), id: 1, on: first)
    try link.receive("0b" + String(repeating: "aa", count: 63), on: first)
    try link.receive("0d", on: first)
    #expect(link.takeEvents().prefix(2) == ["on 1: 0a0300", "on 1: 0c03003f00"])
    link.start(.write(3, [UInt8](repeating: 1, count: 62)), id: 2, on: first)
    #expect(link.takeEvents() == ["finished 2 valueTooLong(maximum: 61)"])
    try link.receive("020002", on: first)
    #expect(link.takeEvents() == ["on 1: 0102000006"], "Request Not Supported")
    #expect(link.connection.mtu == 23)
  }

  @Test("A bearer that ends fails what is pending on it, once, and nothing else")
  func ends() throws {
    var link = given()
    link.start(.read(3), id: 1, "0a0300")
    link.start(.read(4), id: 2, on: first)
    link.start(.read(5), id: 3, on: second)
    _ = link.takeEvents()
    link.end(first)
    link.end(first)
    let events = link.takeEvents()
    #expect(events.count == 2 && events[0] == "ended 1" && events[1].hasPrefix("finished 2 bearer("))
    link.start(.read(4), id: 4, on: first)
    #expect(link.takeEvents().first?.hasPrefix("finished 4 bearer(") == true)
    try link.receive("0b05", on: second)
    try link.exchange("0b03", nil)
    #expect(link.takeEvents() == ["finished 3 value([5])", "finished 1 value([3])"])
  }

  @Test("30 s without an answer end a bearer; the link and its other bearers stay")
  func failures() throws {
    var link = given()
    link.start(.read(4), id: 1, on: first)
    link.pass(seconds: 29)
    #expect(link.takeEvents() == ["on 1: 0a0400"] && link.connection.deadline != nil)
    link.pass(seconds: 1)
    #expect(link.takeEvents() == ["ended 1", "finished 1 bearer(ATT.BearerError.timeout(0x0a))"])
    #expect(link.connection.isOpen && link.connection.deadline == nil)
  }

  @Test("An answer that nothing awaits on its bearer changes nothing, in both roles")
  func strayAnswers() throws {
    var link = given(try sampleDatabase())
    link.start(.read(4), id: 1, on: first)
    try link.receive("0a1000", on: first)
    _ = link.takeEvents()
    for (packet, bearer) in [("0b05", second), ("13", first), ("1e", first), ("034000", second)] {
      try link.receive(packet, on: bearer)
    }
    #expect(link.takeEvents() == ["stray 2 0x0b", "stray 1 0x13", "stray 1 0x1e", "stray 2 0x03"])
    try link.receive("0b04", on: first)
    try link.answer(.success([2]))
    #expect(link.takeEvents() == ["finished 1 value([4])", "on 1: 0b02"])
  }

  @Test("The end of the link ends all of them")
  func linkEnds() {
    var link = given()
    link.start(.read(4), id: 1, on: first)
    _ = link.takeEvents()
    link.endLink()
    let events = link.takeEvents().map { $0.prefix(10) }
    #expect(events == ["ended 1", "finished 1", "ended 2"])
  }

  @Test("What needs security waits on its bearer, and goes on there")
  func security() throws {
    var link = given()
    link.connection.asksForSecurity = true
    link.start(.read(4), id: 1, on: first)
    try link.receive("010a04000f", on: first)
    link.start(.read(5), id: 2, on: second)
    try link.receive("0b05", on: second)
    let events = link.takeEvents()
    #expect(
      events == [
        "on 1: 0a0400", "security 1 on 1 insufficientEncryption", "on 2: 0a0500", "finished 2 value([5])",
      ])
    link.resume(id: 1, isSecured: true)
    #expect(link.takeEvents().isEmpty, "the fixed bearer has no such procedure")
    link.resume(id: 1, on: first, isSecured: true)
    try link.receive("0b04", on: first)
    #expect(link.takeEvents() == ["on 1: 0a0400", "finished 1 value([4])"])
  }

  @Test("Values come on any bearer; an indication is confirmed on its own")
  func values() throws {
    var link = given()
    try link.receive("1b030001", on: first)
    try link.receive("1d030002", on: second)
    #expect(link.takeEvents() == ["notified 3 01", "on 2: 1e", "indicated 3 02"])
  }

  @Test("The server has a question for each bearer, and answers each on its own")
  func server() throws {
    var link = given(try sampleDatabase())
    try link.exchange("0a1000", nil)
    try link.receive("0a1200", on: first)
    try link.receive("0a0500", on: second)
    #expect(link.takeEvents() == ["read 9 16 0", "read 9 18 0", "on 2: 0b4003"])
    link.reads.reverse()
    try link.answer(.success([2]))
    #expect(link.takeEvents() == ["on 1: 0b02"])
    try link.answer(.success([1]))
    link.expect("0b01")
  }

  @Test("What is prepared on one bearer is written by that one alone; what its client asked for ends with it")
  func prepared() throws {
    var link = given(try sampleDatabase())
    try link.receive("160d00000008", on: first)
    try link.receive("160d00000009", on: second)
    try link.receive("1801", on: second)
    #expect(link.takeEvents() == ["on 1: 170d00000008", "on 2: 170d00000009", "on 2: 19", "stored 13"])
    try link.receive("0a1000", on: second)
    link.end(second)
    #expect(link.takeEvents() == ["read 9 16 0", "ended 2", "cancelled"])
    try link.receive("1801", on: first)
    #expect(link.takeEvents() == ["on 1: 19", "stored 13"])
  }

  @Test("Who does not know the database is told on each bearer: what comes there next may have been sent before")
  func outOfSync() throws {
    var database = AttributeDatabase { message in [UInt8](repeating: 0, count: 15) + [UInt8(message.count)] }
    _ = try database.add(.genericAttribute(hasHash: database.hasHash))
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .notify], value: .stored([7]))]))
    var link = given(database)
    try link.exchange("12060001", "13")
    let service = try link.database.add(ServiceDefinition(uuid: 0x4321))
    link.perform { connection, database, actions, now in
      connection.databaseChanged(service.range, now: now, database: database, actions: &actions)
    }
    _ = link.takeEvents()
    try link.receive("0a0b00", on: first)
    try link.receive("0a0b00", on: second)
    #expect(link.takeEvents() == ["on 1: 010a0b0012", "on 2: 010a0b0012"])
    // Discovery needs no handle, and shows nothing that was sent before.
    try link.exchange("100d00ffff0028", "11060d000d002143")
    try link.exchange("0a0b00", "010a0b0012")
    try link.receive("0a0b00", on: first)
    try link.receive("0a0b00", on: second)
    #expect(link.takeEvents().filter { $0.hasPrefix("on") } == ["on 1: 0b07", "on 2: 0b07"])
  }

  @Test("The owner of a value has 25 s on each bearer")
  func questionTimeout() throws {
    var link = given(try sampleDatabase())
    try link.receive("0a1000", on: first)
    link.pass(seconds: 25)
    #expect(link.takeEvents() == ["read 9 16 0", "cancelled", "on 1: 010a10000e"])
  }
}

extension LinkScript {
  fileprivate mutating func open(_ bearer: BearerID, mtu: Int) { connection.open(bearer, mtu: mtu) }

  fileprivate mutating func start(_ procedure: GATTProcedure, id: UInt64, on bearer: BearerID) {
    perform { connection, _, actions, now in
      connection.start(procedure, id: ProcedureID(id), on: bearer, now: now, actions: &actions)
    }
  }

  fileprivate mutating func receive(_ hex: String, on bearer: BearerID) throws {
    let packet = try #require(Hex.decode(hex))
    perform { connection, database, actions, now in
      connection.received(packet, on: bearer, now: now, database: &database, actions: &actions)
    }
  }

  fileprivate mutating func end(_ bearer: BearerID) {
    perform { connection, _, actions, _ in
      connection.end(bearer, GAPError.disconnected.error("closed"), actions: &actions)
    }
  }
}
