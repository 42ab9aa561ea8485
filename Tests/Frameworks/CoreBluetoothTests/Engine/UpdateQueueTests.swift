import BledRPC
import Foundation
import Testing

@testable import CoreBluetooth

/// Values on their way to subscribers, without a daemon.
@Suite struct UpdateQueueTests {
  private let characteristic = CBMutableCharacteristic(
    type: CBUUID(string: "2A37"), properties: [.notify], value: nil, permissions: [])

  private func update(_ octets: Int, to centrals: [String]? = nil) -> UpdateQueue.Update {
    UpdateQueue.Update(Data(repeating: 1, count: octets), of: characteristic, to: centrals)
  }

  @Test("Values for a central without room do not hold up the others, and none overtakes its own")
  func slowCentral() throws {
    var queue = UpdateQueue()
    for (octets, centrals) in [(1, ["A"]), (2, ["A", "C"]), (3, ["B"]), (4, nil), (5, ["B"])] as [(Int, [String]?)] {
      queue.append(update(octets, to: centrals))
    }
    let nextSlow = queue.next()
    let slow = try #require(nextSlow)
    queue.refused(slow)
    let nextFast = queue.next()
    let fast = try #require(nextFast)
    #expect(slow.length == 1 && fast.length == 3 && queue.next() == nil)
    #expect(queue.left(fast) && queue.next() == nil, "the next one for B follows one for all")
    queue.roomAgain()
    for octets in [1, 2, 4, 5] {
      let next = queue.next()
      let update = try #require(next)
      #expect(update.length == octets && queue.next() == nil && queue.left(update))
    }
  }

  @Test("A list of centrals has 16 places of its own")
  func places() {
    var waiting = WaitingUpdates()
    let begun = (0..<16).map { _ in waiting.begin(["A"]) }
    #expect(!begun.contains(false))
    #expect(!waiting.begin(["A"]) && waiting.begin(["B"]) && waiting.begin(nil))
    let ready = (1...16).filter { _ in waiting.end(["A"]) }
    #expect(ready == [8])
    #expect(waiting.begin(["A"]) && !waiting.end(["B"]) && !waiting.end(nil))
  }

  @Test("One value is under way at a time; a refused one is the next again")
  func oneAtATime() throws {
    var queue = UpdateQueue()
    queue.append(update(1))
    queue.append(update(2))
    let nextFirst = queue.next()
    let first = try #require(nextFirst)
    #expect(first.length == 1 && queue.next() == nil)
    queue.refused(first)
    #expect(queue.next() == nil)
    queue.roomAgain()
    #expect(queue.next()?.length == 1)
    #expect(queue.left(first) && queue.next()?.length == 2)
  }

  @Test("The answer for a value that was dropped does not take a later one along")
  func lateAnswer() throws {
    var queue = UpdateQueue()
    queue.append(update(1))
    let nextDropped = queue.next()
    let dropped = try #require(nextDropped)
    #expect(queue.dropAll().count == 1 && queue.dropAll().isEmpty)
    queue.append(update(2))
    let nextLater = queue.next()
    let later = try #require(nextLater)
    queue.refused(dropped)
    #expect(!queue.left(dropped) && queue.next() == nil, "the later one is still under way")
    #expect(queue.left(later) && queue.next() == nil)
  }

  @Test("A value that is too long is cut, and the program is told once")
  func truncation() {
    var queue = UpdateQueue()
    let long = update(600)
    #expect(long.value.count == 512 && long.length == 600)
    let unheard = ServerNotify.Result(sent: true, receivers: 0)
    let heard = ServerNotify.Result(sent: true, receivers: 1)
    #expect(queue.truncation(of: long, unheard) == nil && queue.truncation(of: update(512), heard) == nil)
    #expect(queue.truncation(of: long, heard)?.contains("600 bytes") == true)
    #expect(queue.truncation(of: long, heard) == nil)
  }
}
