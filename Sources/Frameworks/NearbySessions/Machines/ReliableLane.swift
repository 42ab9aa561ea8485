/// A channel's counted frames in both directions, which survive the link's loss: each frame is kept until the other
/// side has acknowledged it.
///
/// | Input              | Effect                                                                           |
/// |--------------------|----------------------------------------------------------------------------------|
/// | enqueue            | the frame is kept, and sent in its turn                                          |
/// | enqueueFirst       | the same, before all frames that were never sent                                 |
/// | nextFrame          | the next unsent frame                                                            |
/// | received           | counted; an acknowledgement is owed, and due behind so many frames or octets     |
/// | acknowledge(total) | the frames up to that number are released; `Violation` for one that was not sent |
/// | resume(total)      | the same, and the others are sent again in their order                           |
///
/// Frames have no number on the wire: a channel keeps their order, and after a loss both sides exchange their counts.
struct ReliableLane: Sendable {
  /// Frames received from the other side so far.
  private(set) var receivedCount: UInt64 = 0
  /// The frames kept by the other side until acknowledged, and their octets.
  private var owed = (frames: 0, octets: 0)
  /// The frames and octets acknowledged at once; fewer are acknowledged beside other frames. A queue full except for so
  /// many octets still has room for the longest message.
  static let due = (frames: 64, octets: 48 << 10)
  private var acknowledged: UInt64 = 0
  /// The frames behind `acknowledged`.
  private var kept: [Frame] = []
  /// The number sent on this link, and on any link.
  private var sent = 0, sentEver = 0
  /// The place behind the frames that precede others.
  private var firstEnd = 0
  /// The kept frames' octets.
  private(set) var keptOctets = 0
  /// The kept answers to the other side, which no window bounds.
  private(set) var answersKept = 0

  /// True if received frames are to be acknowledged at once.
  var isAcknowledgementDue: Bool { owed.frames >= Self.due.frames || owed.octets >= Self.due.octets }
  /// True if frames wait to be sent.
  var hasUnsent: Bool { sent < kept.count }
  /// The number of kept frames.
  var keptCount: Int { kept.count }
  /// True if the other side has received all frames.
  var isSettled: Bool { kept.isEmpty }

  mutating func enqueue(_ frame: Frame) {
    kept.append(frame)
    keptOctets += frame.length
    if frame.kind.isAnswer { answersKept += 1 }
  }

  /// Enqueues a frame behind those possibly received by the other side, and behind others that go first.
  mutating func enqueueFirst(_ frame: Frame) {
    let place = max(sentEver, firstEnd)
    kept.insert(frame, at: place)
    firstEnd = place + 1
    keptOctets += frame.length
  }

  mutating func nextFrame() -> Frame? {
    guard sent < kept.count else { return nil }
    defer {
      sent += 1
      sentEver = max(sentEver, sent)
    }
    return kept[sent]
  }

  mutating func received(_ frame: Frame) {
    receivedCount &+= 1
    owed.frames += 1
    owed.octets += frame.length
  }

  /// The pending acknowledgement.
  mutating func acknowledgement() -> Frame? {
    guard owed.frames > 0 else { return nil }
    owed = (0, 0)
    var payload: [UInt8] = []
    payload.append(number: receivedCount)
    return Frame(kind: .acknowledge, payload: payload)
  }

  /// The other side has received this number of frames since the session began.
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
    firstEnd = max(0, firstEnd - count)
    sent = max(0, sent - count)
  }

  /// A new link: frames missing at the other side are sent again.
  mutating func resume(_ total: UInt64) throws(Violation) {
    try acknowledge(total)
    sent = 0
    owed = (0, 0)
  }
}
