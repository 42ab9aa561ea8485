import Testing

@testable import NearbySessions

/// The wait for invitations.
struct InvitationQueueTests {
  @Test("a second reader that is cancelled does not end the wait of the first")
  func twoReaders() async throws {
    let queue = InvitationQueue(limit: 1)
    let first = Task { await queue.next() }
    while !queue.isAwaited { await Task.yield() }
    let second = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await queue.next()
    }
    #expect(await second.value == nil)
    #expect(queue.isAwaited)
    first.cancel()
    #expect(await first.value == nil)
    #expect(!queue.isAwaited)
  }
}
