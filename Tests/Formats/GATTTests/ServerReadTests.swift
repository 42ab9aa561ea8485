import ATT
import Bluetooth
import GATT
import Testing

/// Core 5.4, Vol 3, Part F, 3.4.4.
struct ServerReadTests {
  @Test func read() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0a0300", "0b626c6564")
    try server.exchange("0a0100", "0b0018")
    try server.exchange("0a0800", "010a080002")
    try server.exchange("0a0000", "010a000001")
    try server.exchange("0a1500", "010a150001")
  }

  @Test func longValueInPieces() throws {
    var database = try sampleDatabase()
    let taken = [
      database.setValue([UInt8](0..<40), of: 13), database.setValue([UInt8](0..<41), of: 13),
      database.setValue([1], of: 12),
    ]
    #expect(taken == [true, false, false])
    var server = LinkScript(database)
    try server.exchange("0a0d00", "0b" + Hex.encode(0..<22))
    try server.exchange("0c0d001600", "0d" + Hex.encode(22..<40))
    try server.exchange("0c0d002800", "0d")
    try server.exchange("0c0d002900", "010c0d0007")
    try server.exchange("0c0800" + "0000", "010c080002")
  }

  @Test func readByType() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("080100ffff382a", "09030b0001")
    try server.exchange("080100ffff372a", "0108080002")
    try server.exchange("080100ffff992a", "010801000a")
    try server.exchange("080500010" + "00028", "0108050001")
  }

  @Test func readMultiple() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0e0b000d00", "0f0107")
    try server.exchange("0e0b000800", "010e080002")
    try server.exchange("0e0b009900", "010e990001")
    try server.exchange("200b000300", "2101000104" + "00626c6564")
  }

  @Test func readMultipleIsCutToTheMTU() throws {
    var database = try sampleDatabase()
    database.setValue([UInt8](0..<40), of: 13)
    var server = LinkScript(database)
    try server.exchange("0e0d000b00", "0f" + Hex.encode(0..<22))
    try server.exchange("200d000b00", "212800" + Hex.encode(0..<20))
  }

  @Test func ownerAnswers() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0a1000", nil)
    #expect(server.takeEvents() == ["read 9 16 0"])
    try server.answer(.success([UInt8](0..<30)))
    server.expect("0b" + Hex.encode(0..<22))
    try server.exchange("0c10001600", nil)
    #expect(server.takeEvents() == ["read 9 16 22"])
    try server.answer(.success([UInt8](22..<30)))
    server.expect("0d" + Hex.encode(22..<30))
    try server.exchange("0a1000", nil)
    try server.answer(.failure(.insufficientResources))
    server.expect("010a100011")
  }

  @Test func ownerAnswersAmongOthers() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0e0b0010000d00", nil)
    try server.answer(.success([0xAA, 0xBB]))
    server.expect("0f01aabb07")
    try server.exchange("200b0010000d00", nil)
    try server.answer(.success([0xAA, 0xBB]))
    server.expect("2101000102" + "00aabb010007")
    try server.exchange("0e0b0010000800", nil)
    try server.answer(.success([0xAA]))
    server.expect("010e080002")
    try server.exchange("080100fffff02a", nil)
    try server.answer(.success([0xAA]))
    server.expect("09031000aa")
  }

  @Test func ownerThatIsLateOrGone() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0a1000", nil)
    #expect(server.connection.deadline == server.now.advanced(by: .seconds(25)))
    server.pass(seconds: 24)
    server.expect(nil)
    server.pass(seconds: 1)
    server.expect("010a10000e")
    #expect(server.takeEvents() == ["read 9 16 0", "cancelled"])
    try server.answer(.success([1]))
    server.expect(nil)

    try server.exchange("0a1000", nil)
    server.perform { connection, _, actions, _ in connection.ownerGone(AttributeOwner(8), actions: &actions) }
    server.expect(nil)
    server.perform { connection, _, actions, _ in connection.ownerGone(AttributeOwner(9), actions: &actions) }
    server.expect("010a10000e")

    try server.exchange("0a1000", nil)
    _ = server.takeEvents()
    server.endLink()
    #expect(server.takeEvents() == ["cancelled"])
    server.expect(nil)
  }

  @Test("An owner has 25 s for all the values of one request, not for each: the client gives the bearer up after 30 s")
  func ownerThatIsAskedAgainAndAgain() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0e1000100010001000", nil)
    for _ in 1...2 {
      server.pass(seconds: 10)
      try server.answer(.success([1]))
    }
    #expect(server.connection.deadline == server.now.advanced(by: .seconds(5)))
    server.pass(seconds: 5)
    server.expect("010e10000e")
    #expect(server.takeEvents() == ["read 9 16 0", "read 9 16 0", "read 9 16 0", "cancelled"])
    // The next request has its own time.
    try server.exchange("0a1000", nil)
    #expect(server.connection.deadline == server.now.advanced(by: .seconds(25)))
  }

  @Test func requestBeforeTheAnswerEndsTheBearer() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0a1000", nil)
    try server.exchange("0a0b00", nil)
    #expect(server.takeEvents() == ["read 9 16 0", "failed", "cancelled"])
    #expect(!server.connection.isOpen)
    try server.exchange("0a0b00", nil)
  }
}
