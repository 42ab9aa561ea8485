import Testing

@testable import BledCore

@Suite struct SecurityTurnsTests {
  @Test("requests of one kind run beside each other; one of the other kind waits for them, and later ones for it")
  func order() {
    var turns = SecurityTurns()
    let begun = [(1, false), (2, false), (3, true), (4, false), (5, false)].map { (number, replaces) in
      turns.requested(number, replaces: replaces)
    }
    #expect(begun == [true, true, false, false, false], "4 waits, else 3 could wait for ever")
    let next = [2, 1, 3, 4, 5, 5].map { turns.ended($0) }
    #expect(next == [[], [3], [4, 5], [], [], []])
    #expect(turns.isIdle)
  }
}
