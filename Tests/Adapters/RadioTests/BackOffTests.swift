import Bluetooth
import Testing

@testable import Radio

struct BackOffTests {
  @Test func backOffDoublesUpToItsLimit() {
    var backOff = BackOff(first: .milliseconds(250), limit: .seconds(1))
    var now = Instant.zero
    for delay in [250, 500, 1000, 1000] {
      backOff.fail(at: now)
      #expect(!backOff.allows(at: now))
      #expect(backOff.deadline(after: now) == now.advanced(by: .milliseconds(delay)))
      now = now.advanced(by: .milliseconds(delay))
      #expect(backOff.allows(at: now))
    }
    for _ in 0..<100 { backOff.fail(at: now) }
    backOff.reset()
    #expect(backOff.allows(at: .zero))
  }
}
