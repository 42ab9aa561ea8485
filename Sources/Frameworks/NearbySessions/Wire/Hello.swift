/// The first frame of each side on a control channel.
struct Hello: Hashable, Sendable {
  /// The protocol version.
  static let version: UInt8 = 1
  /// The octets of a session identifier, a nonce, and a bulk channel's key.
  static let sessionLength = 16, nonceLength = 16, keyLength = 32
  /// No session: the dialer begins one, or the acceptor does not know the requested one.
  static let noSession = [UInt8](repeating: 0, count: sessionLength)

  var identifier: UInt64
  var name: String
  /// The session begun or resumed.
  var session: [UInt8] = noSession
  /// The counted frames received so far on the session's two channels.
  var receivedControl: UInt64 = 0
  var receivedBulk: UInt64 = 0
  /// The acceptor's nonce, which it committed to in the handshake; zeros from the dialer.
  var nonce = [UInt8](repeating: 0, count: nonceLength)
  /// The number and key of the bulk channel the dialer is to open; zeros from the dialer.
  var ticket: UInt64 = 0
  var key = [UInt8](repeating: 0, count: keyLength)

  var frame: Frame {
    var payload = [Self.version]
    payload.append(number: identifier)
    payload += session
    payload.append(number: receivedControl)
    payload.append(number: receivedBulk)
    payload += nonce
    payload.append(number: ticket)
    payload += key
    payload.append(text: name)
    return Frame(kind: .hello, payload: payload)
  }
}

extension Hello {
  /// Reads a hello. Octets behind the name are ignored, so later versions can add some.
  init(_ frame: Frame) throws(Violation) {
    guard frame.kind == .hello else { throw Violation("a frame \"\(frame.kind)\" before the hello") }
    var reader = OctetReader(frame.payload)
    guard let version = reader.number(UInt8.self) else { throw Violation("an empty hello") }
    guard version == Self.version else {
      throw Violation("version \(version) of the protocol; this program has version \(Self.version)")
    }
    guard let identifier = reader.number(UInt64.self), let session = reader.octets(Self.sessionLength),
      let receivedControl = reader.number(UInt64.self), let receivedBulk = reader.number(UInt64.self),
      let nonce = reader.octets(Self.nonceLength), let ticket = reader.number(UInt64.self),
      let key = reader.octets(Self.keyLength), let name = reader.text(), PeerName.isValid(name)
    else { throw Violation("a malformed hello") }
    self.init(
      identifier: identifier, name: name, session: session, receivedControl: receivedControl,
      receivedBulk: receivedBulk, nonce: nonce, ticket: ticket, key: key)
  }
}
