import Noise
import Testing

@testable import NearbySessions

/// Two sides that open channels with each other, without sockets.
@Suite struct OpeningTests {
  static let type = ServiceType.files

  /// Carries octets between two openings, in pieces.
  static func open(
    piece: Int = .max, dialer: X25519KeyPair = X25519KeyPair(), acceptor: X25519KeyPair = X25519KeyPair(),
    change: (inout [UInt8], _ number: Int) -> Void = { _, _ in }
  ) throws -> (dialer: ControlOpening.Opened, acceptor: ControlOpening.Opened) {
    var first = try #require(
      ControlOpening(.initiator, type: type, key: dialer, hello: Hello(identifier: 1, name: "Alice")))
    var second: ControlOpening?
    var preface = PrefaceReader()
    var results: [Bool: ControlOpening.Opened] = [:]
    var waiting: [(octets: [UInt8], toAcceptor: Bool)] = []
    var number = 0
    func perform(_ actions: [ControlOpening.Action], ofDialer: Bool) throws {
      for action in actions {
        switch action {
        case .send(var octets):
          number += 1
          change(&octets, number)
          var rest = octets[...]
          while !rest.isEmpty {
            waiting.append((Array(rest.prefix(piece)), ofDialer))
            rest = rest.dropFirst(piece)
          }
        case .greeted(let hello, let key):
          #expect(hello.name == "Alice" && key == dialer.publicKey)
          try perform(
            second?.accept(
              Hello(
                identifier: 2, name: "Bob", session: Array(repeating: 5, count: 16), ticket: 77,
                key: Array(repeating: 6, count: 32))) ?? [], ofDialer: false)
        case .opened(let opened): results[ofDialer] = opened
        }
      }
    }
    try perform(first.start(), ofDialer: true)
    while !waiting.isEmpty {
      let next = waiting.removeFirst()
      if !next.toAcceptor {
        try perform(first.receive(next.octets), ofDialer: true)
      } else if second != nil {
        try perform(second?.receive(next.octets) ?? [], ofDialer: false)
      } else if try preface.receive(next.octets) == .control {
        second = ControlOpening(
          .responder, type: type, key: acceptor, hello: Hello(identifier: 2, name: "Bob"), records: preface.records)
        try perform(second?.start() ?? [], ofDialer: false)
      }
    }
    return (try #require(results[true]), try #require(results[false]))
  }

  @Test("both sides have each other's key and name and the same code", arguments: [1, 5, 64, .max])
  func opens(piece: Int) throws {
    let (alice, bob) = (X25519KeyPair(), X25519KeyPair())
    let sides = try Self.open(piece: piece, dialer: alice, acceptor: bob)
    #expect(sides.dialer.hello.name == "Bob" && sides.dialer.hello.ticket == 77)
    #expect(sides.dialer.remoteKey == bob.publicKey && sides.acceptor.remoteKey == alice.publicKey)
    #expect(sides.dialer.code == sides.acceptor.code)
    #expect(sides.dialer.code.utf8.count == 6 && UInt32(sides.dialer.code) != nil)
    var (stream, other) = (sides.dialer.stream, sides.acceptor.stream)
    let frame = Frame(kind: .message, payload: Array(repeating: 7, count: 100_000))
    other.append(try stream.seal(frame.encoded))
    #expect(try other.next() == frame)
    stream.append(try other.seal(frame.encoded))
    #expect(try stream.next() == frame)
  }

  @Test("a changed octet in any message ends the opening", arguments: 1...3)
  func changed(message: Int) throws {
    #expect(throws: (any Error).self) {
      try Self.open { octets, number in if number == message { octets[octets.count - 1] ^= 1 } }
    }
  }

  @Test("another type of service, and another protocol, is refused")
  func otherType() throws {
    let other = try #require(ServiceType("other"))
    var dialer = try #require(
      ControlOpening(
        .initiator, type: other, key: X25519KeyPair(),
        hello: Hello(identifier: 1, name: "Alice")))
    var preface = PrefaceReader()
    guard case .send(let octets)? = try dialer.start().first else { return #expect(Bool(false)) }
    #expect(try preface.receive(octets) == .control)
    var acceptor = try #require(
      ControlOpening(
        .responder, type: Self.type, key: X25519KeyPair(), hello: Hello(identifier: 2, name: "Bob"),
        records: preface.records))
    guard case .send(let answer)? = try acceptor.start().first else { return #expect(Bool(false)) }
    #expect(throws: Violation.self) { try dialer.receive(answer) }
    var strange = PrefaceReader()
    #expect(throws: Violation.self) { try strange.receive([71, 69, 84]) }
  }

  @Test("an acceptor that changes its nonce after it has seen the dialer's is found out")
  func nonce() throws {
    var dialer = try #require(
      ControlOpening(.initiator, type: Self.type, key: X25519KeyPair(), hello: Hello(identifier: 1, name: "Alice")))
    var acceptor = try #require(
      Handshake(.xx, as: .responder, prologue: Preface.control.prologue(Self.type), staticKey: X25519KeyPair()))
    var records = RecordReader()
    guard case .send(let first)? = try dialer.start().first else { return #expect(Bool(false)) }
    records.append(first.dropFirst(2))
    _ = try acceptor.read(try require(records.next()))
    let commitment = [UInt8](repeating: 9, count: 32)
    guard case .send(let third)? = try dialer.receive(RecordReader.record(try acceptor.write(commitment))).first else {
      return #expect(Bool(false))
    }
    records.append(third)
    let nonce = try acceptor.read(try require(records.next()))
    #expect(nonce.count == Hello.nonceLength)
    var stream = SecureStream(try #require(acceptor.transport), records)
    #expect(try stream.next().map { try Hello($0).name } == "Alice")
    let hello = try stream.seal(Hello(identifier: 2, name: "Mallory").frame.encoded)
    #expect(throws: Violation("a nonce that was not committed to")) { try dialer.receive(hello) }
  }

  /// Both ends of a bulk channel.
  static func bulk(acceptorKey: UInt8 = 1, piece: Int = .max) throws -> (SecureStream, SecureStream) {
    let key = { [UInt8](repeating: $0, count: 32) }
    var dialer = try #require(BulkOpening(.initiator, type: type, ticket: 3, key: key(1)))
    var preface = PrefaceReader()
    #expect(try preface.receive(try dialer.start().send) == .bulk(ticket: 3))
    var acceptor = try #require(
      BulkOpening(.responder, type: type, ticket: 3, key: key(acceptorKey), records: preface.records))
    let answer = try acceptor.start()
    let opened = try dialer.receive(answer.send)
    return (try #require(opened.stream), try #require(answer.stream))
  }

  @Test("a bulk channel opens with the key of its link only")
  func bulk() throws {
    var (dialer, acceptor) = try Self.bulk()
    let frame = Frame(kind: .data, flow: 1, payload: [1, 2])
    acceptor.append(try dialer.seal(frame.encoded))
    #expect(try acceptor.next() == frame)
    #expect(throws: Violation.self) { try Self.bulk(acceptorKey: 2) }
  }
}
