import Noise
import Testing

@testable import ESPHome

/// Frames and the handshake, octets in and out.
@Suite struct APITransportTests {
  private static let key = [UInt8](repeating: 7, count: 32)
  private static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

  private static func transport(key: [UInt8]? = key) -> APITransport {
    APITransport(identity: .init(name: "kitchen", address: "020000000001"), key: key)
  }

  private func events(_ transport: inout APITransport, _ octets: [UInt8]) -> [APITransport.Event] {
    transport.append(octets)
    var events: [APITransport.Event] = []
    while let event = transport.next() { events.append(event) }
    return events
  }

  /// The one event, which is the end.
  private func end(_ transport: inout APITransport, _ octets: [UInt8]) throws -> ([UInt8], APIFault) {
    let events = events(&transport, octets)
    guard events.count == 1, case .end(let octets, let fault) = events[0] else {
      throw Unexpected(events: "\(events)")
    }
    #expect(self.events(&transport, [0, 0, 7]).isEmpty)
    #expect(transport.octets(APIFrame(type: 7)) == nil)
    return (octets, fault)
  }

  private struct Unexpected: Error { let events: String }

  // MARK: Without encryption

  @Test func severalFramesInOneReadAndOneInSeveral() throws {
    var transport = Self.transport(key: nil)
    let frames = [
      APIFrame(type: 7), APIFrame(type: 300, payload: [UInt8](repeating: 5, count: 200)), APIFrame(type: 8),
    ]
    let octets = frames.flatMap(PlainFrames.octets)
    #expect(octets.prefix(8) == [0, 0, 7, 0, 200, 1, 172, 2])
    func messages(_ events: [APITransport.Event]) -> [APIFrame] {
      events.compactMap { if case .message(let frame) = $0 { frame } else { nil } }
    }
    #expect(messages(events(&transport, octets)) == frames)
    #expect(octets.flatMap { messages(events(&transport, [$0])) } == frames)
  }

  @Test func plainFramesThatAreRefused() throws {
    let cases: [([UInt8], [UInt8], APIFault)] = [
      ([1, 0, 0], [0, 0, 0], .encryptionMismatch), ([2], [], .badIndicator), ([0, 0x81, 0x40, 7], [], .tooLong),
      ([0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [], .malformed), ([0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [], .malformed),
    ]
    for (octets, answer, fault) in cases {
      var transport = Self.transport(key: nil)
      let end = try end(&transport, octets)
      #expect(end.0 == answer)
      #expect(end.1 == fault)
    }
  }

  // MARK: With encryption

  /// A client that has read both answers of the transport.
  private func handshake(_ transport: inout APITransport) throws -> Handshake.Transport {
    var client = try #require(Handshake(.nnpsk0, as: .initiator, prologue: Self.prologue, preSharedKey: Self.key))
    let events = events(&transport, [1, 0, 0] + NoiseFrames.octets([0] + (try client.write())))
    guard events.count == 2, case .send(let hello) = events[0], case .send(let answer) = events[1] else {
      throw Unexpected(events: "\(events)")
    }
    #expect(hello == NoiseFrames.octets([1] + Array("kitchen\0020000000001\0".utf8)))
    #expect(answer.prefix(4) == [1, 0, 49, 0])
    _ = try client.read(answer.dropFirst(4))
    return try #require(client.transport)
  }

  @Test func messagesInBothDirections() throws {
    var transport = Self.transport()
    #expect(transport.octets(APIFrame(type: 2)) == nil)
    var client = try handshake(&transport)
    for payload in [[], [UInt8](repeating: 9, count: 1000)] as [[UInt8]] {
      let frame = APIFrame(type: 75, payload: payload)
      let sent = NoiseFrames.octets(try client.sending.encrypt(try #require(NoiseFrames.body(frame))))
      let events = events(&transport, sent)
      guard events.count == 1, case .message(frame) = events[0] else { throw Unexpected(events: "\(events)") }
      let answer = transport.octets(frame)
      let octets = try #require(answer)
      #expect(try client.receiving.decrypt(Array(octets.dropFirst(3))) == NoiseFrames.body(frame))
    }
    #expect(transport.octets(APIFrame(type: 75, payload: [UInt8](repeating: 0, count: 65516))) == nil)
  }

  @Test func anAnnouncedHelloIsNotRepeated() throws {
    var transport = Self.transport()
    let hello = NoiseFrames.octets([1] + Array("kitchen\0020000000001\0".utf8))
    #expect(transport.announce() == hello)
    #expect(transport.announce() == nil)
    var client = try #require(Handshake(.nnpsk0, as: .initiator, prologue: Self.prologue, preSharedKey: Self.key))
    let events = events(&transport, [1, 0, 0] + NoiseFrames.octets([0] + (try client.write())))
    guard events.count == 1, case .send(let answer) = events[0] else { throw Unexpected(events: "\(events)") }
    _ = try client.read(answer.dropFirst(4))
    #expect(client.transport != nil && transport.hasShownKey)
    #expect(transport.announce() == nil)
    var plain = Self.transport(key: nil)
    #expect(plain.announce() == nil)
  }

  @Test func aWrongKeyIsSaid() throws {
    var transport = Self.transport(key: [UInt8](repeating: 8, count: 32))
    var client = try #require(Handshake(.nnpsk0, as: .initiator, prologue: Self.prologue, preSharedKey: Self.key))
    _ = events(&transport, [1, 0, 0])
    let end = try end(&transport, NoiseFrames.octets([0] + (try client.write())))
    #expect(end.0 == NoiseFrames.octets([1] + Array("Handshake MAC failure".utf8)))
    #expect(end.1 == .wrongKey)
  }

  @Test func handshakesThatAreRefused() throws {
    let cases: [([UInt8], APIFault)] = [
      ([0, 0, 7], .encryptionMismatch), ([3], .badIndicator), ([1, 0xFF, 0xFF], .tooLong),
      ([1, 0, 0, 1, 0, 0], .malformed), ([1, 0, 0, 1, 0, 2, 0, 5], .malformed), ([1, 0, 0, 1, 0, 1, 9], .malformed),
    ]
    for (octets, fault) in cases {
      var transport = Self.transport()
      let events = events(&transport, octets)
      guard case .end(let farewell, fault)? = events.last else { throw Unexpected(events: "\(events)") }
      // The client sees that this side encrypts.
      if octets[0] == 0 { #expect(farewell.first == 1) }
    }
  }

  @Test func repeatedAndChangedMessagesEndTheConnection() throws {
    for isRepeated in [true, false] {
      var transport = Self.transport()
      var client = try handshake(&transport)
      var octets = NoiseFrames.octets(try client.sending.encrypt(try #require(NoiseFrames.body(APIFrame(type: 7)))))
      if isRepeated { #expect(events(&transport, octets).count == 1) } else { octets[5] ^= 1 }
      #expect(try end(&transport, octets).1 == .notAuthentic)
    }
  }

  @Test func decryptedBodiesWithoutTheirParts() throws {
    for body in [[], [0, 7, 0], [0, 7, 0, 1]] as [[UInt8]] {
      var transport = Self.transport()
      var client = try handshake(&transport)
      #expect(try end(&transport, NoiseFrames.octets(try client.sending.encrypt(body))).1 == .malformed)
    }
  }
}
