import Bluetooth
import Testing

@testable import BlueZ

/// Programs with unread messages.
struct UnreadMessagesTests {
  private static let hostile = ":1.66"
  private static let other = ":1.7"
  /// The users of the two.
  private static let (attacker, victim): (UInt32, UInt32) = (66, 7)
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  /// A program has been sent as much as its user is allowed, and one octet more.
  private func full() -> UnreadMessages {
    var unread = UnreadMessages()
    unread.sent(UnreadMessages.maximumOfUser + 1, to: Self.hostile, of: Self.attacker)
    return unread
  }

  private func expectAsked(_ isAsked: Bool, _ program: String, _ unread: inout UnreadMessages) {
    let asks = unread.ask(program)
    #expect(asks == isAsked, "\(program)")
  }

  @Test func aProgramWaitsUntilItHasRead() {
    var unread = full()
    #expect(unread.mustWait(Self.hostile, of: Self.attacker))
    #expect(!unread.mustWait(":1.67", of: Self.attacker), "another program of the same user, with nothing unread")
    expectAsked(true, Self.hostile, &unread)
    expectAsked(false, Self.hostile, &unread)
    unread.sent(1, to: Self.hostile, of: Self.attacker)
    unread.answered(Self.hostile)
    #expect(!unread.mustWait(Self.hostile, of: Self.attacker))
    #expect(unread.total == 1, "what was sent after the question may not be read")
  }

  @Test func aProgramIsAskedNowAndThen() {
    var unread = UnreadMessages()
    unread.sent(UnreadMessages.asking, to: Self.other, of: Self.victim)
    expectAsked(false, Self.other, &unread)
    unread.sent(1, to: Self.other, of: Self.victim)
    expectAsked(true, Self.other, &unread)
    unread.answered(Self.other)
    #expect(unread.total == 0)
    expectAsked(false, Self.other, &unread)
  }

  /// A program without an answer is forgiven a little now and then.
  @Test func aProgramThatDoesNotAnswer() {
    var unread = full()
    for second in [0, 24, 25] {
      expectAsked(true, Self.hostile, &unread)
      unread.silent(Self.hostile, at: start.advanced(by: .seconds(second)))
    }
    #expect(unread.total == UnreadMessages.maximumOfUser + 1 - 2 * UnreadMessages.forgiven)
    #expect(!unread.mustWait(Self.hostile, of: Self.attacker))
  }

  /// A user with many programs makes another wait no more than a user with a single one does.
  @Test func theManyProgramsOfAUser() {
    var unread = UnreadMessages()
    let programs = (0..<512).map { ":2.\($0)" }
    for program in programs where !unread.mustWait(program, of: Self.attacker) {
      unread.sent(UnreadMessages.free + 1, to: program, of: Self.attacker)
    }
    #expect(unread.total <= 2 * UnreadMessages.maximumOfUser + UnreadMessages.free + 1)
    #expect(unread.mustWait(":2.600", of: Self.attacker), "a program that has just come")
    unread.sent(UnreadMessages.free + 1, to: Self.other, of: Self.victim)
    #expect(!unread.mustWait(Self.other, of: Self.victim))
    let asked = programs.filter { unread.ask($0) }
    #expect(asked.count == UnreadMessages.maximumAskedOfUser)
    expectAsked(true, Self.other, &unread)
    unread.answered(Self.other)
    for program in programs { unread.left(program) }
    #expect(unread.total == 0)
    #expect(!unread.mustWait(":2.600", of: Self.attacker))
  }

  /// Octets are forgiven to each user, independently of others.
  @Test func eachUserIsForgiven() {
    var unread = full()
    unread.sent(UnreadMessages.free, to: Self.other, of: Self.victim)
    for program in [Self.hostile, Self.other] {
      expectAsked(true, program, &unread)
      unread.silent(program, at: start)
    }
    #expect(unread.total == UnreadMessages.maximumOfUser + 1 - UnreadMessages.forgiven)
  }

  /// Several users together are limited, too; a user with few unread messages is not.
  @Test func allUsers() {
    var unread = UnreadMessages()
    for user in 1...5 as ClosedRange<UInt32> {
      unread.sent(UnreadMessages.maximumOfUser, to: ":3.\(user)", of: user)
    }
    #expect(unread.mustWait(":3.1", of: 1))
    unread.sent(UnreadMessages.free, to: Self.other, of: Self.victim)
    #expect(!unread.mustWait(Self.other, of: Self.victim))
  }

