import TestSupport
import Testing

@testable import NearbySessions

/// The waits of calls.
@Suite(.timeLimit(.minutes(1))) struct WaitsTests {
  private actor Caller {
    let waits = Waits<String>()
    private var turn = 0

    /// Waits for each turn up to a number.
    func wait(until last: Int) async { while turn < last { await waits.wait(at: "turn") } }

    func next() {
      turn += 1
      waits.wake(at: "turn")
    }
  }

  @Test("an event at a place ends the waits there, a cancellation the one of its task, each once")
  func ends() async throws {
    let waits = Waits<String>()
    let first = Task { await waits.wait(at: "a") }
    try await until { waits.count(at: "a") == 1 }
    let second = Task { await waits.wait(at: "a") }
    try await until { waits.count(at: "a") == 2 }
    let third = Task { await waits.wait(at: "b") }
    try await until { waits.count == 3 }
    waits.wake(at: "c")
    #expect(waits.count == 3 && waits.count(at: "c") == 0)
    first.cancel()
    await first.value
    #expect(waits.count(at: "a") == 1 && waits.count(at: "b") == 1)
    for _ in 0..<2 { waits.wake(at: "a") }
    await second.value
    #expect(waits.count == 1)
    waits.wake(at: "b")
    await third.value
    #expect(waits.count == 0)
  }

  @Test("a call in a cancelled task does not wait")
  func cancelled() async {
    let waits = Waits<String>()
    let wait = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await waits.wait(at: "a")
    }
    await wait.value
    #expect(waits.count == 0)
  }

  @Test("an event behind the check of its actor's state is not missed")
  func atomic() async {
    let caller = Caller()
    let turns = 10_000
    let waiting = (0..<4).map { _ in Task { await caller.wait(until: turns) } }
    for _ in 0..<turns { await caller.next() }
    for task in waiting { await task.value }
    #expect(caller.waits.count == 0)
  }
}
