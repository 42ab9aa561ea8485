import Testing

@testable import Radio

struct PacketsInFlightTests {
  @Test func packetsCountAsTheFragmentsOfTheController() {
    var packets = PacketsInFlight(fragment: 27)
    // With the header of L2CAP, 23 octets fill one packet of the controller; 24 need two.
    packets.sent(23)
    #expect(packets.count == 1)
    packets.sent(24)
    #expect(packets.count == 3)
    packets.completed(1)
    #expect(packets.count == 2)
  }

  @Test func packetsOfTheKernelsOwnAreNotOwed() {
    var packets = PacketsInFlight(fragment: nil)
    packets.completed(3)
    packets.sent(512)
    #expect(packets.count == 1)
    packets.completed(1)
    #expect(packets.count == 0)
  }
}
