import Adapter
import Bluetooth
import Testing

@Suite struct VirtualSchedulerTests {
  let scheduler = VirtualScheduler(epoch: 1000)

  @Test func alarmsRingInOrderOfTimeThenOfSetting() {
    var rung: [String] = []
    scheduler.schedule(after: .seconds(2)) { rung.append("2a") }
    scheduler.schedule(after: .seconds(1)) { rung.append("1") }
    scheduler.schedule(after: .seconds(2)) { rung.append("2b") }
    scheduler.advance(by: .milliseconds(1999))
    #expect(rung == ["1"])
    scheduler.advance(by: .milliseconds(1))
    #expect(rung == ["1", "2a", "2b"])
    #expect(scheduler.now == Instant(nanoseconds: 2_000_000_000))
    #expect(scheduler.secondsSinceEpoch == 1002)
  }

  @Test func anAlarmSeesItsOwnTimeAndMaySetOthers() {
    var times: [Int64] = []
    func tick() {
      times.append(scheduler.now.nanoseconds)
      if times.count < 5 { scheduler.schedule(after: .nanoseconds(10), tick) }
    }
    scheduler.schedule(after: .nanoseconds(10), tick)
    scheduler.advance(by: .nanoseconds(35))
    #expect(times == [10, 20, 30])
    #expect(scheduler.now.nanoseconds == 35)
  }

  @Test func aCancelledAlarmDoesNotRing() {
    var rung = 0
    let first = scheduler.schedule(at: Instant(nanoseconds: 10)) { rung += 1 }
    let second = scheduler.schedule(at: Instant(nanoseconds: 20)) { rung += 1 }
    scheduler.schedule(after: .nanoseconds(15)) { second.cancel() }
    first.cancel()
    scheduler.advance(by: .seconds(1))
    #expect(rung == 0)
  }

  @Test func anAlarmInThePastRingsWhenTheClockNextMovesAndNeverFromTheCall() {
    scheduler.advance(by: .seconds(1))
    var rung = false
    _ = scheduler.schedule(at: .zero) { rung = true }
    #expect(!rung)
    scheduler.advance(by: .zero)
    #expect(rung)
    #expect(scheduler.now == Instant(nanoseconds: 1_000_000_000))
  }

  @Test func runGoesFromAlarmToAlarmUntilTheConditionHolds() {
    var count = 0
    func tick() {
      count += 1
      scheduler.schedule(after: .seconds(1), tick)
    }
    scheduler.schedule(after: .seconds(1), tick)
    #expect(scheduler.run { count == 3 })
    #expect(scheduler.now == Instant(nanoseconds: 3_000_000_000))
    #expect(!scheduler.run(for: .milliseconds(2500)) { count == 100 })
    #expect(scheduler.now == Instant(nanoseconds: 5_500_000_000))
    #expect(count == 5)
  }

  @Test("Work to be executed comes before the next alarm, and needs no time")
  func execution() {
    let scheduler = VirtualScheduler()
    var order: [String] = []
    scheduler.schedule(after: .seconds(1)) {
      order.append("alarm")
      scheduler.execute { order.append("its consequence") }
    }
    scheduler.schedule(after: .seconds(1)) { order.append("next alarm") }
    scheduler.execute {
      order.append("work")
      scheduler.execute { order.append("more work") }
    }
    #expect(order.isEmpty)
    #expect(scheduler.settle() && !scheduler.settle())
    #expect(order == ["work", "more work"] && scheduler.now == .zero)
    scheduler.advance(by: .seconds(1))
    #expect(order.dropFirst(2) == ["alarm", "its consequence", "next alarm"])
  }
}
