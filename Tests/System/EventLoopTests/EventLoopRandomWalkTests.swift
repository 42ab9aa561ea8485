import EventLoop
import Glibc
import TestSupport
import Testing

/// Adds, removes, closes and sets at random, also while events are delivered, and compares with a model of the expected
/// events.
@Suite("A random walk over the event loop")
struct EventLoopRandomWalkTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  /// One socket pair with its watch, and the model's knowledge of it.
  private final class Node {
    let ends = Ends()
    var watch: Watch?
    var unread = 0
    var isReading = true
    /// Must not report events.
    var isOver = false
  }

  private final class Walk {
    let loop: EventLoop
    var generator: Generator
    var nodes: [Node] = []
    var timers: [(timer: Timer, isDue: Bool)] = []
    var problems: [String] = []
    var heard = 0
    var rung = 0
    var expectedTimers = 0

    init(seed: UInt64) throws {
      loop = try EventLoop()
      generator = Generator(state: seed)
    }

    func act(depth: Int = 0) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...2 where nodes.count < 40: add()
      case 3: remove()
      case 4, 5, 6: send()
      case 7: toggle()
      case 8, 9: setTimer()
      case 10: cancelTimer()
      default:
        // From inside a handler the queue acts later.
        if depth < 3 { loop.execute { [unowned self] in act(depth: depth + 1) } }
      }
    }

    private func add() {
      let node = Node()
      let priority = EventLoop.Priority.allCases.randomElement(using: &generator) ?? .normal
      node.watch = try? Watch(node.ends.left, on: loop, priority: priority) { [unowned self, unowned node] readiness in
        heard += 1
        if node.isOver { problems.append("heard after the end") }
        if node.unread == 0 { problems.append("told of nothing: \(readiness)") }
        if !node.isReading { problems.append("told while nothing is wanted") }
        let count = Int.random(in: 1...3, using: &generator)
        let read = node.ends.receive(upTo: count)
        if read != min(count, node.unread) { problems.append("read \(read) of \(node.unread)") }
        node.unread -= max(0, read)
        if Int.random(in: 0..<3, using: &generator) == 0 { act(depth: 1) }
      }
      if node.watch == nil { problems.append("not watched") }
      nodes.append(node)
    }

    private func remove() {
      guard let index = nodes.indices.randomElement(using: &generator) else { return }
      let node = nodes.remove(at: index)
      node.isOver = true
      node.watch?.cancel()
      node.ends.closeLeft()
      // Kept, so that a late event would find it and be noticed.
      graveyard.append(node)
    }
    private var graveyard: [Node] = []

    private func send() {
      guard let node = nodes.randomElement(using: &generator) else { return }
      let count = Int.random(in: 1...4, using: &generator)
      node.ends.send(count)
      node.unread += count
    }

    private func toggle() {
      guard let node = nodes.randomElement(using: &generator) else { return }
      node.isReading.toggle()
      node.watch?.interest = node.isReading ? .readable : []
    }

    private func setTimer() {
      let time = EventLoop.now + Int64.random(in: -1_000...200_000, using: &generator)
      let index = timers.count
      expectedTimers += 1
      let timer = loop.schedule(at: time) { [unowned self] in
        rung += 1
        if !timers[index].isDue { problems.append("rang when it must not") }
        if EventLoop.now < time { problems.append("rang early") }
        timers[index].isDue = false
        if Int.random(in: 0..<3, using: &generator) == 0 { act(depth: 1) }
      }
      timers.append((timer, true))
    }

    private func cancelTimer() {
      guard let index = timers.indices.randomElement(using: &generator), timers[index].isDue else { return }
      timers[index].timer.cancel()
      timers[index].isDue = false
      expectedTimers -= 1
    }

    /// Reads all, rings all.
    func finish() throws {
      for node in nodes where !node.isReading {
        node.isReading = true
        node.watch?.interest = .readable
      }
      let done = try loop.run { [unowned self] in
        nodes.allSatisfy { $0.unread == 0 || !$0.isReading } && rung == expectedTimers
      }
      if !done { problems.append("not all was heard") }
    }
  }

  @Test("Nothing is heard that must not be, and everything that must", arguments: 0..<8)
  func walk(number: Int) throws {
    let seed = Seed.named("EVENT_LOOP_SEED", otherwise: 2026)
    let walk = try Walk(seed: seed &+ UInt64(number))
    for _ in 0..<4000 {
      walk.act()
      try walk.loop.poll()
    }
    try walk.finish()
    #expect(walk.problems.isEmpty, "EVENT_LOOP_SEED=\(seed), walk \(number): \(walk.problems.prefix(5))")
    #expect(walk.heard > 500)
    #expect(walk.rung > 300)
  }
}
