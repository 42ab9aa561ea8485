import Testing

@testable import BledCore

/// The turns of `FairQueue` and `UserQueue`.
@Suite struct FairQueueTests {
  @Test func workTakesTurns() {
    var queue = FairQueue<String, Int>()
    for number in 1...3 { queue.append(number, of: "a") }
    for number in 11...12 { queue.append(number, of: "b") }
    var order: [Int] = []
    while let next = queue.next() { order.append(next.element) }
    #expect(order == [1, 11, 2, 12, 3])
    queue.append(1, of: "a")
    queue.append(2, of: "b")
    #expect(queue.removeAll(of: "a") == [1])
    #expect(queue.next()?.element == 2)
    #expect(queue.isEmpty)
  }

  @Test("A newcomer goes before the one that has just had its turn")
  func newcomers() {
    var queue = FairQueue<String, Int>()
    for number in 1...3 { queue.append(number, of: "a") }
    #expect(queue.next()?.element == 1)
    queue.append(11, of: "b")
    queue.append(21, of: "c")
    #expect(queue.next()?.element == 11)
    queue.append(12, of: "b")
    #expect(queue.next()?.element == 21)
    // Its turn was before that of b.
    #expect(queue.next()?.element == 2)
    #expect(queue.next()?.element == 12)
    var users = UserQueue<Int, Int>()
    for number in 1...3 { users.append(number, of: .init(user: 1000, member: number)) }
    #expect(users.next() == 1)
    users.append(11, of: .init(user: 1001, member: 4))
    #expect(users.next() == 11)
    #expect(users.next() == 2)
    users.prepend(2, of: .init(user: 1000, member: 2))
    users.append(12, of: .init(user: 1001, member: 4))
    #expect(users.next() == 12)
    #expect(users.next() == 3)
    #expect(users.next() == 2)
  }

  @Test("Users take turns, however many sessions they have")
  func usersTakeTurns() {
    var queue = UserQueue<Int, Int>()
    for session in 1...3 {
      for number in 1...2 { queue.append(session * 10 + number, of: .init(user: 1000, member: session)) }
    }
    for number in 1...4 { queue.append(number, of: .init(user: 1001, member: 4)) }
    var order: [Int] = []
    while let next = queue.next() { order.append(next) }
    #expect(order == [11, 1, 21, 2, 31, 3, 12, 4, 22, 32])
    queue.append(1, of: .init(user: 1000, member: 1))
    queue.append(2, of: .init(user: 1000, member: 2))
    queue.prepend(0, of: .init(user: 1000, member: 2))
    #expect(queue.last(of: .init(user: 1000, member: 2)) == 2)
    #expect(queue.removeAll(of: .init(user: 1000, member: 1)) == [1])
    #expect(queue.next { $0 > 0 } == nil)
    #expect(queue.next() == 0)
    #expect(queue.next() == 2)
    #expect(queue.isEmpty)
  }
}
