import Testing

@testable import BlueZ

/// The order in which the calls of several programs are handled.
struct CallTurnsTests {
  /// The calls that wait, by their numbers.
  private final class Turns {
    private var turns = CallTurns()

    var isEmpty: Bool { turns.isEmpty }

    func add(_ sender: String, _ number: UInt64, size: Int = 1, of user: UInt32? = 1000) -> Bool {
      turns.add(
        BusCall(number: number, sender: sender, path: "/", interface: nil, member: "Ping"), size: size, of: user)
    }

    /// The calls that have no room.
    @discardableResult
    func identified(_ program: String, of user: UInt32) -> [UInt64] {
      turns.identified(program, of: user).map(\.number)
    }

    func next(but held: String? = nil) -> UInt64? { turns.next { $0 != held }?.number }

    func rest() -> [UInt64] {
      var numbers: [UInt64] = []
      while let number = next() { numbers.append(number) }
      return numbers
    }

    func remove(_ program: String) -> [UInt64] { turns.remove(program).map(\.number) }
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

  @Test func largeCalls() {
    #expect(!turns.add(":1.1", 1, size: CallTurns.maximumOctets + 1))
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
    #expect(turns.remove(":1.1") == [1])
    #expect(turns.rest() == [2])
    #expect(turns.remove(":1.2").isEmpty)
  }

  /// A user with many programs has no more turns than a user with a single one.
  @Test func usersTakeTurns() {
    for number in 1...6 as ClosedRange<UInt64> { #expect(turns.add(":1.\(number)", number, of: 66)) }
    for number in 11...13 as ClosedRange<UInt64> { #expect(turns.add(":1.11", number, of: 7)) }
    #expect(turns.rest() == [1, 11, 2, 12, 3, 13, 4, 5, 6])
  }

  @Test func aUserHasSoManyCalls() {
    let programs = CallTurns.maximumOfUser / CallTurns.maximum
    for program in 0..<programs {
      for number in 0..<UInt64(CallTurns.maximum) { #expect(turns.add(":1.\(program)", number, of: 66)) }
    }
    #expect(!turns.add(":1.66", 0, of: 66))
    #expect(turns.add(":1.67", 0, of: 7), "another user has room of its own")
    #expect(turns.next() == 0)
    #expect(turns.add(":1.66", 0, of: 66))
  }

  @Test func theSizeOfAUsersCalls() {
    let programs = CallTurns.maximumOctetsOfUser / CallTurns.maximumOctets
    for program in 0..<programs { #expect(turns.add(":1.\(program)", 1, size: CallTurns.maximumOctets, of: 66)) }
    #expect(!turns.add(":1.66", 2, of: 66))
    #expect(turns.add(":1.67", 3, size: CallTurns.maximumOctets, of: 7))
    #expect(turns.remove(":1.0") == [1])
    #expect(turns.add(":1.66", 2, of: 66))
  }

  @Test func aProgramWhoseUserIsNotKnown() {
    for number in 1...2 as ClosedRange<UInt64> { #expect(turns.add(":1.1", number, of: nil)) }
    #expect(turns.isEmpty && turns.next() == nil)
    #expect(turns.add(":1.2", 3, of: 7))
    turns.identified(":1.1", of: 7)
    turns.identified(":1.1", of: 8)
    #expect(turns.rest() == [3, 1, 2])
    #expect(turns.add(":1.3", 4, of: nil))
    #expect(turns.remove(":1.3") == [4])
    turns.identified(":1.3", of: 7)
    #expect(turns.rest().isEmpty)
  }

  /// The calls of all programs of unknown users have the room of one user.
  @Test func manyProgramsWhoseUsersAreNotKnown() {
    let programs = CallTurns.maximumOfUser / CallTurns.maximum
    for program in 0..<programs {
      for number in 0..<UInt64(CallTurns.maximum) { #expect(turns.add(":1.\(program)", number, of: nil)) }
    }
    #expect(!turns.add(":1.66", 0, of: nil))
    #expect(turns.add(":1.67", 0, of: 7), "a known user has room of its own")
    turns.identified(":1.0", of: 66)
    #expect(turns.add(":1.66", 0, of: nil))
    for program in 1..<programs { #expect(turns.remove(":1.\(program)").count == CallTurns.maximum) }
    for number in 1..<UInt64(CallTurns.maximum) { #expect(turns.add(":1.66", number, of: nil)) }
  }

  /// Calls received before the user was known get no place beyond the user's limit.
  @Test func theRestOfAUsersPlaces() {
    let programs = CallTurns.maximumOfUser / CallTurns.maximum
    for program in 0..<programs {
      for number in 0..<UInt64(CallTurns.maximum) { #expect(turns.add(":1.\(program)", number, of: 66)) }
    }
    #expect(turns.next() == 0)
    for number in 1...3 as ClosedRange<UInt64> { #expect(turns.add(":1.66", number, of: nil)) }
    #expect(turns.identified(":1.66", of: 66) == [2, 3])
    #expect(!turns.add(":1.66", 4, of: 66))
    #expect(turns.add(":1.67", 5, of: nil))
    #expect(turns.identified(":1.67", of: 66) == [5])
    #expect(turns.remove(":1.67").isEmpty && turns.remove(":1.66") == [1])
  }

  @Test func theSizeOfCallsOfUnknownUsers() {
    let programs = CallTurns.maximumOctetsOfUser / CallTurns.maximumOctets
    for program in 0..<programs { #expect(turns.add(":1.\(program)", 1, size: CallTurns.maximumOctets, of: nil)) }
    #expect(!turns.add(":1.66", 2, of: nil))
    turns.identified(":1.0", of: 66)
    #expect(turns.add(":1.66", 2, of: nil))
  }
}
