import Testing

@testable import BlueZ

/// The order in which the calls of several programs are handled.
struct CallTurnsTests {
  /// The calls that wait, by their numbers.
  private final class Turns {
    private var turns = CallTurns()

    var isEmpty: Bool { turns.isEmpty }

    func add(_ sender: String, _ number: UInt64, size: Int = 1) -> Bool {
      turns.add(BusCall(number: number, sender: sender, path: "/", interface: nil, member: "Ping"), size: size)
    }

    func next(but held: String? = nil) -> UInt64? { turns.next { $0 != held }?.number }

    func rest() -> [UInt64] {
      var numbers: [UInt64] = []
      while let number = next() { numbers.append(number) }
      return numbers
    }

    func remove(_ program: String) { turns.remove(program) }
  }

  private let turns = Turns()

  @Test func aProgramThatMustWaitLosesNoTurn() {
    for (sender, number) in [("a", 1), ("b", 2), ("b", 3), ("a", 4)] as [(String, UInt64)] {
      #expect(turns.add(sender, number))
    }
    #expect(turns.next(but: "a") == 2)
    #expect(turns.next(but: "a") == 3)
    #expect(turns.next(but: "a") == nil)
    #expect(!turns.isEmpty)
    #expect(turns.rest() == [1, 4])
  }

  @Test func programsTakeTurns() {
    #expect(turns.isEmpty && turns.next() == nil)
    for number in 1...3 as ClosedRange<UInt64> { #expect(turns.add(":1.1", number)) }
    #expect(turns.next() == 1)
    #expect(turns.add(":1.2", 10))
    #expect(turns.add(":1.2", 11))
    #expect(turns.rest() == [2, 10, 3, 11])
    #expect(turns.isEmpty)
  }

  @Test func aProgramHasSoManyCalls() {
    let most = UInt64(CallTurns.maximum)
    for number in 1...most { #expect(turns.add(":1.1", number)) }
    #expect(!turns.add(":1.1", 0))
    #expect(turns.add(":1.2", 0), "another one has room of its own")
    #expect(turns.next() == 1)
    #expect(turns.add(":1.1", most + 1))
    #expect(turns.rest() == [0] + Array(2...most + 1))
  }

  /// The first one is taken at any size, as it is handled at once.
  @Test func largeCalls() {
    #expect(turns.add(":1.1", 1, size: 1 << 20))
    #expect(!turns.add(":1.1", 2))
    #expect(turns.next() == 1)
    #expect(turns.add(":1.1", 3, size: CallTurns.maximumOctets - 1))
    #expect(turns.add(":1.1", 4))
    #expect(!turns.add(":1.1", 5))
  }

  /// Many calls pass through, of a program that always has some waiting.
  @Test func theOrderOfManyCalls() {
    var taken: [UInt64] = []
    for number in 0..<1000 as Range<UInt64> {
      #expect(turns.add(":1.1", number, size: 1000))
      if number >= 100 { taken += turns.next().map { [$0] } ?? [] }
    }
    #expect(taken + turns.rest() == Array(0..<1000))
    #expect(turns.add(":1.1", 0, size: CallTurns.maximumOctets))
  }

  @Test func aProgramThatHasLeft() {
    #expect(turns.add(":1.1", 1) && turns.add(":1.2", 2))
    turns.remove(":1.1")
    #expect(turns.rest() == [2])
  }
}
