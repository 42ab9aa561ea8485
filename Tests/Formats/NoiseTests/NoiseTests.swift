import Bluetooth
import Noise
import Testing

/// Noise against published vectors, and against messages that must be refused.
@Suite struct NoiseTests {
  private static let key = [UInt8](repeating: 7, count: 32)

  private func octets(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

  private func side(_ role: Handshake.Role, of vector: NoiseVector) throws -> Handshake {
    let isInitiator = role == .initiator
    let ephemeral = isInitiator ? NoiseVector.initiatorEphemeral : NoiseVector.responderEphemeral
    let fixed = vector.staticKeys.isEmpty ? nil : try keyPair(vector.staticKeys[isInitiator ? 0 : 1])
    let side = Handshake(
      vector.pattern, as: role, prologue: try octets(NoiseVector.prologue),
      preSharedKey: try octets(vector.preSharedKey), staticKey: fixed, ephemeralKey: try keyPair(ephemeral))
    return try #require(side)
  }

  private func keyPair(_ hex: String) throws -> X25519KeyPair {
    try #require(X25519KeyPair(privateKey: try octets(hex)))
  }

  @Test(arguments: NoiseVector.all) func vectors(_ vector: NoiseVector) throws {
    var sides = [try side(.initiator, of: vector), try side(.responder, of: vector)]
    let count = vector.pattern.messages.count
    for (place, step) in vector.messages.prefix(count).enumerated() {
      let message = try sides[place % 2].write(octets(step.payload))
      #expect(Hex.encode(message) == step.message)
      #expect(try sides[1 - place % 2].read(message) == octets(step.payload))
    }
    for side in sides { #expect(Hex.encode(side.hash) == vector.hash) }
    var ends = try sides.map { try #require($0.transport) }
    for (place, step) in vector.messages.enumerated().dropFirst(count) {
      let message = try ends[place % 2].sending.encrypt(octets(step.payload))
      #expect(Hex.encode(message) == step.message)
      #expect(try ends[1 - place % 2].receiving.decrypt(message) == octets(step.payload))
    }
  }

  /// Both sides of NNpsk0.
  private func pair(
    keys: ([UInt8], [UInt8]) = (key, key), prologues: ([UInt8], [UInt8]) = ([], [])
  ) throws -> (Handshake, Handshake) {
    (
      try #require(Handshake(.nnpsk0, as: .initiator, prologue: prologues.0, preSharedKey: keys.0)),
      try #require(Handshake(.nnpsk0, as: .responder, prologue: prologues.1, preSharedKey: keys.1))
    )
  }

  @Test func anotherKeyOrPrologueIsRefused() throws {
    let other = [UInt8](repeating: 8, count: 32)
    for (first, second) in [try pair(keys: (Self.key, other)), try pair(prologues: ([1], [2]))] {
      var (initiator, responder) = (first, second)
      let message = try initiator.write()
      #expect(throws: NoiseError.notAuthentic) { try responder.read(message) }
      #expect(throws: NoiseError.outOfOrder) { try responder.write() }
      #expect(responder.transport == nil)
    }
  }

  @Test func truncatedMessagesAreRefused() throws {
    let (initiator, responder) = try pair()
    var sender = initiator
    let message = try sender.write([1, 2, 3])
    for length in 0..<message.count {
      var receiver = responder
      #expect(throws: length < 32 ? NoiseError.truncated : .notAuthentic) { try receiver.read(message.prefix(length)) }
    }
  }

  @Test func changedMessagesAreRefused() throws {
    var (initiator, responder) = try pair()
    let message = try initiator.write()
    for place in message.indices {
      var (receiver, changed) = (responder, message)
      changed[place] ^= 1
      #expect(throws: NoiseError.notAuthentic) { try receiver.read(changed) }
    }
    _ = try responder.read(message)
  }

  @Test func repeatedAndReorderedMessagesAreRefused() throws {
    var (initiator, responder) = try pair()
    let first = try initiator.write()
    _ = try responder.read(first)
    #expect(throws: NoiseError.outOfOrder) { try responder.read(first) }
    _ = try initiator.read(try responder.write())
    var sender = try #require(initiator.transport)
    var receiver = try #require(responder.transport)
    let messages = [try sender.sending.encrypt([1]), try sender.sending.encrypt([2])]
    #expect(throws: NoiseError.notAuthentic) { try receiver.receiving.decrypt(messages[1]) }
    #expect(try receiver.receiving.decrypt(messages[0]) == [1])
    #expect(throws: NoiseError.notAuthentic) { try receiver.receiving.decrypt(messages[0]) }
    #expect(try receiver.receiving.decrypt(messages[1]) == [2])
  }

  @Test func aKeyOfSmallOrderIsRefused() throws {
    // The points of order 1, 2 and 4 (RFC 7748, 6.1), and one that is not reduced.
    let weak = [
      [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
      try octets("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
      try octets("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ]
    for key in weak { #expect(X25519KeyPair().sharedSecret(with: key) == nil) }
    #expect(X25519KeyPair().sharedSecret(with: [9]) == nil)
    #expect(X25519KeyPair(privateKey: [9]) == nil)
  }

  @Test func keysThatAPatternNeedsAreRequired() {
    #expect(Handshake(.nnpsk0, as: .responder, prologue: [], preSharedKey: [1]) == nil)
    #expect(Handshake(.xx, as: .responder, prologue: []) == nil)
  }

  @Test func aPayloadBeyondTheLongestMessageIsRefused() throws {
    var (initiator, _) = try pair()
    #expect(throws: NoiseError.tooLong) { try initiator.write([UInt8](repeating: 0, count: 65535)) }
  }
}
