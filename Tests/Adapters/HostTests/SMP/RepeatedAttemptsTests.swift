import Bluetooth
import Testing

@testable import Host

@Suite struct RepeatedAttemptsTests {
  private func address(_ value: UInt64) -> DeviceAddress { DeviceAddress(value: value, kind: .public) }
  private func time(_ seconds: Int) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  @Test func eachFailureDoublesTheWait() {
    var attempts = RepeatedAttempts()
    let peer = address(1)
    #expect(attempts.wait(of: peer, now: .zero) == nil)
    for wait in [1, 2, 4, 8, 16, 32, 64, 64, 64] {
      attempts.failed(peer, now: .zero)
      #expect(attempts.wait(of: peer, now: time(wait - 1)) != nil)
      #expect(attempts.wait(of: peer, now: time(wait)) == nil)
    }
    #expect(attempts.wait(of: address(2), now: .zero) == nil)
    attempts.succeeded(peer)
    #expect(attempts.wait(of: peer, now: .zero) == nil)
  }

  @Test func timeWithoutAFailureHalvesTheWait() {
    var attempts = RepeatedAttempts()
    for _ in 0..<7 { attempts.failed(address(1), now: .zero) }
    // Two times 64 s after the end of the wait: twice halved, and doubled by the new failure.
    attempts.failed(address(1), now: time(64 + 2 * 64))
    #expect(attempts.wait(of: address(1), now: time(192 + 31)) != nil)
    #expect(attempts.wait(of: address(1), now: time(192 + 32)) == nil)
  }

  @Test func manyDevicesReplaceTheOneThatMayPairFirst() {
    var attempts = RepeatedAttempts()
    attempts.failed(address(0), now: .zero)
    for value in 1...64 { attempts.failed(address(UInt64(value)), now: time(value)) }
    #expect(attempts.wait(of: address(0), isWanted: true, now: .zero) == nil)
    #expect(attempts.wait(of: address(64), isWanted: true, now: time(64)) != nil)
  }

  @Test("A device that guesses under one address after the other has to wait, too (stack 27)")
  func addressesThatChange() {
    var attempts = RepeatedAttempts()
    for value in 1...8 { attempts.failed(address(UInt64(value)), now: .zero) }
    #expect(attempts.wait(of: address(100), now: .zero) == nil)
    for (value, wait) in zip(9..., [1, 2, 4, 8, 16, 32, 64, 64]) {
      attempts.failed(address(UInt64(value)), now: .zero)
      #expect(attempts.wait(of: address(100), now: time(wait - 1)) != nil)
      #expect(attempts.wait(of: address(100), now: time(wait)) == nil)
      #expect(attempts.wait(of: address(100), isWanted: true, now: .zero) == nil)
    }
    // Time without failures gives free ones again.
    attempts.failed(address(90), now: time(64 + 64 * 15))
    #expect(attempts.wait(of: address(100), now: time(64 + 64 * 15)) == nil)
  }
}
