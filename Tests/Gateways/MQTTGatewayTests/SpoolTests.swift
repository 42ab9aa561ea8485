import MQTTGateway
import Testing

struct SpoolTests {
  private let store = MemoryStore()

  private func drain(_ spool: Spool, isDelivered: Bool = true) -> [Int] {
    var numbers: [Int] = []
    while let (message, position) = spool.next() {
      numbers.append(message.number ?? -1)
      if isDelivered { spool.deliver(position) }
    }
    return numbers
  }

  @Test func messagesKeepTheirOrderAcrossFilesAndRestarts() throws {
    let spool = try Spool(store, limit: 4 << 20)
    for number in 0..<100 { spool.append(.numbered(number, padding: 10_000)) }
    #expect(store.content.count > 2)
    let first = try #require(spool.next())
    spool.deliver(first.position)
    #expect(first.message == .numbered(0, padding: 10_000))
    let again = try Spool(store, limit: 4 << 20)
    again.append(.numbered(100))
    #expect(drain(again) == Array(1...100))
    #expect(again.isEmpty && store.content.isEmpty)
  }

  @Test func whatIsHandedOverIsKeptUntilItIsDelivered() throws {
    let spool = try Spool(store, limit: 1 << 20)
    for number in 0..<5 { spool.append(.numbered(number)) }
    #expect(drain(spool, isDelivered: false) == [0, 1, 2, 3, 4])
    #expect(spool.next() == nil)
    spool.rewind()
    let first = try #require(spool.next())
    let second = try #require(spool.next())
    // The second is confirmed before the first.
    spool.deliver(second.position)
    spool.rewind()
    #expect(drain(spool, isDelivered: false) == [0, 2, 3, 4])
    spool.deliver(first.position)
    #expect(drain(try Spool(store, limit: 1 << 20)) == [2, 3, 4])
  }

  @Test func atTheLimitTheOldestGoAndAreCounted() throws {
    let spool = try Spool(store, limit: 1 << 20)
    var events: [Spool.Event] = []
    spool.happened = { events.append($0) }
    for number in 0..<400 { spool.append(.numbered(number, padding: 10_000)) }
    #expect(spool.length <= 1 << 20)
    let left = drain(spool)
    #expect(left == Array((400 - left.count)..<400))
    #expect(left.count + Int(spool.counters.dropped) == 400 && left.count > 50)
    #expect(events.contains(.full))
  }

  @Test(arguments: [0, 3, 9, 12, 20, 30])
  func aDamagedFileIsMovedAsideAsAWhole(_ place: Int) throws {
    let spool = try Spool(store, limit: 1 << 20)
    for number in 1..<4 { spool.append(.numbered(number, padding: 60_000)) }
    let numbers = store.content.keys.sorted()
    try #require(numbers.count == 2)
    store.content[numbers[0]]?[place] ^= 0xFF
    let again = try Spool(store, limit: 1 << 20)
    #expect(drain(again) == [3])
    #expect(store.aside == [numbers[0]] && again.counters.damaged == 1)
  }

  @Test func aTruncatedFileIsMovedAside() throws {
    let spool = try Spool(store, limit: 1 << 20)
    for number in 0..<3 { spool.append(.numbered(number)) }
    let number = try #require(store.content.keys.first)
    store.content[number]?.removeLast()
    let again = try Spool(store, limit: 1 << 20)
    again.append(.numbered(9))
    #expect(drain(again) == [9])
    #expect(store.aside == [number])
  }

  @Test func withoutRoomOnDiskMessagesAreLostAndCounted() throws {
    let spool = try Spool(store, limit: 1 << 20)
    spool.append(.numbered(0))
    store.isFull = true
    #expect(spool.append(.numbered(1)) == nil)
    store.isFull = false
    spool.append(.numbered(2))
    #expect(drain(spool) == [0, 2])
    #expect(spool.counters.unwritten == 1)
  }

  @Test func aMessageThatIsTooLongIsRefused() throws {
    let spool = try Spool(store, limit: 1 << 20)
    #expect(spool.append(.numbered(0, padding: 65536)) == nil)
    #expect(spool.isEmpty && store.content.isEmpty)
  }
}
