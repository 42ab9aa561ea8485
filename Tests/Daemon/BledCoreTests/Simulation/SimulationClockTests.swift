import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The clocks of scenarios: one that a test advances, and a faster one.
@Suite struct SimulationClockTests {
  /// An event loop that works on command.
  private final class Loop {
    private var work: [() -> Void] = []
    private(set) var turns = 0

    func later(_ work: @escaping () -> Void) { self.work.append(work) }

    func run() {
      while !work.isEmpty {
        turns += 1
        work.removeFirst()()
      }
    }
  }

  @Test("what is due at the present time is done without a move, and not from inside the call")
  func dueNow() {
    let loop = Loop()
    let clock = ManualScheduler(later: loop.later)
    var rung: [Int] = []
    clock.schedule(after: .zero) {
      rung.append(1)
      clock.schedule(after: .zero) { rung.append(2) }
    }
    clock.schedule(after: .milliseconds(1)) { rung.append(3) }
    #expect(rung == [])
    loop.run()
    #expect(rung == [1, 2])
  }

  @Test("what is to be called soon is called before the next alarm, and before a move is told")
  func soon() {
    let loop = Loop()
    let clock = ManualScheduler(later: loop.later)
    var told: [String] = []
    clock.schedule(after: .seconds(1)) {
      clock.execute { clock.schedule(after: .seconds(1)) { told.append("alarm \(clock.secondsSinceEpoch)") } }
    }
    clock.advance(by: .seconds(3)) { told.append("moved") }
    loop.run()
    #expect(told == ["alarm 1700000002.0", "moved"])
    clock.execute { clock.execute { told.append("settled") } }
    clock.settle()
    #expect(told.last == "settled")
    loop.run()
    #expect(told.count == 3)
  }

  @Test("moves follow one another, and each is told when all that was due until then is done")
  func moves() {
    let loop = Loop()
    let clock = ManualScheduler(later: loop.later)
    var told: [String] = []
    clock.schedule(after: .seconds(1)) { told.append("alarm 1") }
    clock.schedule(after: .seconds(3)) { told.append("alarm 3") }
    clock.advance(by: .seconds(2)) { told.append("moved to \(clock.secondsSinceEpoch)") }
    clock.advance(by: .seconds(2)) { told.append("moved to \(clock.secondsSinceEpoch)") }
    loop.run()
    #expect(told == ["alarm 1", "moved to 1700000002.0", "alarm 3", "moved to 1700000004.0"])
  }

  @Test("a flood of alarms leaves other work of the event loop its turns")
  func flood() {
    let loop = Loop()
    let clock = ManualScheduler(later: loop.later)
    var rung = 0
    for index in 0..<5000 { clock.schedule(after: .milliseconds(index)) { rung += 1 } }
    var isDone = false
    clock.advance(by: .seconds(10)) { isDone = true }
    loop.run()
    #expect(rung == 5000 && isDone && loop.turns >= 10)
  }

  @Test("a clock that goes sixty times as fast rings and tells the time accordingly")
  func factor() {
    let real = VirtualScheduler()
    let clock = FastScheduler(real, times: 60)
    var rung = 0
    clock.schedule(after: .seconds(90)) { rung += 1 }
    real.advance(by: .seconds(1))
    #expect(rung == 0 && clock.secondsSinceEpoch == real.secondsSinceEpoch + 59)
    real.advance(by: .milliseconds(501))
    #expect(rung == 1)
  }
}
