import Bluetooth
import Testing

@testable import BlueZ

/// Programs that do not read what they are sent.
struct UnreadMessagesTests {
  private static let hostile = ":1.66"
  private static let other = ":1.7"
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  /// A program has been sent as much as is allowed, and one octet more.
  private func full() -> UnreadMessages {
    var unread = UnreadMessages()
    unread.sent(UnreadMessages.maximum + 1, to: Self.hostile)
    return unread
  }

  private func expectAsked(_ isAsked: Bool, _ program: String, _ unread: inout UnreadMessages) {
    let asks = unread.ask(program)
    #expect(asks == isAsked, "\(program)")
  }

  @Test func aProgramWaitsUntilItHasRead() {
    var unread = full()
    #expect(unread.mustWait(Self.hostile))
    #expect(!unread.mustWait(Self.other))
    unread.sent(UnreadMessages.free, to: Self.other)
    #expect(!unread.mustWait(Self.other))
    expectAsked(true, Self.hostile, &unread)
    expectAsked(false, Self.hostile, &unread)
    unread.sent(1, to: Self.hostile)
    unread.answered(Self.hostile)
    #expect(!unread.mustWait(Self.hostile))
    #expect(unread.total == UnreadMessages.free + 1, "what was sent after the question may not be read")
  }

  @Test func aProgramIsAskedNowAndThen() {
    var unread = UnreadMessages()
    unread.sent(UnreadMessages.asking, to: Self.other)
    expectAsked(false, Self.other, &unread)
    unread.sent(1, to: Self.other)
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
    #expect(unread.total == UnreadMessages.maximum + 1 - 2 * UnreadMessages.forgiven)
    #expect(!unread.mustWait(Self.hostile))
  }

  /// The questions that one can leave open do not keep others from being asked.
  @Test func manyThatDoNotAnswer() {
    var unread = full()
    let silent = (0..<UnreadMessages.maximumAsked).map { ":2.\($0)" }
    for program in silent {
      unread.sent(UnreadMessages.free + 1, to: program)
      expectAsked(true, program, &unread)
    }
    expectAsked(false, Self.hostile, &unread)
    for program in silent { unread.silent(program, at: start) }
    let asked = silent.filter { unread.ask($0) }
    #expect(asked.count == UnreadMessages.maximumAsked / 2)
    expectAsked(true, Self.hostile, &unread)
    for program in silent { unread.left(program) }
    unread.left(Self.hostile)
    #expect(unread.total == 0)
    unread.answered(Self.hostile)
    #expect(unread.total == 0)
  }
}
