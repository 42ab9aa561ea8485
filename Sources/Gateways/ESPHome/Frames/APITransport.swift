import Bluetooth
import Noise

/// The octets of one client: frames, and the handshake if there is a key. It does no I/O.
///
/// | State     | Input                | Output                                                                     |
/// |-----------|----------------------|----------------------------------------------------------------------------|
/// | plain     | a frame              | its message                                                                |
/// | hello     | announce             | this side's hello, with name and address                                   |
/// | hello     | the client's hello   | this side's hello, unless announced                                        |
/// | handshake | the first message    | the second one; with another key its refusal, and the end                  |
/// | open      | a frame              | its message                                                                |
/// | any       | anything else        | an answer with the reason, if clients understand one, and the end          |
/// | ended     | anything             | nothing                                                                    |
package struct APITransport {
  /// The identity that clients see before the handshake.
  package struct Identity: Hashable {
    /// A label of a host name.
    package var name: String
    /// 12 hex digits.
    package var address: String

    package init(name: String, address: String) {
      self.name = name
      self.address = address
    }
  }

  /// The results of octets.
  package enum Event {
    case message(APIFrame)
    /// Octets to send.
    case send([UInt8])
    /// The end: the octets to send before, and the reason.
    case end([UInt8], APIFault)
  }

  /// The longest frame of a client, in octets: the longest value of an attribute is 512.
  package static let longestFrame = 8192
  private static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

  private enum State {
    case plain
    case hello(Handshake, isAnnounced: Bool)
    case handshake(Handshake)
    case open(Handshake.Transport)
    case ended
  }

  private let identity: Identity
  private var state: State
  private var buffer = ReceivedOctets()

  /// - Parameter key: 32 octets; nil without encryption.
  package init(identity: Identity, key: [UInt8]?, ephemeralKey: X25519KeyPair = X25519KeyPair()) {
    self.identity = identity
    guard let key else {
      state = .plain
      return
    }
    let handshake = Handshake(
      .nnpsk0, as: .responder, prologue: Self.prologue, preSharedKey: key, ephemeralKey: ephemeralKey)
    // A key of another length accepts no client.
    state = handshake.map { .hello($0, isAnnounced: false) } ?? .ended
  }

  /// Sends this side's hello first, on a connection that this side has opened: the client chooses the key by it.
  /// - Returns: nil without encryption, and after the client's hello.
  package mutating func announce() -> [UInt8]? {
    guard case .hello(let handshake, isAnnounced: false) = state else { return nil }
    state = .hello(handshake, isAnnounced: true)
    return announcement
  }

  private var announcement: [UInt8] {
    NoiseFrames.octets([1] + Array(identity.name.utf8) + [0] + Array(identity.address.utf8) + [0])
  }

  /// True if the client has proved that it has the key.
  package var hasShownKey: Bool {
    switch state {
    case .open: true
    case .plain, .hello, .handshake, .ended: false
    }
  }

  /// Adds the octets of one read. Call `next` until it returns nil before adding more.
  package mutating func append(_ octets: some Sequence<UInt8>) {
    if case .ended = state { return }
    buffer.append(octets)
  }

  /// The next result; nil while there are not enough octets.
  package mutating func next() -> Event? {
    do throws(APIFault) {
      switch state {
      case .plain: return try PlainFrames.next(&buffer, atMost: Self.longestFrame).map(Event.message)
      case .ended: return nil
      case .hello, .handshake, .open:
        // A frame may have no result: the client's hello after an announcement.
        while let body = try NoiseFrames.next(&buffer, atMost: Self.longestFrame) {
          if let event = try received(body) { return event }
        }
        return nil
      }
    } catch {
      return end(error)
    }
  }

  /// The octets of a message.
  /// - Returns: nil before the handshake and after the end, and for a message that is too long for a frame.
  package mutating func octets(_ frame: APIFrame) -> [UInt8]? {
    switch state {
    case .plain: return PlainFrames.octets(frame)
    case .open(var transport):
      guard let body = NoiseFrames.body(frame), body.count + CipherState.overhead <= Handshake.longestMessage,
        let encrypted = try? transport.sending.encrypt(body)
      else { return nil }
      state = .open(transport)
      return NoiseFrames.octets(encrypted)
    case .hello, .handshake, .ended: return nil
    }
  }

  private mutating func received(_ body: [UInt8]) throws(APIFault) -> Event? {
    switch state {
    case .hello(let handshake, let isAnnounced):
      // The client's hello is empty so far; the contents of later ones do not matter here.
      state = .handshake(handshake)
      return isAnnounced ? nil : .send(announcement)
    case .handshake(var handshake):
      guard body.first == 0 else { throw .malformed }
      do throws(NoiseError) {
        _ = try handshake.read(body.dropFirst())
        let answer = try handshake.write()
        guard let transport = handshake.transport else { throw .outOfOrder }
        state = .open(transport)
        return .send(NoiseFrames.octets([0] + answer))
      } catch {
        throw error == .truncated ? .malformed : .wrongKey
      }
    case .open(var transport):
      let plain: [UInt8]
      do throws(NoiseError) { plain = try transport.receiving.decrypt(body) } catch { throw .notAuthentic }
      state = .open(transport)
      return .message(try NoiseFrames.message(plain))
    case .plain, .ended: return nil
    }
  }

  private mutating func end(_ fault: APIFault) -> Event {
    let state = state
    self.state = .ended
    buffer.removeAll()
    return .end(Self.farewell(fault, state), fault)
  }

  /// The octets that inform a client of the required change.
  private static func farewell(_ fault: APIFault, _ state: State) -> [UInt8] {
    switch (state, fault) {
    // An empty frame of the own kind: its first octet shows the client the protocol of this side.
    case (.plain, .encryptionMismatch): [0, 0, 0]
    case (.hello, .encryptionMismatch): refusal("Bad indicator byte")
    case (.handshake, .wrongKey): refusal("Handshake MAC failure")
    case (.handshake, _): refusal("Handshake error")
    case (.hello, _): refusal("Bad handshake packet len")
    case (.plain, _), (.open, _), (.ended, _): []
    }
  }

  private static func refusal(_ text: String) -> [UInt8] { NoiseFrames.octets([1] + Array(text.utf8)) }
}
