import ATT
import Bluetooth

/// A link's bearer, and the requests in progress on it in each direction (Core 5.4, Vol 3, Part F, 3.2.11 and 3.3.2).
struct BearerState: Sendable {
  let id: BearerID
  /// The rules of ATT.
  var att: Bearer
  /// Our procedure.
  var client = GATTClient()
  /// The peer's request.
  var transaction = ServerTransaction()

  init(_ id: BearerID, _ att: Bearer) {
    self.id = id
    self.att = att
  }

  /// The largest packet in octets.
  var mtu: Int { att.mtu }
  /// When something on it times out.
  var deadline: Instant? { att.deadline.sooner(transaction.question?.deadline) }

  /// Ends everything in progress; nothing more is sent.
  mutating func end(_ reason: BearerError, _ actions: inout [GATTAction]) {
    att.end(reason)
    endProcedure(reason, &actions)
    if let question = transaction.question { actions.append(.questionCancelled(question.token)) }
    transaction = ServerTransaction()
  }
}

extension Instant? {
  /// The sooner of two deadlines.
  func sooner(_ other: Instant?) -> Instant? {
    guard let self else { return other }
    guard let other else { return self }
    return Swift.min(self, other)
  }
}
