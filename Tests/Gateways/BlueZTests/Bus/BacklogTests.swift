import Bluetooth
import Testing

@testable import BlueZ

/// The messages that wait for a bus that does not read, or reads slowly.
struct BacklogTests {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private func seconds(_ count: Int) -> Instant { start.advanced(by: .seconds(count)) }

  private func expectRoom(_ isThere: Bool, _ backlog: inout Backlog) {
    let hasRoom = backlog.hasRoom()
    #expect(hasRoom == isThere)
  }

  @Test func callsAreRefusedAndCounted() {
    var backlog = Backlog()
    for number in 1...Backlog.maximum {
      backlog.add(10, at: start)
      backlog.update(number, at: start)
      expectRoom(true, &backlog)
    }
    backlog.add(10, at: start)
    for number in 1...3 {
      expectRoom(false, &backlog)
      #expect(backlog.refused == number)
    }
    backlog.update(Backlog.many, at: start)
    expectRoom(true, &backlog)
    #expect(!backlog.isCongested)
    backlog.update(0, at: start)
    #expect(backlog.isEmpty)
    #expect(backlog.refused == 0)
  }

  @Test func moreWaitsThanIsCounted() {
    var backlog = Backlog()
    backlog.update(5, at: start)
    backlog.add(1, at: start)
    backlog.update(6, at: start)
    #expect(!backlog.isEmpty)
    backlog.update(0, at: start)
    #expect(backlog.isEmpty)
  }

  /// The sizes are those of the messages that still wait.
  @Test func largeMessages() {
    var backlog = Backlog()
    backlog.add(Backlog.maximumOctets, at: start)
    backlog.add(1, at: start)
    backlog.add(2, at: start)
    expectRoom(false, &backlog)
    backlog.update(2, at: start)
    expectRoom(true, &backlog)
    backlog.add(Backlog.maximumOctets - 2, at: start)
    expectRoom(false, &backlog)
  }

  @Test func aBusIsStuckThatTakesNothing() {
    var backlog = Backlog()
    #expect(!backlog.isStuck(at: seconds(1000)), "nothing waits")
    backlog.add(1, at: start)
    backlog.add(1, at: seconds(50))
    backlog.update(2, at: seconds(59))
    #expect(!backlog.isStuck(at: seconds(59)))
    #expect(backlog.isStuck(at: seconds(60)))
    backlog.update(1, at: seconds(60))
    #expect(!backlog.isStuck(at: seconds(119)), "a message was written")
    #expect(backlog.isStuck(at: seconds(120)))
  }
}
