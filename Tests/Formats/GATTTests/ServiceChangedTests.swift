import ATT
import Bluetooth
import GATT
import Testing

/// Service Changed, the database hash and robust caching: Core 5.4, Vol 3, Part G, 2.5.2 and 7.
struct ServiceChangedTests {
  /// GATT service at 1–8: Service Changed 3, its configuration 4, features 6, hash 8; a value at 11 with its
  /// configuration at 12. The "hash" is the length of the message.
  private func server() throws -> LinkScript {
    var database = AttributeDatabase { message in [UInt8](repeating: 0, count: 15) + [UInt8(message.count)] }
    _ = try database.add(.genericAttribute(hasHash: database.hasHash))
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .notify], value: .stored([7]))]))
    return LinkScript(database)
  }

  private let extra = ServiceDefinition(uuid: 0x4321)

  private func change(_ server: inout LinkScript) throws {
    let service = try server.database.add(extra)
    server.perform { connection, database, actions, now in
      connection.databaseChanged(service.range, now: now, database: database, actions: &actions)
    }
  }

  @Test("Service Changed goes to whoever asked for it (P13)")
  func whoAsksIsTold() throws {
    var server = try server()
    try change(&server)
    server.expect(nil)
    try server.exchange("1204000200", "13")
    try change(&server)
    server.expect("1d03000e000e00")
    // Two more changes before the confirmation become one.
    try change(&server)
    try change(&server)
    server.expect(nil)
    try server.exchange("1e", "1d03000f001000")
    try server.exchange("1e", nil)
  }

  @Test func hashIsReadInWireOrderAndFollowsTheDatabase() throws {
    var server = try server()
    let count = server.database.hashMessage.count
    try server.exchange("0a0800", "0b" + Hex.encode([UInt8(count)] + [UInt8](repeating: 0, count: 15)))
    try change(&server)
    try server.exchange(
      "080100ffff2a2b", "09120800" + Hex.encode([UInt8(count + 6)] + [UInt8](repeating: 0, count: 15)))
  }

  @Test func unawareClientIsRefusedOnce() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try change(&server)
    // Discovery does not use a handle that could have changed its meaning.
    try server.exchange("100d00ffff0028", "11060d000d002143")
    try server.exchange("0a0b00", "010a0b0012")
    try server.exchange("520b0009", nil)
    try server.exchange("0a0b00", "0b07")
    try server.exchange("0a0b00", "0b07")
  }

  @Test func unawareClientMaySearchEverywhereButNotInAPart() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try change(&server)
    try server.exchange("080a00ffff0328", "09070a00120b00f02a")
    try server.exchange("080900ffff0228", "010809000a")
    try server.exchange("080100fffff02a", "09030b0007")
    try server.exchange("080900fffff02a", "0108090012")
    try server.exchange("080900fffff02a", "09030b0007")
  }

  @Test func clientThatReadsTheHashIsAware() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try server.exchange("120c000100", "13")
    try change(&server)
    #expect(server.notify([1], of: 11) == .outOfSync)
    let hash = Hex.encode(server.database.hash() ?? [])
    try server.exchange("080100ffff2a2b", "09120800" + hash)
    #expect(server.notify([1], of: 11) == .outOfSync)
    try server.exchange("0a0b00", "0b07")
    #expect(server.notify([1], of: 11) == .sent)
  }

  @Test func clientThatConfirmsServiceChangedIsAware() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try server.exchange("1204000200", "13")
    try change(&server)
    server.expect("1d03000e000e00".replacing("0e000e", with: "0d000d"))
    try server.exchange("1e", nil)
    try server.exchange("0a0b00", "0b07")
  }

  @Test func clientWithoutRobustCachingIsNeverRefused() throws {
    var server = try server()
    try change(&server)
    try server.exchange("0a0b00", "0b07")
  }

  @Test func featuresAreNeverSwitchedOff() throws {
    var server = try server()
    try server.exchange("0a0600", "0b00")
    try server.exchange("12060005", "13")
    try server.exchange("12060001", "0112060013")
    try server.exchange("120600", "011206000d")
    try server.exchange("1206000700", "13")
    try server.exchange("12060007", "13")
    try server.exchange("0a0600", "0b07")
  }

  @Test("A bonded client gets its state back, and is told when the database is another since (P13)")
  func bondedClientGetsItsStateBack() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try server.exchange("1204000200", "13")
    try server.exchange("120c000100", "13")
    let state = server.connection.clientState(database: &server.database)
    #expect(state.subscriptions.mapValues(\.configuration) == [3: .indication, 11: .notification])
    #expect(state.features == [1])
    #expect(state.hash == server.database.hash())

    var again = LinkScript(server.database)
    restore(state, &again)
    again.expect(nil)
    #expect(again.takeEvents() == ["subscribed 3 2", "subscribed 11 1"])
    #expect(again.notify([1], of: 11) == .sent)
    #expect(again.connection.clientState(database: &again.database) == state)

    // The database changes while it is away.
    _ = try server.database.add(extra)
    var changed = LinkScript(server.database)
    restore(state, &changed)
    changed.expect("1d03000100ffff")
    #expect(changed.connection.clientState(database: &changed.database) == state)
    var dropped = changed
    dropped.endLink()
    #expect(dropped.connection.clientState(database: &dropped.database) == state)
    #expect(dropped.connection.subscription(of: 11) == [])
    #expect(changed.notify([1], of: 11) == .outOfSync)
    try changed.exchange("1e", nil)
    #expect(changed.notify([1], of: 11) == .sent)
    #expect(changed.connection.clientState(database: &changed.database).hash == changed.database.hash())
  }

  private func restore(_ state: GATTClientState, _ server: inout LinkScript) {
    server.perform { connection, database, actions, now in
      connection.restore(state, now: now, database: &database, actions: &actions)
    }
  }

  @Test("What a client has configured on the link stays when its state comes back later")
  func configuredBefore() throws {
    var server = try server()
    try server.exchange("120c000100", "13")
    try server.exchange("1204000200", "13")
    var state = server.connection.clientState(database: &server.database)
    state.features = [4]
    var again = LinkScript(server.database)
    try again.exchange("12060001", "13")
    try again.exchange("120c000000", "13")
    _ = again.takeEvents()
    restore(state, &again)
    #expect(again.takeEvents() == ["subscribed 3 2"])
    try again.exchange("0a0600", "0b05")
  }

  @Test("A subscription waits for a service that is not there, and is forgotten if another has its handles")
  func subscriptionsWait() throws {
    var server = try server()
    try server.exchange("120c000100", "13")
    let state = server.connection.clientState(database: &server.database)
    let range = server.database.remove(service: 9) ?? 1...1
    var absent = LinkScript(server.database)
    restore(state, &absent)
    #expect(absent.takeEvents() == [])
    #expect(absent.connection.clientState(database: &absent.database).subscriptions == state.subscriptions)

    let service = ServiceDefinition(
      uuid: 0x1234,
      characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .notify], value: .stored([8]))])
    var back = absent
    #expect(try back.database.add(service).range == range)
    back.serviceReturned(range)
    #expect(back.takeEvents() == ["subscribed 11 1"])
    #expect(back.notify([1], of: 11) == .sent)

    var other = absent
    var different = service
    different.characteristics.append(CharacteristicDefinition(uuid: 0x2AF1, properties: .read, value: .stored([])))
    _ = try other.database.add(different, at: range.lowerBound)
    other.serviceReturned(range)
    #expect(other.takeEvents() == [])
    #expect(other.connection.clientState(database: &other.database).subscriptions.isEmpty)
  }

  @Test("A subscription is to the service of its publisher, not to one that looks the same at the same handles")
  func subscriptionsKnowTheirPublisher() throws {
    let service = ServiceDefinition(
      uuid: 0x1234,
      characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .notify], value: .stored([8]))])
    for (publisher, isTheSame) in [(UInt32(7), true), (8, false)] {
      var server = try server()
      _ = server.database.remove(service: 9)
      let range = try server.database.add(service, publisher: 7).range
      let value = range.lowerBound + 2
      try server.exchange("12\(hex(value + 1))0100", "13")
      let state = server.connection.clientState(database: &server.database)
      _ = server.database.remove(service: range.lowerBound)
      var absent = LinkScript(server.database)
      restore(state, &absent)
      #expect(try absent.database.add(service, publisher: publisher, at: range.lowerBound).range == range)
      absent.serviceReturned(range)
      #expect(absent.takeEvents() == (isTheSame ? ["subscribed \(value) 1"] : []))
    }
  }

  private func hex(_ handle: UInt16) -> String {
    let octets = [handle & 0xFF, handle >> 8].map { String($0 + 0x100, radix: 16).dropFirst() }
    return octets.joined()
  }

  @Test("A subscription that needs more security than the link has waits for it")
  func subscriptionsNeedTheirSecurity() throws {
    var database = AttributeDatabase()
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2AF0, properties: .notify, permissions: AttributePermissions(read: .authenticated),
            value: .stored([7]))
        ]))
    var server = LinkScript(database, security: SecurityState(level: 3, keySize: 16))
    try server.exchange("1204000100", "13")
    let state = server.connection.clientState(database: &server.database)
    var weak = LinkScript(database, security: SecurityState(level: 2, keySize: 16))
    restore(state, &weak)
    #expect(weak.takeEvents() == [])
    weak.connection.securityChanged(SecurityState(level: 3, keySize: 16))
    weak.serviceReturned(1...0xFFFF)
    #expect(weak.takeEvents() == ["subscribed 3 1"])
  }

  @Test("A client that went away before it was told of a change is told when it is back")
  func absentWhileUnaware() throws {
    var server = try server()
    try server.exchange("12060001", "13")
    try change(&server)
    let state = server.connection.clientState(database: &server.database)
    #expect(state.hash == nil)
    var again = LinkScript(server.database)
    restore(state, &again)
    try again.exchange("0a0b00", "010a0b0012")
    try again.exchange("0a0b00", "0b07")
  }

  @Test func subscriptionsGoWithTheirService() throws {
    var server = try server()
    try server.exchange("120c000100", "13")
    _ = server.takeEvents()
    let range = server.database.remove(service: 9) ?? 1...1
    server.perform { connection, database, actions, now in
      connection.databaseChanged(range, now: now, database: database, actions: &actions)
    }
    #expect(server.takeEvents() == ["subscribed 11 0", "state"])
    #expect(server.connection.subscription(of: 11) == [])
  }
}
