import Testing

@testable import BledCore

/// The order of senders when a link has room.
@Suite struct RoomTurnsTests {
  private let world = World()

  private func session(_ user: UInt32 = 1000) throws -> Session { try #require(world.client(user: user).session) }

  @Test("senders take turns by user; one that cannot send is passed over")
  func turns() throws {
    let session = try session()
    var turns = RoomTurns()
    turns.wait(.values(of: 1), of: 1000)
    turns.wait(.values(of: 1), of: 1000)
    turns.wait(.commands(session), of: 1000)
    turns.wait(.values(of: 3), of: 1001)
    #expect(turns.next { $0 != .values(of: 1) } == .commands(session))
    #expect(turns.next { _ in true } == .values(of: 3))
    turns.wait(.values(of: 3), of: 1001)
    #expect(turns.next { _ in false } == nil && !turns.isEmpty)
    turns.leave(.values(of: 3), of: 1001)
    #expect(turns.next { _ in true } == .values(of: 1))
    #expect(turns.isEmpty)
  }

  @Test("a session that was refused may send as much as others did meanwhile, at least one and at most eight")
  func shares() throws {
    let (one, other) = (try session(), try session())
    var turns = RoomTurns()
    turns.refuse(one)
    turns.sent(3, by: one)
    turns.refuse(other)
    turns.sent(3, by: one)
    turns.refuse(other)
    #expect(!turns.hasShare(one) && !turns.hasShare(other))
    #expect(turns.giveShares() == [one, other] && turns.giveShares().isEmpty)
    turns.sent(1, by: one)
    #expect(!turns.hasShare(one))
    turns.sent(2, by: other)
    #expect(turns.hasShare(other))
    turns.sent(2, by: other)
    #expect(!turns.hasShare(other))
    turns.refuse(one)
    for _ in 0..<100 { turns.sent(1, by: other) }
    #expect(turns.giveShares() == [one])
    turns.sent(RoomTurns.longestShare - 1, by: one)
    #expect(turns.hasShare(one))
    turns.sent(1, by: one)
    #expect(!turns.hasShare(one))
  }

  @Test("few sessions have a share at a time; an unused one goes to others, and none is forgotten")
  func bounded() throws {
    let sessions = try (0..<20).map { _ in try session() }
    var turns = RoomTurns()
    for session in sessions { turns.refuse(session) }
    #expect(turns.giveShares() == Array(sessions[..<8]))
    #expect(turns.giveShares() == Array(sessions[8..<16]))
    #expect(sessions.filter(turns.hasShare) == Array(sessions[8..<16]))
    turns.forget(sessions[16])
    #expect(turns.removeAll() == Array(sessions[17...]))
    #expect(!sessions.contains(where: turns.hasShare))
  }
}
