/// A protocol unit above the encryption: a type, a flow number, and a payload.
///
/// On the wire: the type in one octet, the flow in four, the payload length in three, the payload.
struct Frame: Hashable, Sendable {
  /// The types.
  enum Kind: UInt8, CaseIterable, Sendable {
    case hello = 1
    case invite = 2
    case answer = 3
    case message = 4
    case datagram = 5
    case acknowledge = 6
    case bye = 7
    case openStream = 8
    case offer = 9
    case accept = 10
    case data = 11
    case credit = 12
    case close = 13
  }

  /// A link's two channels.
  enum Lane: CaseIterable, Sendable {
    /// Invitations and messages.
    case control
    /// Streams and resources.
    case bulk
  }

  /// The octets before the payload.
  static let headerLength = 8

  var kind: Kind
  /// 0 for frames without a stream or resource.
  var flow: UInt32 = 0
  var payload: [UInt8] = []

  /// Its length on the wire.
  var length: Int { Self.headerLength + payload.count }

  /// Its octets on the wire.
  var encoded: [UInt8] {
    var octets: [UInt8] = []
    octets.reserveCapacity(length)
    octets.append(kind.rawValue)
    octets.append(number: flow)
    let count = UInt32(clamping: payload.count)
    for shift in [16, 8, 0] as [UInt32] { octets.append(UInt8(truncatingIfNeeded: count >> shift)) }
    octets += payload
    return octets
  }
}

extension Frame.Kind {
  /// The longest payload, in octets.
  var longest: Int {
    switch self {
    case .message: 1 << 20
    case .invite, .datagram: 66 << 10
    case .data: 16 << 10
    case .hello, .openStream, .offer: 512
    case .answer, .acknowledge, .bye, .accept, .credit, .close: 16
    }
  }

  /// Its channel; an acknowledgement belongs to the channel it is received on.
  var lane: Frame.Lane? {
    switch self {
    case .hello, .invite, .answer, .message, .datagram, .bye: .control
    case .openStream, .offer, .accept, .data, .credit, .close: .bulk
    case .acknowledge: nil
    }
  }

  /// True if a frame from the other side may be its cause.
  var isAnswer: Bool { self == .close || self == .credit }

  /// True if it is kept until the other side has acknowledged it, and sent again after a lost link.
  var isCounted: Bool {
    switch self {
    case .hello, .datagram, .acknowledge, .bye: false
    case .invite, .answer, .message, .openStream, .offer, .accept, .data, .credit, .close: true
    }
  }
}

/// The other side's breach of the protocol, after which the link ends.
struct Violation: Error, Hashable, Sendable {
  /// The breach, for the session's error.
  var text: String

  init(_ text: String) { self.text = text }
}
