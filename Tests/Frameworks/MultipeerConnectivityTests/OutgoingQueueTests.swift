import Synchronization
import Testing

@testable import MultipeerConnectivity

/// The queue of a peer.
@Suite struct OutgoingQueueTests {
  @Test("a new secret is sent although the queues are full, and before the data")
  func full() async {
    let queue = OutgoingQueue()
    for _ in 0..<OutgoingQueue.itemLimit {
      #expect(queue.add(.data(Data())))
      #expect(queue.add(.members([])))
    }
    #expect(!queue.add(.data(Data())) && !queue.add(.members([])))
    let secret = GroupToken()
    #expect(queue.add(.ready(secret)))
    for _ in 0..<OutgoingQueue.itemLimit { #expect(await queue.nextMessage() == .members([])) }
    #expect(await queue.nextMessage() == .ready(secret))
    queue.close()
    #expect(!queue.add(.ready(secret)))
    #expect(await queue.nextMessage() == nil)
  }

  @Test("data waits until the messages before it are sent")
  func order() async throws {
    let queue = OutgoingQueue()
    #expect(queue.add(.members([])) && queue.add(.data(Data([1]))))
    let sending = Mutex(true)
    let data = Task {
      guard case .data(Data([1]))? = await queue.next() else { return false }
      return !sending.withLock { $0 }
    }
    #expect(await queue.nextMessage() == .members([]))
    sending.withLock { $0 = false }
    let last = Task { await queue.nextMessage() }
    #expect(await data.value)
    queue.close()
    #expect(await last.value == nil)
  }
}
