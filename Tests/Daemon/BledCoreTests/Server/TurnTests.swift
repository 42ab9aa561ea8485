import EventLoop
import Testing

@testable import BledCore

/// The loop's time when several clients want it.
@Suite struct TurnTests {
  private final class Clock {
    var now: Int64 = 0
  }

  /// A client with so much to do, in steps of 0.2 ms.
  private final class Busy: TurnTaker {
    let user: UInt32?
    var isWaiting = false
    private(set) var isWatched = true
    private(set) var steps = 0
    private var left: Int
    private let clock: Clock
    private let onStep: (Busy) -> Void

    init(user: UInt32, steps: Int, _ clock: Clock, onStep: @escaping (Busy) -> Void) {
      self.user = user
      left = steps
      self.clock = clock
      self.onStep = onStep
    }

    func watch(_ isOn: Bool) { isWatched = isOn }

    func takeTurn(until deadline: Int64) -> Bool {
      while left > 0 {
        clock.now += 200_000
        left -= 1
        steps += 1
        onStep(self)
        if clock.now >= deadline { break }
      }
      return left > 0
    }
  }

  @Test("A user with fifty busy clients has no more turns than one with a single one, and its clients share them")
  func byUser() throws {
    let loop = try EventLoop()
    let clock = Clock()
    let turns = try ClientTurns(on: loop) { clock.now }
    var order: [UInt32?] = []
    let many = (0..<50).map { _ in Busy(user: 1000, steps: 10, clock) { order.append($0.user) } }
    for client in many { turns.ready(client) }
    #expect(order.count == 5)
    let one = Busy(user: 1001, steps: 30, clock) { order.append($0.user) }
    turns.ready(one)
    while one.steps < 30 { try loop.poll() }
    // As many steps of both, except for a turn more or less, before and after.
    #expect((55...75).contains(order.count))
    try loop.settle()
    #expect(many.allSatisfy { $0.steps == 10 && $0.isWatched && !$0.isWaiting })
  }

  @Test("While one user's clients wait for their turns, another user's client that becomes ready is served at once")
  func atOnce() throws {
    let loop = try EventLoop()
    let clock = Clock()
    let turns = try ClientTurns(on: loop) { clock.now }
    let many = (0..<20).map { _ in Busy(user: 1000, steps: 20, clock) { _ in } }
    for client in many { turns.ready(client) }
    try loop.poll()
    let other = Busy(user: 1001, steps: 1, clock) { _ in }
    turns.ready(other)
    #expect(other.steps == 1)
    let waiting = try #require(many.first { $0.isWaiting })
    turns.ready(waiting)
    #expect(!waiting.isWatched, "it need not be told again until it was served")
    try loop.settle()
  }

  @Test("Clients that have little to do are served at once, also several of one user, without waiting for a turn")
  func light() throws {
    let loop = try EventLoop()
    let clock = Clock()
    let turns = try ClientTurns(on: loop) { clock.now }
    let clients = (0..<3).map { _ in Busy(user: 1000, steps: 1, clock) { _ in } }
    for client in clients { turns.ready(client) }
    #expect(clients.allSatisfy { $0.steps == 1 && $0.isWatched })
  }
}

extension EventLoop {
  fileprivate func settle() throws { while try poll() {} }
}
