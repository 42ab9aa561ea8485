import ATT
import Bluetooth
import GATT
import Testing

/// The order of refusals: handle, permission, authorization, encryption, key size, authentication, offset, length.
struct ServerAccessTests {
  /// A value at handle 3 that requires this for reading and writing.
  private func server(_ requirement: AccessRequirement?, _ security: SecurityState) throws -> LinkScript {
    var database = AttributeDatabase()
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2AF0, properties: [.read, .write],
            permissions: AttributePermissions(read: requirement, write: requirement), value: .stored([7]),
            maximumLength: 2)
        ]))
    return LinkScript(database, security: security)
  }

  private func refusals(_ requirement: AccessRequirement?, _ security: SecurityState) throws -> [String] {
    var server = try server(requirement, security)
    var codes: [String] = []
    // An offset behind the end and a value too long are checked last, so they show only if all else is valid.
    for packet in ["0a0300", "0c03000900", "12030001", "1203000102" + "03"] {
      let octets = try #require(Hex.decode(packet))
      server.perform { connection, database, actions, now in
        connection.received(octets, now: now, database: &database, actions: &actions)
      }
      let answer = server.takeSent().joined()
      codes.append(answer.hasPrefix("01") ? String(answer.suffix(2)) : "ok")
    }
    return codes
  }

  @Test func ladder() throws {
    let bonded = SecurityState(level: 1, keySize: 0, isBonded: true)
    let weak = SecurityState(level: 2, keySize: 7)
    let encrypted = SecurityState(level: 2, keySize: 16)
    let authenticated = SecurityState(level: 3, keySize: 16)
    let best = SecurityState(level: 4, keySize: 16)
    let fine = ["ok", "07", "ok", "0d"]
    func all(_ code: String) -> [String] { Array(repeating: code, count: 4) }

    #expect(try refusals(.open, .none) == fine)
    #expect(try refusals(nil, best) == ["02", "02", "03", "03"])
    #expect(try refusals(.encrypted, .none) == all("05"))
    #expect(try refusals(.encrypted, bonded) == all("0f"))
    #expect(try refusals(.encrypted, encrypted) == fine)
    #expect(try refusals(AccessRequirement(level: 2, minimumKeySize: 16), weak) == all("0c"))
    #expect(try refusals(AccessRequirement(level: 3, minimumKeySize: 16), weak) == all("0c"))
    #expect(try refusals(.authenticated, encrypted) == all("05"))
    #expect(try refusals(.authenticated, authenticated) == fine)
    #expect(try refusals(.secureConnections, authenticated) == all("05"))
    #expect(try refusals(.secureConnections, best) == fine)
    // Level 4 needs a key of 16 octets.
    for level in UInt8(2)...4 {
      #expect(try refusals(.secureConnections, SecurityState(level: level, keySize: 15)) == all("0c"))
    }
  }

  @Test func authorizationComesBeforeEncryption() throws {
    let requirement = AccessRequirement(level: 2, authorization: true)
    #expect(try refusals(requirement, .none).allSatisfy { $0 == "08" })
    let authorized = SecurityState(level: 1, keySize: 0, isAuthorized: true)
    #expect(try refusals(requirement, authorized).allSatisfy { $0 == "05" })
    #expect(try refusals(requirement, SecurityState(level: 2, keySize: 16, isAuthorized: true))[0] == "ok")
  }

  @Test func securityThatComesLaterOpens() throws {
    var server = try server(.encrypted, .none)
    try server.exchange("0a0300", "010a030005")
    try server.exchange("160300000001", "0116030005")
    server.connection.securityChanged(SecurityState(level: 2, keySize: 16))
    try server.exchange("0a0300", "0b07")
  }

  @Test func configurationTakesWhatTheValueTakes() throws {
    var database = AttributeDatabase()
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1234,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2AF0, properties: [.read, .notify], permissions: AttributePermissions(read: .authenticated),
            value: .stored([7]))
        ]))
    var server = LinkScript(database, security: SecurityState(level: 2, keySize: 16))
    try server.exchange("1204000100", "0112040005")
    server.connection.securityChanged(SecurityState(level: 3, keySize: 16))
    try server.exchange("1204000100", "13")
  }
}
