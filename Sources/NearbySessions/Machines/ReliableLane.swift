/// The counted frames of one channel in both directions, which survive the loss of the link: each frame is kept until
/// the other side has acknowledged it.
///
/// | Input              | Effect                                                                        |
/// |--------------------|-------------------------------------------------------------------------------|
/// | enqueue            | the frame is kept, and sent when its turn comes                               |
/// | nextFrame          | the next unsent frame                                                          |
/// | received           | counted; an acknowledgement is owed                                            |
/// | acknowledge(total) | the frames up to that number are released; `Violation` for one that was not sent |
/// | resume(total)      | the same, and the others are sent again in their order                         |
///
/// Frames have no number on the wire: a channel keeps their order, and after a loss both sides tell how many they have.
struct ReliableLane: Sendable {
  /// The number of frames of the other side so far.
  private(set) var receivedCount: UInt64 = 0
  /// Whether the other side is to be told so.
  private(set) var owesAcknowledgement = false
  private var acknowledged: UInt64 = 0
  /// The frames behind `acknowledged`.
  private var kept: [Frame] = []
  /// How many of them were sent on this link, and on any link.
  private var sent = 0, sentEver = 0
  /// The octets of the frames that are kept.
  private(set) var keptOctets = 0
  /// How many of them answer the other side, which no window bounds.
  private(set) var answersKept = 0

  /// Whether frames wait to be sent.
  var hasUnsent: Bool { sent < kept.count }
  /// How many frames are kept.
  var keptCount: Int { kept.count }
  /// Whether all frames were received by the other side.
  var isSettled: Bool { kept.isEmpty }

  mutating func enqueue(_ frame: Frame) {
    kept.append(frame)
    keptOctets += frame.length
    if frame.kind.isAnswer { answersKept += 1 }
  }

  mutating func nextFrame() -> Frame? {
    guard sent < kept.count else { return nil }
    defer {
      sent += 1
      sentEver = max(sentEver, sent)
    }
    return kept[sent]
  }

  mutating func received() {
    receivedCount &+= 1
    owesAcknowledgement = true
  }

  /// The acknowledgement that is owed.
  mutating func acknowledgement() -> Frame? {
    guard owesAcknowledgement else { return nil }
    owesAcknowledgement = false
    var payload: [UInt8] = []
    payload.append(number: receivedCount)
    return Frame(kind: .acknowledge, payload: payload)
  }

  /// The other side has received so many frames since the session began.
  mutating func acknowledge(_ total: UInt64) throws(Violation) {
    guard total >= acknowledged, total - acknowledged <= UInt64(sentEver) else {
      throw Violation("an acknowledgement of frame \(total)")
    }
    let count = Int(total - acknowledged)
    keptOctets -= kept[..<count].reduce(0) { $0 + $1.length }
    answersKept -= kept[..<count].count(where: \.kind.isAnswer)
    kept.removeFirst(count)
    acknowledged = total
    sentEver -= count
    sent = max(0, sent - count)
  }

  /// A new link: the frames that the other side lacks are sent again.
  mutating func resume(_ total: UInt64) throws(Violation) {
    try acknowledge(total)
    sent = 0
    owesAcknowledgement = false
  }
}
