/// The streams and resources within a session.
struct SessionFlows {
  private struct Flow {
    /// The unread octets.
    var unread: [[UInt8]] = []
    /// The offset from which the receiver wants a resource.
    var offset: UInt64?
    var end: FlowEnd?
    /// The end's place among the ends.
    var endNumber = 0
  }

  /// Maximum remembered ends.
  private static let limit = 64

  private var flows: [UInt32: Flow] = [:]
  private var lastEnd = 0

  var all: [UInt32] { Array(flows.keys) }

  /// The flows that have ended with unread octets.
  var endedUnread: Int { flows.values.count { $0.end != nil && !$0.unread.isEmpty } }

  func contains(_ flow: UInt32) -> Bool { flows[flow] != nil }

  func isOpen(_ flow: UInt32) -> Bool { flows[flow].map { $0.end == nil } ?? false }

  func end(of flow: UInt32) -> FlowEnd? { flows[flow]?.end }

  func offset(of flow: UInt32) -> UInt64? { flows[flow]?.offset }

  mutating func open(_ flow: UInt32) { flows[flow] = Flow() }

  mutating func accepted(_ flow: UInt32, offset: UInt64) { flows[flow]?.offset = offset }

  mutating func received(_ octets: [UInt8], of flow: UInt32) { flows[flow]?.unread.append(octets) }

  /// Removes the unread octets.
  /// - Returns: nil if there are none.
  mutating func removeUnread(of flow: UInt32) -> [UInt8]? {
    guard let unread = flows[flow]?.unread, let first = unread.first else { return nil }
    flows[flow]?.unread = []
    return unread.count == 1 ? first : unread.flatMap { $0 }
  }

  /// Ends a flow. The newest ends remain available, also for flows opened long ago.
  /// - Returns: false if it has ended before.
  mutating func close(_ flow: UInt32, _ end: FlowEnd) -> Bool {
    guard isOpen(flow) else { return false }
    lastEnd += 1
    flows[flow]?.end = end
    flows[flow]?.endNumber = lastEnd
    let ended = flows.filter { $0.value.end != nil && $0.value.unread.isEmpty }
    for (flow, _) in ended.sorted(by: { $0.value.endNumber < $1.value.endNumber }).dropLast(Self.limit) {
      flows[flow] = nil
    }
    return true
  }
}
