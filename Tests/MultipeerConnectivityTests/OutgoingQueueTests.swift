import Testing

@testable import MultipeerConnectivity

/// The queue of a peer.
@Suite struct OutgoingQueueTests {
  @Test("a new secret is sent although the queue is full")
  func full() async {
    let queue = OutgoingQueue()
    for _ in 0..<OutgoingQueue.itemLimit { #expect(queue.add(.data(Data()))) }
    #expect(!queue.add(.data(Data())) && !queue.add(.message(.members([]))))
    let secret = GroupToken()
    #expect(queue.add(.message(.ready(secret))))
    for _ in 0..<OutgoingQueue.itemLimit { _ = await queue.next() }
    guard case .message(.ready(secret))? = await queue.next() else {
      Issue.record("the secret is missing")
      return
    }
    queue.close()
    #expect(!queue.add(.message(.ready(secret))))
  }
}
