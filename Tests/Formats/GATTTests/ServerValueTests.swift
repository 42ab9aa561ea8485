import ATT
import Bluetooth
import GATT
import Testing

/// Notifications and indications: Core 5.4, Vol 3, Part F, 3.4.7, and Part G, 3.3.3.3.
struct ServerValueTests {
  @Test func notifyWhatWasAskedFor() throws {
    var server = LinkScript(try sampleDatabase())
    #expect(server.notify([1], of: 8) == .notSubscribed)
    try server.exchange("0a0900", "0b0000")
    try server.exchange("1209000100", "13")
    #expect(server.takeEvents() == ["subscribed 8 1", "state"])
    #expect(server.connection.subscription(of: 8) == .notification)
    try server.exchange("0a0900", "0b0100")
    #expect(server.notify([0, 61], of: 8) == .sent)
    server.expect("1b0800003d")
    #expect(server.notify([UInt8](0..<30), of: 8) == .sent)
    server.expect("1b0800" + Hex.encode(0..<20))
    // An unchanged repetition has no effect.
    try server.exchange("1209000100", "13")
    #expect(server.takeEvents() == [])
    try server.exchange("1209000000", "13")
    #expect(server.takeEvents() == ["subscribed 8 0", "state"])
    #expect(server.notify([1], of: 8) == .notSubscribed)
  }

  @Test func configurationsThatMakeNoSense() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("12090001", "011209000d")
    try server.exchange("120900010000", "011209000d")
    try server.exchange("1209000400", "0112090013")
    try server.exchange("160900" + "00000100", "170900" + "00000100")
    try server.exchange("1801", "19")
    #expect(server.takeEvents() == ["subscribed 8 1", "state"])
  }

  @Test func indicationsWaitForTheirConfirmation() throws {
    var server = LinkScript(try sampleDatabase())
    server.indicate([1], of: 8, id: 1)
    #expect(server.takeEvents() == ["unconfirmed 1 notSubscribed"])
    try server.exchange("1209000200", "13")
    _ = server.takeEvents()
    server.indicate([1], of: 8, id: 2)
    server.expect("1d080001")
    server.indicate([2], of: 8, id: 3)
    server.expect(nil)
    // Requests are answered meanwhile.
    try server.exchange("0a0b00", "0b01")
    try server.exchange("1e", "1d080002")
    #expect(server.takeEvents() == ["confirmed 2"])
    try server.exchange("1e", nil)
    #expect(server.takeEvents() == ["confirmed 3"])
    try server.exchange("1e", nil)
    #expect(server.takeEvents() == ["stray 0 0x1e"])
  }

  @Test func indicationWithoutConfirmationEndsTheBearerAfter30Seconds() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("1209000200", "13")
    _ = server.takeEvents()
    server.indicate([1], of: 8, id: 1)
    server.indicate([2], of: 8, id: 2)
    server.pass(seconds: 29)
    #expect(server.takeEvents() == [])
    server.pass(seconds: 1)
    let events = server.takeEvents()
    #expect(events.count == 4)
    #expect(events[1].hasPrefix("unconfirmed 1 bearer") && events[2].hasPrefix("unconfirmed 2 bearer"))
    #expect(events[0] == "failed" && events[3] == "subscribed 8 0")
    server.pass(seconds: 1)
    server.endLink()
    #expect(server.takeEvents() == [])
    #expect(server.notify([1], of: 8) == .closed)
  }

  @Test func waitingIndicationsAreBounded() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("1209000200", "13")
    for id: UInt64 in 0..<65 { server.indicate([1], of: 8, id: id) }
    _ = server.takeEvents()
    server.indicate([1], of: 8, id: 99)
    #expect(server.takeEvents() == ["unconfirmed 99 queueFull"])
  }

  @Test func severalValuesInOnePacket() throws {
    var database = try sampleDatabase()
    _ = try database.add(.genericAttribute(hasHash: false))
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234, characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: .notify, value: .owner)]))
    var server = LinkScript(database)
    let features = try #require(database.services.first { $0.uuid == 0x1801 }?.characteristics[1].valueHandle)
    #expect(features == 26)
    try server.exchange("1209000100", "13")
    try server.exchange("121e000100", "13")
    let values: [(handle: UInt16, value: [UInt8])] = [(8, [1]), (29, [2, 3]), (11, [9])]
    func notify() -> NotifyOutcome {
      var actions: [GATTAction] = []
      let outcome = server.connection.notify(values, actions: &actions)
      server.perform { _, _, all, _ in all = actions }
      return outcome
    }
    #expect(notify() == .sent)
    #expect(server.takeSent() == ["1b080001", "1b1d000203"])
    try server.exchange("121a0004", "13")
    #expect(notify() == .sent)
    #expect(server.takeSent() == ["23080001" + "00011d0002000203"])
  }
}
