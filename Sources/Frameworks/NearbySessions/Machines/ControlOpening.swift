import BluetoothCrypto
import Noise

/// A control channel's opening: the handshake Noise_XX_25519_ChaChaPoly_SHA256, and a hello from each side.
///
/// | State       | Side     | Input          | Output                                           |
/// |-------------|----------|----------------|--------------------------------------------------|
/// | (begin)     | dialer   | start          | preface and message 1 → handshake                |
/// | handshake   | acceptor | message 1      | message 2, with a commitment to its nonce        |
/// | handshake   | dialer   | message 2      | message 3, with its nonce, and its hello → greeting |
/// | handshake   | acceptor | message 3      | → greeting                                       |
/// | greeting    | acceptor | hello          | `greeted`: the owner calls `accept` → answering  |
/// | answering   | acceptor | accept         | its hello, with the nonce; `opened` → over       |
/// | greeting    | dialer   | hello          | `opened`, if the nonce is the one committed to → over |
/// | any         | both     | anything else  | `Violation`                                      |
///
/// Both sides show the same six digits, which people compare. They are derived from the handshake's hash and both
/// nonces. The acceptor commits to its nonce before it sees the dialer's, and the dialer sends its own before it sees
/// the acceptor's: so a person in the middle cannot search for keys with equal codes in two handshakes.
struct ControlOpening: Sendable {
  private enum State: Sendable {
    case handshake
    case greeting(SecureStream)
    case answering(SecureStream, Hello)
    case over
  }

  /// The outcome.
  struct Opened: Sendable {
    var stream: SecureStream
    var hello: Hello
    /// The other side's static key, which identifies it later.
    var remoteKey: [UInt8]
    /// Six digits.
    var code: String
  }

  /// An effect for the owner.
  enum Action: Sendable {
    case send([UInt8])
    case greeted(Hello, remoteKey: [UInt8])
    case opened(Opened)
  }

  private let role: Handshake.Role
  private var handshake: Handshake
  private var records: RecordReader
  private let ownHello: Hello
  private let ownNonce: [UInt8]
  private var remoteNonce: [UInt8] = []
  private var commitment: [UInt8] = []
  private var remoteKey: [UInt8] = []
  private var state = State.handshake

  /// - Parameters:
  ///   - hello: for the dialer, as sent; for the acceptor, without session.
  ///   - records: for the acceptor with the octets behind the preface.
  ///   - nonce: 16 random octets, except in tests.
  /// - Returns: nil if the key cannot be used.
  init?(
    _ role: Handshake.Role, type: ServiceType, key: X25519KeyPair, hello: Hello, records: RecordReader = RecordReader(),
    nonce: [UInt8] = .random(Hello.nonceLength)
  ) {
    guard let handshake = Handshake(.xx, as: role, prologue: Preface.control.prologue(type), staticKey: key) else {
      return nil
    }
    self.role = role
    self.handshake = handshake
    self.records = records
    ownHello = hello
    ownNonce = nonce
  }

  /// Begins; for the acceptor with the octets received with the preface.
  mutating func start() throws(Violation) -> [Action] {
    switch role {
    case .initiator: [.send(Preface.control.octets + RecordReader.record(try write([])))]
    case .responder: try receive([])
    }
  }

  mutating func receive(_ octets: some Collection<UInt8>) throws(Violation) -> [Action] {
    var actions: [Action] = []
    if case .handshake = state {
      records.append(octets)
      while case .handshake = state, let record = records.next() { actions += try step(record) }
      if case .greeting = state { actions += try greet([]) }
      return actions
    }
    return try greet(Array(octets))
  }

  /// The acceptor answers the dialer's hello.
  /// - Parameter answer: with session, counts, ticket and key.
  mutating func accept(_ answer: Hello) throws(Violation) -> [Action] {
    guard case .answering(var stream, let hello) = state else { throw Violation("an answer out of order") }
    state = .over
    var answer = answer
    answer.nonce = ownNonce
    let octets = try stream.seal(answer.frame.encoded)
    return [.send(octets), .opened(opened(stream, hello, acceptorNonce: ownNonce, dialerNonce: remoteNonce))]
  }

  private mutating func step(_ record: [UInt8]) throws(Violation) -> [Action] {
    let payload: [UInt8]
    do throws(NoiseError) {
      payload = try handshake.read(record)
    } catch {
      throw Violation("a handshake that failed: \(error)")
    }
    switch role {
    case .initiator:
      guard payload.count == 32 else { throw Violation("a handshake without commitment") }
      commitment = payload
      let message = RecordReader.record(try write(ownNonce))
      var stream = try begin()
      let hello = try stream.seal(ownHello.frame.encoded)
      state = .greeting(stream)
      return [.send(message + hello)]
    case .responder:
      guard handshake.remoteStatic != nil else {
        return [.send(RecordReader.record(try write(SHA256.hash(ownNonce))))]
      }
      guard payload.count == Hello.nonceLength else { throw Violation("a handshake without nonce") }
      remoteNonce = payload
      state = .greeting(try begin())
      return []
    }
  }

  private mutating func greet(_ octets: [UInt8]) throws(Violation) -> [Action] {
    switch state {
    case .greeting(var stream):
      stream.append(octets)
      guard let frame = try stream.next() else {
        state = .greeting(stream)
        return []
      }
      let hello = try Hello(frame)
      guard role == .initiator else {
        state = .answering(stream, hello)
        return [.greeted(hello, remoteKey: remoteKey)]
      }
      guard SHA256.hash(hello.nonce) == commitment else { throw Violation("a nonce that was not committed to") }
      state = .over
      return [.opened(opened(stream, hello, acceptorNonce: hello.nonce, dialerNonce: ownNonce))]
    case .answering(var stream, let hello):
      stream.append(octets)
      state = .answering(stream, hello)
      return []
    case .handshake, .over: throw Violation("octets out of order")
    }
  }

  private mutating func write(_ payload: [UInt8]) throws(Violation) -> [UInt8] {
    do throws(NoiseError) {
      return try handshake.write(payload)
    } catch {
      throw Violation("a handshake that failed: \(error)")
    }
  }

  private mutating func begin() throws(Violation) -> SecureStream {
    guard let transport = handshake.transport, let key = handshake.remoteStatic else {
      throw Violation("an incomplete handshake")
    }
    remoteKey = key
    defer { records = RecordReader() }
    return SecureStream(transport, records)
  }

  private func opened(
    _ stream: SecureStream, _ hello: Hello, acceptorNonce: [UInt8], dialerNonce: [UInt8]
  ) -> Opened {
    let hash = SHA256.hash(Array("bled nearby code".utf8) + handshake.hash + dialerNonce + acceptorNonce)
    let number = hash[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
    let digits = String(number)
    let code = String(repeating: "0", count: 6 - digits.utf8.count) + digits
    return Opened(stream: stream, hello: hello, remoteKey: remoteKey, code: code)
  }
}

extension [UInt8] {
  /// So many octets from the system's random numbers.
  static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
