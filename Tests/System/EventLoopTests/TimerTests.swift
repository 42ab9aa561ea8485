import EventLoop
import Glibc
import Testing

@Suite("Timers and the worker of the event loop")
struct TimerTests {
  let loop: EventLoop

  init() throws { loop = try EventLoop() }

  @Test("Timers ring in the order of their times, never early, those of one time in the order in which they were set")
  func order() throws {
    let start = EventLoop.now
    var rung: [Int] = []
    var early = 0
    for (number, delay) in [30, 10, 20, 10, 0].enumerated() {
      let time = start + Int64(delay) * 1_000_000
      _ = loop.schedule(at: time) {
        if EventLoop.now < time { early += 1 }
        rung.append(number)
      }
    }
    #expect(try loop.run { rung.count == 5 })
    #expect(rung == [4, 1, 3, 2, 0])
    #expect(early == 0)
  }

  @Test("A timer set before the others still wakes the loop")
  func earlier() throws {
    var rung: [String] = []
    let late = loop.schedule(at: EventLoop.now + 60_000_000_000) { rung.append("late") }
    try loop.settle()
    _ = loop.schedule(at: EventLoop.now + 2_000_000) {
      rung.append("soon")
      loop.stop()
    }
    try loop.run()
    #expect(rung == ["soon"])
    late.cancel()
  }

  @Test("Cancelled timers do not ring, also when others cancel them at the same time, and are not kept")
  func cancelling() throws {
    var rung = 0
    final class Content {}
    weak var kept: Content?
    let now = EventLoop.now
    var second: Timer?
    _ = loop.schedule(at: now) { second?.cancel() }
    second = loop.schedule(at: now) { rung += 1 }
    try loop.settle()
    #expect(rung == 0)
    do {
      let content = Content()
      kept = content
      for _ in 0..<10_000 {
        loop.schedule(at: now + 3_600_000_000_000) { withExtendedLifetime(content) { rung += 1 } }.cancel()
      }
    }
    #expect(kept == nil)
    #expect(rung == 0)
  }

  @Test("A loop that is done with holds nothing of what waited")
  func discarding() throws {
    final class Content {}
    weak var kept: Content?
    var rung = 0
    do {
      let content = Content()
      kept = content
      _ = loop.schedule(at: EventLoop.now) { [loop] in withExtendedLifetime((content, loop)) { rung += 1 } }
      loop.execute { [loop] in withExtendedLifetime((content, loop)) { rung += 1 } }
    }
    #expect(kept != nil)
    loop.discard()
    #expect(kept == nil)
    try loop.settle()
    #expect(rung == 0)
  }

  @Test("A timer that sets itself anew for now starves nobody")
  func chain() throws {
    let ends = Ends()
    ends.send()
    var rung = 0
    var heard = 0
    func ring() {
      rung += 1
      _ = loop.schedule(at: EventLoop.now) { ring() }
    }
    ring()
    let watch = try Watch(ends.left, on: loop, priority: .low) { _ in heard += 1 }
    for _ in 0..<100 { try loop.poll() }
    #expect(rung > 10)
    #expect(heard > 10)
    watch.cancel()
  }

  @Test("The worker does things in order, beside the loop, and gives back values and errors")
  func worker() throws {
    struct Refused: Error, Equatable {}
    let worker = Worker(loop: loop)
    let thread = UInt(pthread_self())
    var results: [Int] = []
    var error: Refused?
    for number in 0..<100 {
      worker.submit {
        number * 2
      } _: { result in
        results.append((try? result.get()) ?? -1)
      }
    }
    worker.submit {
      throw Refused()
    } _: { (result: Result<Int, any Error>) in
      if case .failure(let thrown) = result { error = thrown as? Refused }
    }
    var other: UInt?
    worker.submit {
      UInt(pthread_self())
    } _: {
      other = try? $0.get()
    }
    #expect(results.isEmpty)
    #expect(try loop.run { other != nil })
    #expect(results == (0..<100).map { $0 * 2 })
    #expect(error == Refused())
    #expect(other != thread)
  }

  @Test("The loop goes on while the worker blocks, and a worker that is dropped does not call back")
  func blocking() throws {
    let ends = Ends()
    _ = fcntl(ends.left, F_SETFL, 0)
    let left = ends.left
    var done = false
    var worker: Worker? = Worker(loop: loop)
    worker?.submit {
      var octet: UInt8 = 0
      return read(left, &octet, 1)
    } _: { _ in
      done = true
    }
    var rung = false
    _ = loop.schedule(at: EventLoop.now + 1_000_000) { rung = true }
    #expect(try loop.run { rung })
    #expect(!done)
    ends.send()
    #expect(try loop.run { done })
    done = false
    worker?.submit {
      1
    } _: { _ in
      done = true
    }
    worker = nil
    try loop.settle()
    #expect(!done)
  }
}
