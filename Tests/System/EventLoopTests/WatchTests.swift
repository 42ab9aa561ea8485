import EventLoop
import Glibc
import TestSupport
import Testing

@Suite("Descriptors on the event loop")
struct WatchTests {
  let loop: EventLoop

  init() throws { loop = try EventLoop() }

  @Test("Tells of what came, again while it is unread, and of the other end's close")
  func levels() throws {
    let ends = Ends()
    var heard: [Watch.Readiness] = []
    let watch = try Watch(ends.left, on: loop) { heard.append($0) }
    #expect(heard.isEmpty)
    ends.send(2)
    try loop.poll()
    try loop.poll()
    #expect(heard == [.readable, .readable])
    #expect(ends.receive() == 2)
    #expect(try !loop.poll())
    ends.closeRight()
    try loop.poll()
    #expect(heard.last?.contains(.failed) == true)
    watch.cancel()
    #expect(try !loop.poll())
  }

  @Test("Tells of room for writing only while it is asked to")
  func room() throws {
    let ends = Ends()
    var heard: [Watch.Readiness] = []
    let watch = try Watch(ends.left, on: loop) { heard.append($0) }
    #expect(try !loop.poll())
    watch.interest = [.readable, .writable]
    try loop.poll()
    #expect(heard == [.writable])
    watch.interest = []
    ends.send()
    #expect(try !loop.poll())
    watch.interest = .readable
    try loop.poll()
    #expect(heard == [.writable, .readable])
  }

  @Test("A file cannot be watched, and that is an error")
  func file() throws {
    let descriptor = open("/proc/self/exe", O_RDONLY)
    defer { close(descriptor) }
    #expect {
      _ = try Watch(descriptor, on: loop) { _ in }
    } throws: {
      ($0 as? EventLoopError)?.code == EPERM
    }
  }

  @Test("Within a round the priority decides")
  func priorities() throws {
    var order: [EventLoop.Priority] = []
    var generator = SeededRandom(seed: 1)
    let all = EventLoop.Priority.allCases.shuffled(using: &generator)
    let ends = all.map { _ in Ends() }
    let watches = try zip(all, ends).map { priority, ends in
      try Watch(ends.left, on: loop, priority: priority) { _ in
        order.append(priority)
        _ = ends.receive()
      }
    }
    for ends in ends.shuffled(using: &generator) { ends.send() }
    try loop.settle()
    #expect(order == [.highest, .high, .normal, .low])
    for watch in watches { watch.cancel() }
  }

  @Test("A flood at the highest priority starves neither others, nor timers, nor the queue")
  func flood() throws {
    let (flood, other) = (Ends(), Ends())
    flood.send()
    other.send()
    var floods = 0
    var heard = 0
    var queued = 0
    var rang = false
    // Never read: it is ready for ever.
    let flooding = try Watch(flood.left, on: loop, priority: .highest) { _ in
      floods += 1
      loop.execute { queued += 1 }
    }
    let low = try Watch(other.left, on: loop, priority: .low) { _ in heard += 1 }
    let timer = loop.schedule(at: EventLoop.now) { rang = true }
    for _ in 0..<100 { try loop.poll() }
    #expect((45...55).contains(heard), "\(heard) of 100 turns")
    #expect(floods + heard + 1 == 100)
    #expect(rang)
    #expect(queued >= floods - 1)
    withExtendedLifetime((flooding, low, timer)) {}
  }

  @Test("What was ready for a number that is closed and used again reaches nobody")
  func staleEvents() throws {
    // Beyond the descriptors of tests that run at the same time: they would take a lower number when it becomes free.
    let beyond: Int32 = 900
    var first: Ends? = Ends()
    first?.moveLeft(from: beyond)
    let second = Ends()
    var wrong = 0
    var watches: [Watch] = []
    let number = try #require(first).left
    first?.send()
    second.send()
    // Both are ready. The first to be served closes the other's socket, and its number is reused for another one.
    watches.append(try Watch(number, on: loop, priority: .low) { _ in wrong += 1 })
    var successor: Ends?
    watches.append(
      try Watch(second.left, on: loop, priority: .high) { [self] _ in
        _ = second.receive()
        watches[0].cancel()
        first = nil
        successor = Ends()
        successor?.moveLeft(from: beyond)
        if let successor, let watch = try? Watch(successor.left, on: loop, { _ in wrong += 1 }) {
          watches.append(watch)
        }
      })
    for _ in 0..<20 { try loop.poll() }
    #expect(watches.count == 3)
    #expect(successor?.left == number, "the number was not used again, so this shows nothing")
    #expect(wrong == 0)
  }

  @Test("A handler may cancel its own watch and close its socket")
  func cancelItself() throws {
    let ends = Ends()
    var count = 0
    var watch: Watch?
    watch = try Watch(ends.left, on: loop) { _ in
      count += 1
      watch?.cancel()
      watch = nil
      ends.closeLeft()
    }
    ends.send()
    for _ in 0..<5 { try loop.poll() }
    #expect(count == 1)
    #expect(watch == nil)
  }

  @Test("Signals that come while others are served are all delivered, and nothing spins behind them")
  func signalsAmongOthers() throws {
    SignalWatch.block([SIGUSR1, SIGURG])
    let ends = Ends()
    var signals = 0
    var urgent = 0
    var others = 0
    let signal = try SignalWatch(SIGUSR1, on: loop) {
      signals += 1
      // Pending again while the other descriptor waits for its turn in this round.
      if signals < 5 { pthread_kill(pthread_self(), SIGUSR1) }
    }
    let other = try Watch(ends.left, on: loop) { _ in
      others += 1
      if others == 20 { _ = ends.receive() }
    }
    ends.send()
    let second = try SignalWatch(SIGURG, on: loop) { urgent += 1 }
    pthread_kill(pthread_self(), SIGUSR1)
    for _ in 0..<100 where try !loop.poll() { break }
    #expect(signals == 5)
    #expect(others == 20)
    #expect(try !loop.poll(), "the loop sleeps")
    pthread_kill(pthread_self(), SIGUSR1)
    #expect(try loop.poll())
    #expect(signals == 6)
    pthread_kill(pthread_self(), SIGURG)
    #expect(try loop.poll())
    #expect(urgent == 1)
    #expect(try !loop.poll())
    withExtendedLifetime((signal, second, other)) {}
  }

  @Test("A signal that is blocked arrives as an event")
  func signals() throws {
    SignalWatch.block([SIGUSR2])
    var count = 0
    let watch = try SignalWatch(SIGUSR2, on: loop) { count += 1 }
    // To this thread: the others of the test's process have not blocked it.
    pthread_kill(pthread_self(), SIGUSR2)
    #expect(try loop.run { count == 1 })
    watch.cancel()
  }

  @Test("stop ends run once the handler has returned")
  func stop() throws {
    let ends = Ends()
    ends.send()
    var events = 0
    let watch = try Watch(ends.left, on: loop) { _ in
      events += 1
      loop.stop()
    }
    try loop.run()
    #expect(events == 1)
    watch.cancel()
  }
}