  /// Unanswered pings do not prevent pings of other programs of the same user.
  @Test func manyThatDoNotAnswer() {
    var unread = full()
    let silent = (0..<UnreadMessages.maximumAskedOfUser).map { ":2.\($0)" }
    for program in silent {
      unread.sent(UnreadMessages.free + 1, to: program, of: Self.attacker)
      expectAsked(true, program, &unread)
    }
    expectAsked(false, Self.hostile, &unread)
    for program in silent { unread.silent(program, at: start) }
    let asked = silent.filter { unread.ask($0) }
    #expect(asked.count == UnreadMessages.maximumAskedOfUser / 2)
    expectAsked(true, Self.hostile, &unread)
    for program in silent { unread.left(program) }
    unread.left(Self.hostile)
    #expect(unread.total == 0)
    unread.answered(Self.hostile)
    #expect(unread.total == 0)
  }

  /// All programs of a user are pinged one after the other, also those that make no more calls.
  @Test func theNextIsAskedWhenAQuestionEnds() {
    var unread = UnreadMessages()
    let programs = (0..<4 * UnreadMessages.maximumAskedOfUser).map { ":2.\($0)" }
    let octets = 2 * UnreadMessages.maximumOfUser / programs.count + 1
    for program in programs { unread.sent(octets, to: program, of: Self.attacker) }
    #expect(unread.mustWait(":2.600", of: Self.attacker), "a program with nothing unread")
    var asked: [String] = []
    while let program = unread.askAnother(of: Self.attacker) { asked.append(program) }
    #expect(asked.count == UnreadMessages.maximumAskedOfUser)
    #expect(unread.askAnother(of: Self.victim) == nil)
    for place in programs.indices {
      guard place < asked.count else { break }
      unread.answered(asked[place])
      if let program = unread.askAnother() { asked.append(program) }
    }
    #expect(!unread.mustWait(":2.600", of: Self.attacker))
    #expect(unread.total <= UnreadMessages.maximumOfUser)
    #expect(Set(asked).count == asked.count)
  }

  /// Programs that do not answer take turns, behind the others, so that each is forgiven in its time.
  @Test func programsThatDoNotAnswerTakeTurns() {
    var unread = UnreadMessages()
    let silent = (0..<UnreadMessages.maximumAskedOfUser).map { ":2.\($0)" }
    for program in silent {
      unread.sent(2 * UnreadMessages.maximumOfUser, to: program, of: Self.attacker)
      expectAsked(true, program, &unread)
    }
    unread.sent(1, to: Self.hostile, of: Self.attacker)
    for program in silent { unread.silent(program, at: start) }
    #expect(unread.askAnother() == Self.hostile)
    for _ in 0..<2 {
      for program in silent {
        #expect(unread.askAnother() == program)
        unread.silent(program, at: start)
      }
    }
  }

  /// A user whose programs have read everything, or have left, is forgotten.
  @Test func usersAreForgotten() {
    var unread = UnreadMessages()
    for user in 0..<100 as Range<UInt32> {
      unread.sent(UnreadMessages.asking + 1, to: ":4.\(user)", of: user)
      expectAsked(true, ":4.\(user)", &unread)
      if user.isMultiple(of: 2) { unread.answered(":4.\(user)") } else { unread.left(":4.\(user)") }
    }
    #expect(unread.userCount == 0)
    unread.sent(1, to: Self.hostile, of: nil)
    unread.sent(1, to: Self.hostile, of: Self.attacker)
    #expect(unread.userCount == 1)
  }

  /// The first answers to a program are sent before its user is known.
  @Test func aUserWhoBecomesKnown() {
    var unread = UnreadMessages()
    unread.sent(UnreadMessages.maximumOfUser, to: Self.hostile, of: nil)
    unread.sent(1, to: Self.hostile, of: Self.attacker)
    unread.sent(UnreadMessages.free + 1, to: Self.other, of: nil)
    #expect(unread.mustWait(Self.hostile, of: Self.attacker))
    #expect(!unread.mustWait(Self.other, of: nil))
  }
}
