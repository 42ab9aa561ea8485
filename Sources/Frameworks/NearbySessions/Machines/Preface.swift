/// A dialer's first octets on a channel, unencrypted: the version, and the kind of channel.
enum Preface: Hashable, Sendable {
  /// The channel of invitations and messages.
  case control
  /// The channel of streams and resources, with the number from the acceptor's hello.
  case bulk(ticket: UInt64)

  var octets: [UInt8] {
    switch self {
    case .control: return [Hello.version, 0]
    case .bulk(let ticket):
      var octets = [Hello.version, 1]
      octets.append(number: ticket)
      return octets
    }
  }

  /// The prologue for the handshake behind it (Noise, 6).
  func prologue(_ type: ServiceType) -> [UInt8] { Array("bled nearby 1 \(type)".utf8) + octets }
}

/// Reads the preface on a channel opened by another peer.
struct PrefaceReader: Sendable {
  /// With the octets behind the preface.
  private(set) var records = RecordReader()
  private var kind: UInt8?

  /// - Returns: the preface, once it is whole.
  mutating func receive(_ octets: some Collection<UInt8>) throws(Violation) -> Preface? {
    records.append(octets)
    if kind == nil, let head = records.preface(2) {
      guard head[0] == Hello.version, head[1] <= 1 else { throw Violation("a channel of another protocol or version") }
      kind = head[1]
    }
    switch kind {
    case 0: return .control
    case 1: return records.preface(8).map { Preface.bulk(ticket: $0.reduce(0) { $0 << 8 | UInt64($1) }) }
    default: return nil
    }
  }
}
