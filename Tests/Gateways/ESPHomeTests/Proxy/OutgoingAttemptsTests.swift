import Bluetooth
import Testing

@testable import ESPHome

/// The times of the attempts to connect to Home Assistant.
@Suite struct OutgoingAttemptsTests {
  private var attempts = OutgoingAttempts()
  private var now = Instant.zero

  /// Waits for the end of the pause, which is `seconds` long.
  private mutating func pause(_ seconds: Double) {
    #expect(attempts.deadline == now.advanced(by: .seconds(seconds)))
    #expect(attempts.expire(at: now, chance: 0) == nil)
    now = now.advanced(by: .seconds(seconds))
    #expect(attempts.expire(at: now, chance: 0) == .connect)
  }

  @Test("Pauses double up to five minutes while nobody answers")
  mutating func pauses() {
    #expect(attempts.require(true, at: now) == .connect)
    for seconds in [5.0, 10, 20, 40, 80, 160, 300, 300] {
      attempts.failed(at: now, chance: 0.5)
      pause(seconds)
    }
  }

  @Test("A pause is up to a fifth shorter or longer")
  mutating func chances() {
    for (chance, seconds) in [(-1, 4), (0, 4), (0.25, 4.5), (1, 6), (2, 6)] as [(Double, Double)] {
      attempts = OutgoingAttempts()
      _ = attempts.require(true, at: now)
      attempts.failed(at: now, chance: chance)
      #expect(attempts.deadline == now.advanced(by: .seconds(seconds)))
    }
  }

  @Test("An attempt without an answer ends after 10 s")
  mutating func timeout() {
    _ = attempts.require(true, at: now)
    now = now.advanced(by: .seconds(10))
    #expect(attempts.deadline == now)
    #expect(attempts.expire(at: now, chance: 0.5) == .cancel)
    pause(5)
  }

  @Test("A connection that was served ends the long pauses")
  mutating func served() {
    _ = attempts.require(true, at: now)
    for seconds in [5.0, 10, 20] {
      attempts.failed(at: now, chance: 0.5)
      pause(seconds)
    }
    attempts.opened()
    #expect(attempts.deadline == nil)
    attempts.ended(at: now, chance: 0.5)
    pause(40)
    attempts.opened()
    attempts.served()
    attempts.ended(at: now, chance: 0.5)
    pause(5)
  }

  @Test("Nothing is opened while Home Assistant is connected")
  mutating func notRequired() {
    #expect(attempts.require(true, at: now) == .connect)
    #expect(attempts.require(false, at: now) == .cancel)
    attempts.failed(at: now, chance: 0)
    attempts.opened()
    #expect(attempts.deadline == nil)
    #expect(attempts.require(true, at: now) == .connect)
    attempts.failed(at: now, chance: 0)
    #expect(attempts.require(false, at: now) == nil)
    #expect(attempts.deadline == nil)
    _ = attempts.require(true, at: now)
    attempts.opened()
    #expect(attempts.require(false, at: now) == nil)
    attempts.ended(at: now, chance: 0)
    #expect(attempts.deadline == nil)
  }
}
