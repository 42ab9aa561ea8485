import Testing

@testable import NearbySessions

/// The streams and resources of a session.
@Suite struct SessionFlowsTests {
  @Test("the unread octets are removed together, in order")
  func unread() {
    var flows = SessionFlows()
    flows.open(1)
    var unread = [flows.removeUnread(of: 1)]
    flows.received([1, 2], of: 1)
    unread.append(flows.removeUnread(of: 1))
    flows.received([3], of: 1)
    flows.received([4], of: 1)
    unread += [flows.removeUnread(of: 1), flows.removeUnread(of: 1)]
    #expect(unread == [nil, [1, 2], [3, 4], nil])
  }

  @Test("a flow ends once, and its first end counts")
  func end() {
    var flows = SessionFlows()
    flows.open(1)
    flows.accepted(1, offset: 7)
    #expect(flows.isOpen(1) && flows.offset(of: 1) == 7 && flows.end(of: 1) == nil)
    let ends = [flows.close(1, .finished), flows.close(1, .cancelled)]
    #expect(ends == [true, false])
    #expect(!flows.isOpen(1) && flows.contains(1) && flows.end(of: 1) == .finished)
  }

  @Test("octets of an unknown flow are dropped, and it has no end")
  func unknown() {
    var flows = SessionFlows()
    flows.received([1], of: 9)
    flows.accepted(9, offset: 1)
    let ends = flows.close(9, .finished)
    let unread = flows.removeUnread(of: 9)
    #expect(!ends && !flows.contains(9) && unread == nil && flows.end(of: 9) == nil)
  }

  @Test("the 64 newest ends remain; one with unread octets is not among them until it is read")
  func limit() {
    var flows = SessionFlows()
    flows.open(0)
    flows.received([1], of: 0)
    // Opened first, ended last: the order of the ends counts.
    for flow in 1...65 as ClosedRange<UInt32> { flows.open(flow) }
    _ = flows.close(0, .finished)
    for flow in (1...65 as ClosedRange<UInt32>).reversed() { _ = flows.close(flow, .cancelled) }
    #expect(!flows.contains(65) && flows.contains(64) && flows.end(of: 1) == .cancelled)
    #expect(flows.all.count == 65 && flows.endedUnread == 1)
    let unread = flows.removeUnread(of: 0)
    #expect(unread == [1])
  }
}
