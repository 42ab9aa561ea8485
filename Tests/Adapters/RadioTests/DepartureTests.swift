import Bluetooth
import Testing

@testable import Radio

struct DepartureTests {
  @Test func aLinkWithoutPacketsInFlightEndsAtOnce() {
    var departure = Departure(fragment: 27)
    let ended = departure.end(at: .zero)
    #expect(ended)
  }

  @Test func aLinkEndsWhenItsLastPacketHasLeft() {
    var departure = Departure(fragment: 27)
    // With the header of L2CAP, 23 octets fill one packet of the controller; 24 need two.
    departure.sent(23)
    departure.sent(24)
    let early = departure.completed(1)
    #expect(!early)
    let ended = departure.end(at: .zero)
    #expect(!ended)
    let first = departure.completed(1)
    #expect(!first)
    #expect(!departure.tick(at: .zero.advanced(by: .milliseconds(999))))
    let second = departure.completed(1)
    #expect(second)
  }

  @Test func aLinkWaitsForASecondAtTheMost() {
    var departure = Departure(fragment: 251)
    departure.sent(100)
    let ended = departure.end(at: .zero)
    #expect(!ended)
    #expect(departure.deadline == .zero.advanced(by: .seconds(1)))
    #expect(departure.tick(at: .zero.advanced(by: .seconds(1))))
    #expect(departure.inFlight == 1)
  }

  @Test func packetsOfTheKernelsOwnAreNotOwed() {
    var departure = Departure(fragment: nil)
    let completed = departure.completed(3)
    #expect(!completed)
    departure.sent(512)
    let ended = departure.end(at: .zero)
    #expect(!ended)
    let last = departure.completed(1)
    #expect(last)
  }
}
