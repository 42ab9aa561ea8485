import Bluetooth
import Testing

@testable import MIDI

@Suite("When messages are passed on")
struct MIDIPlayoutTests {
  private let interval = 15
  /// The device's clock at the test's zero, in milliseconds.
  private let zero = 8100

  private func instant(_ milliseconds: Double) -> Instant { Instant(nanoseconds: Int64(milliseconds * 1_000_000)) }

  private func stamp(_ milliseconds: Int) -> UInt16 { UInt16((milliseconds + zero) % Int(MIDIEvent.timestamps)) }

  /// The time of the connection event that carries a note.
  private func arrival(_ played: Int) -> Int { (played / interval + 1) * interval }

  /// The latencies of notes that are played every 37 ms for 30 s.
  private func latencies(_ playout: inout MIDIPlayout) -> [Double] {
    stride(from: 0, to: 30_000, by: 37).map { played in
      let time = playout.time(of: stamp(played), arrived: instant(Double(arrival(played))))
      return Double(time.nanoseconds) / 1e6 - Double(played)
    }
  }

  @Test("The timestamps take away the jitter of connection events: 15 ms become less than 1 ms")
  func jitter() {
    let raw = stride(from: 0, to: 30_000, by: 37).map { Double(arrival($0) - $0) }
    #expect((raw.max() ?? 0) - (raw.min() ?? 0) >= 14)
    var playout = MIDIPlayout(delay: .milliseconds(interval))
    // The quickest message is among the first ones.
    let latencies = latencies(&playout).dropFirst(15)
    #expect((latencies.max() ?? 99) - (latencies.min() ?? 0) < 1)
    #expect((latencies.max() ?? 99) <= 2 * Double(interval))
  }

  @Test("Messages of one packet keep their distances")
  func group() {
    var playout = MIDIPlayout(delay: .milliseconds(15))
    let times = [3, 8, 14].map { playout.time(of: stamp($0), arrived: instant(15)) }
    #expect(times == [instant(30), instant(30), instant(30)], "nothing is known of the link yet")
    let next = [18, 23, 29].map { playout.time(of: stamp($0), arrived: instant(30)) }
    #expect(next == [instant(34), instant(39), instant(45)])
  }

  @Test("A clock that drifts is followed", arguments: [-100.0, 100.0])
  func drift(partsPerMillion: Double) {
    var playout = MIDIPlayout(delay: .milliseconds(interval))
    for played in stride(from: 0, to: 600_000, by: 10) {
      let shown = Int(Double(played) * (1 + partsPerMillion / 1_000_000))
      let time = playout.time(of: stamp(shown), arrived: instant(Double(arrival(played))))
      let latency = Double(time.nanoseconds) / 1e6 - Double(played)
      if played > 1000 { #expect(abs(latency - 19) <= 3, "\(played): \(latency)") }
    }
  }

  @Test(
    "Timestamps without a meaning: nothing is held longer than the delay, and order is kept",
    arguments: [[0], [0, 0x1FFF], [5, 4000, 3, 8000]] as [[UInt16]])
  func meaningless(stamps: [UInt16]) {
    var playout = MIDIPlayout(delay: .milliseconds(15))
    var last = Instant.zero
    for step in 0..<20_000 {
      let now = instant(Double(step) * 11)
      let time = playout.time(of: stamps[step % stamps.count], arrived: now)
      #expect(time >= last && time >= now && time <= now.advanced(by: .milliseconds(15)))
      last = time
    }
  }

  /// The times of messages that arrive at these milliseconds, in milliseconds.
  private func times(_ messages: [(timestamp: UInt16?, arrived: Double)]) -> [Double] {
    var playout = MIDIPlayout(delay: .milliseconds(15))
    return messages.map { Double(playout.time(of: $0.timestamp, arrived: instant($0.arrived)).nanoseconds) / 1e6 }
  }

  @Test("A clock that is set anew, and a long silence, are no delay")
  func anew() {
    #expect(times([(100, 0), (6000, 100), (17, 3_600_000)]) == [15, 115, 3_600_015])
  }

  @Test("Without a timestamp a message follows the one before it")
  func without() {
    #expect(times([(100, 0), (nil, 1), (nil, 40)]) == [15, 15, 40])
  }
}
