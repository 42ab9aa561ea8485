import BledRPC
import Foundation
import Testing

@testable import CoreBluetooth

/// Values on their way to subscribers, without a daemon.
@Suite struct UpdateQueueTests {
  private let characteristic = CBMutableCharacteristic(
    type: CBUUID(string: "2A37"), properties: [.notify], value: nil, permissions: [])

  private func update(_ octets: Int) -> UpdateQueue.Update {
    UpdateQueue.Update(Data(repeating: 1, count: octets), of: characteristic, to: nil)
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
    #expect(queue.next()?.length == 1)
    #expect(queue.left(first) && queue.next()?.length == 2)
  }

  @Test("The answer for a value that was dropped does not take a later one along")
  func lateAnswer() throws {
    var queue = UpdateQueue()
    queue.append(update(1))
    let nextDropped = queue.next()
    let dropped = try #require(nextDropped)
    #expect(queue.dropAll() == 1 && queue.dropAll() == 0)
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
