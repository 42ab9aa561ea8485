import MQTTGateway
import Testing

/// A broker that confirms on command.
private final class ScriptedBroker: Broker {
  var sent: [(token: Int32, message: OutgoingMessage)] = []
  private var last: Int32 = 0

  func publish(_ message: OutgoingMessage) -> Handover {
    last += 1
    sent.append((last, message))
    return .handed(last)
  }

  var numbers: [Int] { sent.map { $0.message.number ?? -1 } }
}

struct BrokerQueueTests {
  private let store = MemoryStore()

  private func outbox() throws -> BrokerQueue { BrokerQueue(spool: try Spool(store, limit: 1 << 20)) }

  @Test func messagesGoAtOnceWhileTheBrokerIsThere() throws {
    let (outbox, broker) = (try outbox(), ScriptedBroker())
    outbox.connected(broker)
    for number in 0..<10 { outbox.send(.numbered(number)) }
    #expect(broker.numbers == Array(0..<10))
    #expect(outbox.counters.spooled == 0 && store.content.isEmpty)
  }

  @Test func aSlowBrokerGetsAWindowAndThenTheRestInOrder() throws {
    let (outbox, broker) = (try outbox(), ScriptedBroker())
    outbox.connected(broker)
    for number in 0..<200 { outbox.send(.numbered(number)) }
    #expect(broker.numbers == Array(0..<64))
    var confirmed = 0
    while confirmed < broker.sent.count {
      outbox.confirmed(broker.sent[confirmed].token)
      confirmed += 1
    }
    #expect(broker.numbers == Array(0..<200))
    #expect(outbox.isIdle && store.content.isEmpty && outbox.counters.published == 200)
  }

  @Test(arguments: [10, 63, 64, 65, 150])
  func afterALossUnconfirmedMessagesAreSentAgainInOrder(_ count: Int) throws {
    let outbox = try outbox()
    let first = ScriptedBroker()
    outbox.connected(first)
    for number in 0..<count { outbox.send(.numbered(number)) }
    // The first three have arrived.
    for index in 0..<3 { outbox.confirmed(first.sent[index].token) }
    outbox.lost()
    for number in count..<count + 5 { outbox.send(.numbered(number)) }
    let second = ScriptedBroker()
    outbox.connected(second)
    var confirmed = 0
    while confirmed < second.sent.count {
      outbox.confirmed(second.sent[confirmed].token)
      confirmed += 1
    }
    #expect(second.numbers == Array(3..<count + 5))
    #expect(outbox.counters.lost == 0)
  }

  @Test func messagesOfQualityZeroAreNotSentTwice() throws {
    let outbox = try outbox()
    let first = ScriptedBroker()
    outbox.connected(first)
    for number in 0..<100 { outbox.send(.numbered(number, .atMostOnce)) }
    outbox.lost()
    let second = ScriptedBroker()
    outbox.connected(second)
    // 64 may have arrived; the others were never handed over.
    #expect(second.numbers == Array(64..<100))
    #expect(outbox.counters.lost == 64)
  }

  @Test func messagesOutlastTheProcess() throws {
    let outbox = try outbox()
    let broker = ScriptedBroker()
    outbox.connected(broker)
    for number in 0..<5 { outbox.send(.numbered(number)) }
    outbox.confirmed(broker.sent[0].token)
    outbox.lost()
    let next = BrokerQueue(spool: try Spool(store, limit: 1 << 20))
    let later = ScriptedBroker()
    next.connected(later)
    #expect(later.numbers == [1, 2, 3, 4])
  }

  @Test func withoutASpoolMessagesAreLostAndCounted() {
    let outbox = BrokerQueue(spool: nil)
    outbox.send(.numbered(1))
    #expect(outbox.counters.lost == 1)
  }

  @Test func urgentMessagesOvertakeTheSpoolAndAreNotKept() throws {
    let (outbox, broker) = (try outbox(), ScriptedBroker())
    outbox.sendNow(.numbered(99))
    #expect(outbox.counters.unsent == 1)
    outbox.connected(broker)
    for number in 0..<70 { outbox.send(.numbered(number)) }
    outbox.sendNow(.numbered(1000))
    outbox.confirmed(broker.sent[0].token)
    #expect(broker.numbers.last == 1000)
  }

  @Test func aRefusedMessageIsNotSentAgain() throws {
    let (outbox, broker) = (try outbox(), ScriptedBroker())
    outbox.connected(broker)
    outbox.send(.numbered(1))
    outbox.confirmed(broker.sent[0].token, isRefused: true)
    outbox.lost()
    let second = ScriptedBroker()
    outbox.connected(second)
    #expect(second.sent.isEmpty && outbox.counters.refused == 1)
  }
}
