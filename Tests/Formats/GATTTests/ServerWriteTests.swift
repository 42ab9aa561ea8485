import ATT
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

/// Core 5.4, Vol 3, Part F, 3.4.5 and 3.4.6.
struct ServerWriteTests {
  @Test func write() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("120d000102", "13")
    #expect(server.takeEvents() == ["stored 13"])
    #expect(server.database.value(of: 13) == [1, 2])
    try server.exchange("120b0001", "01120b0003")
    try server.exchange("12990001", "0112990001")
    try server.exchange("520d0003", nil)
    #expect(server.database.value(of: 13) == [3])
    try server.exchange("520b0003", nil)
    try server.exchange("52990003", nil)
    #expect(server.takeEvents() == ["stored 13"])
  }

  @Test func valueThatIsTooLong() throws {
    var server = LinkScript(try sampleDatabase(), maximumMTU: 100)
    try server.exchange("026400", "036400")
    try server.exchange("120d00" + Hex.encode(0..<41), "01120d000d")
    try server.exchange("12140001020304" + "05", "011214000d")
    try server.exchange("520d00" + Hex.encode(0..<41), nil)
    #expect(server.database.value(of: 13) == [7])
  }

  @Test func ownerTakesOrRefuses() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("1212000102", nil)
    #expect(server.takeEvents() == ["write 9 18+0=0102"])
    try server.answerWrite(nil)
    server.expect("13")
    try server.exchange("1212000102", nil)
    try server.answerWrite(ATTErrorCode(rawValue: 0x80))
    server.expect("0112120080")
    _ = server.takeEvents()
    try server.exchange("5212000102", nil)
    #expect(server.takeEvents() == ["command 9 18+0=0102"])
  }

  @Test func answerOfTheWrongKindIsIgnored() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("12120001", nil)
    let token = try #require(server.writes.first?.token)
    server.perform { connection, database, actions, now in
      connection.answerRead(token, .success([1]), now: now, database: &database, actions: &actions)
    }
    server.expect(nil)
    try server.answerWrite(nil)
    server.expect("13")
  }

  @Test func preparedWritesAreExecutedTogether() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("160d0000000102", "170d0000000102")
    try server.exchange("160d0002000304", "170d0002000304")
    #expect(server.database.value(of: 13) == [7])
    try server.exchange("1801", "19")
    #expect(server.database.value(of: 13) == [1, 2, 3, 4])
    #expect(server.takeEvents() == ["stored 13"])
    try server.exchange("160d0000000102", "170d0000000102")
    try server.exchange("1800", "19")
    try server.exchange("1801", "19")
    #expect(server.database.value(of: 13) == [1, 2, 3, 4])
  }

  @Test func preparedWriteThatDoesNotFit() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("160d00020001", "170d00020001")
    try server.exchange("1801", "01180d0007")
    try server.exchange("160d000000" + Hex.encode(0..<18), "170d000000" + Hex.encode(0..<18))
    try server.exchange("160d001200" + Hex.encode(0..<18), "170d001200" + Hex.encode(0..<18))
    try server.exchange("160d002400" + Hex.encode(0..<5), "170d002400" + Hex.encode(0..<5))
    try server.exchange("1801", "01180d000d")
    #expect(server.database.value(of: 13) == [7])
    try server.exchange("160b00000001", "01160b0003")
    try server.exchange("169900000001", "0116990001")
  }

  @Test func preparedWritesOfAnOwner() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("1612000000aabb", "1712000000aabb")
    try server.exchange("1612000200cc", "1712000200cc")
    try server.exchange("1801", nil)
    #expect(server.takeEvents() == ["write 9 18+0=aabbcc"])
    try server.answerWrite(nil)
    server.expect("19")
    try server.exchange("161400000001", "171400000001")
    try server.exchange("1801", nil)
    try server.answerWrite(.valueNotAllowed)
    server.expect("0118140013")
    try server.exchange("161400050001", "171400050001")
    try server.exchange("1801", "0118140007")
    try server.exchange("161400040001", "171400040001")
    try server.exchange("1801", "011814000d")
  }

  @Test func writesOfSeveralValuesTakeTheReliableProperty() throws {
    var database = AttributeDatabase()
    let reliable = DescriptorDefinition(uuid: 0x2900, value: .stored([1, 0]))
    let properties: CharacteristicProperties = [.read, .write]
    let service = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [
          CharacteristicDefinition(uuid: 0x2AF0, properties: properties, value: .stored([]), descriptors: [reliable]),
          CharacteristicDefinition(
            uuid: 0x2AF1, properties: properties.union(.extendedProperties), value: .owner),
          CharacteristicDefinition(uuid: 0x2AF2, properties: properties, value: .stored([])),
        ]))
    #expect(service.characteristics.map(\.valueHandle) == [3, 6, 9])
    #expect(service.characteristics[0].properties.contains(.extendedProperties))
    var server = LinkScript(database)
    try server.exchange("160300000001", "170300000001")
    try server.exchange("160600000002", "170600000002")
    try server.exchange("1801", nil)
    // The stored value waits for the owner's consent.
    #expect(server.database.value(of: 3) == [])
    try server.answerWrite(nil)
    server.expect("19")
    #expect(server.database.value(of: 3) == [1])
    try server.exchange("160300000005", "170300000005")
    try server.exchange("160900000002", "170900000002")
    try server.exchange("1801", "0118090006")
    #expect(server.database.value(of: 3) == [1])
    try server.exchange("160900000002", "170900000002")
    try server.exchange("1801", "19")
    #expect(server.database.value(of: 9) == [2])
  }

  @Test func prepareQueueIsBounded() throws {
    var server = LinkScript(try sampleDatabase())
    for _ in 0..<128 { try server.exchange("160d00000001", "170d00000001") }
    try server.exchange("160d00000001", "01160d0009")
    try server.exchange("1800", "19")
    try server.exchange("160d00000001", "170d00000001")
    var large = LinkScript(try sampleDatabase(), maximumMTU: 517)
    try large.exchange("020502", "030502")
    let piece = Hex.encode([UInt8](repeating: 0, count: 512))
    for _ in 0..<16 { try large.exchange("160d000000" + piece, "170d000000" + piece) }
    try large.exchange("160d00000001", "01160d0009")
  }

  @Test func serviceThatGoesWithPreparedWrites() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("160d00000001", "170d00000001")
    server.database.remove(service: 6)
    try server.exchange("1801", "01180d0001")
  }

  @Test(arguments: [SecurityState.none, SecurityState(level: 2, keySize: 16)])
  func signedWritesWithoutAKeyAreIgnored(_ security: SecurityState) throws {
    var server = LinkScript(try sampleDatabase(), security: security)
    try server.exchange("d20d00aabb05000000" + "0102030405060708", nil)
    #expect(server.takeEvents() == [])
    #expect(server.database.value(of: 13) == [7])
    // The link continues: a command has no answer, and a refused one is no fault of the bearer.
    try server.exchange("0a0d00", "0b07")
  }

  @Test("A signed write is taken once, and none that is older than one before, also on the next link")
  func signedWritesAreTakenOnceEach() throws {
    let key = try #require(Key128(bigEndian: Array(1...16)))
    func signed(_ value: String, counter: UInt32, key: Key128) -> String {
      let packet = Hex.decode("d20d00" + value) ?? []
      return Hex.encode(packet + ATTSignature.sign(packet, counter: counter, key: key))
    }
    var server = LinkScript(try sampleDatabase())
    server.connection.acceptSignatures(after: nil) { ATTSignature.verify($0, key: key) }
    for (counter, isTaken): (UInt32, Bool) in [(0, true), (0, false), (7, true), (3, false), (7, false), (8, true)] {
      try server.exchange("520d00ff", nil)
      _ = server.takeEvents()
      try server.exchange(signed("aabb", counter: counter, key: key), nil)
      #expect(server.database.value(of: 13) == (isTaken ? [0xAA, 0xBB] : [0xFF]), "counter \(counter)")
      #expect(server.takeEvents() == (isTaken ? ["signed \(counter)", "stored 13"] : []))
    }
    try server.exchange(signed("cc", counter: 9, key: .zero), nil)
    try server.exchange(signed("cc", counter: 9, key: key).replacing("d20d00cc", with: "d20d00cd"), nil)
    #expect(server.takeEvents() == [])

    var later = LinkScript(try sampleDatabase())
    later.connection.acceptSignatures(after: 8) { ATTSignature.verify($0, key: key) }
    for counter: UInt32 in [8, .max, .max] { try later.exchange(signed("cc", counter: counter, key: key), nil) }
    #expect(later.takeEvents() == ["signed \(UInt32.max)", "stored 13"])
  }

  @Test func aSignatureIsNoSubstituteForEncryption() throws {
    var database = AttributeDatabase()
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2AF0, properties: .authenticatedSignedWrites, permissions: AttributePermissions(write: .encrypted),
            value: .stored([7]))
        ]))
    var server = LinkScript(database)
    server.connection.acceptSignatures(after: nil) { _ in 5 }
    try server.exchange("d20300aa05000000" + "0102030405060708", nil)
    #expect(server.database.value(of: 3) == [7])
  }
}
