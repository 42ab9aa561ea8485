import Testing

@testable import NearbySessions

/// The events that a program has not fetched.
@Suite struct EventQueueTests {
  @Test("messages fill it by their octets, and by their number if they have none")
  func messages() {
    var queue = EventQueue()
    for _ in 0..<17 { queue.append(.message([UInt8](repeating: 1, count: 1 << 16))) }
    #expect(queue.isFull(.control) && !queue.isFull(.bulk))
    _ = queue.next()
    #expect(!queue.isFull(.control))

    var empty = EventQueue()
    for number in 0..<EventQueue.countLimit {
      #expect(!empty.isFull(.control))
      empty.append(number % 2 == 0 ? .message([]) : .datagram([]))
    }
    #expect(empty.isFull(.control) && !empty.isFull(.bulk))
    while empty.next() != nil {}
    #expect(empty.isEmpty && !empty.isFull(.control))
  }
}
