import Bluetooth
import Testing

@testable import Controllers

struct ExpectedOffersTests {
  private var offers = ExpectedOffers()

  private func at(_ milliseconds: Int) -> Instant { .zero.advanced(by: .milliseconds(milliseconds)) }

  /// The links that are overdue a millisecond before a time, and then.
  private mutating func overdue(_ milliseconds: Int) -> [[UInt16]] {
    [offers.overdue(at: at(milliseconds - 1)), offers.overdue(at: at(milliseconds))]
  }

  @Test("the kernel has 10 s to ask the device, then 1 s to offer the link")
  mutating func patience() {
    #expect(offers.deadline == nil)
    offers.began(1, asks: true, at: at(0))
    offers.began(2, asks: false, at: at(0))
    #expect(offers.deadline == at(1000))
    var found = overdue(1000)
    #expect(found == [[], [2]])
    offers.asked(1, at: at(3000))
    // A second answer gives no more time.
    offers.asked(1, at: at(3500))
    found = overdue(4000)
    #expect(found == [[], [1]])
    offers.began(3, asks: true, at: at(5000))
    found = overdue(15_000)
    #expect(found == [[], [3]] && offers.deadline == nil)
  }

  @Test("the end of a link is suspicious if it should have been offered by then")
  mutating func ends() {
    offers.began(1, asks: true, at: at(0))
    var isSuspicious = offers.ended(1)
    #expect(!isSuspicious)
    offers.began(1, asks: true, at: at(0))
    offers.asked(1, at: at(10))
    isSuspicious = offers.ended(1)
    #expect(isSuspicious)
    offers.began(1, asks: false, at: at(0))
    offers.offered(1)
    isSuspicious = offers.ended(1)
    #expect(!isSuspicious && offers.deadline == nil)
  }
}
