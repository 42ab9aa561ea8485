import Bluetooth
import Testing

@testable import NearbySessions

/// Two sessions, a clock, and links between them that can be cut at any octet.
struct Pair {
  var dialer: PeerSession
  var acceptor: PeerSession
  var now = Instant.zero
  /// The events of both sides, in their order.
  var dialerEvents: [PeerSession.Event] = []
  var acceptorEvents: [PeerSession.Event] = []
  /// The octets on their way.
  private var wires: [(lane: Frame.Lane, toAcceptor: Bool, octets: [UInt8])] = []

  init(resumption: Duration = .seconds(10)) throws {
    let opened = try OpeningTests.open()
    let identifier = opened.dialer.hello.session
    dialer = PeerSession(
      isDialer: true, identifier: identifier, control: opened.dialer.stream, resumption: resumption, at: .zero)
    acceptor = PeerSession(
      isDialer: false, identifier: identifier, control: opened.acceptor.stream, resumption: resumption, at: .zero)
    try openBulk()
  }

  /// A session with an accepted invitation.
  static func connected(resumption: Duration = .seconds(10)) throws -> Pair {
    var pair = try Pair(resumption: resumption)
    pair.dialer.invite(context: [1, 2], timeout: .seconds(20), at: pair.now)
    pair.settle()
    pair.acceptorEvents += pair.acceptor.answer(true)
    pair.settle()
    #expect(pair.dialerEvents == [.connected])
    #expect(pair.acceptorEvents == [.invited(context: [1, 2], timeout: .seconds(20)), .connected])
    (pair.dialerEvents, pair.acceptorEvents) = ([], [])
    return pair
  }

  private mutating func openBulk() throws {
    let (first, second) = try OpeningTests.bulk()
    dialerEvents += dialer.openedBulk(first)
    acceptorEvents += acceptor.openedBulk(second)
  }

  /// Carries all pending octets, once.
  /// - Parameter limit: this number of octets arrives; the others are lost.
  /// - Returns: the octets that arrived.
  @discardableResult
  mutating func carry(limit: Int = .max) -> Int {
    var left = limit
    for lane in Frame.Lane.allCases {
      if let octets = dialer.output(on: lane) { wires.append((lane, true, octets)) }
      if let octets = acceptor.output(on: lane) { wires.append((lane, false, octets)) }
    }
    while !wires.isEmpty {
      let wire = wires.removeFirst()
      let octets = Array(wire.octets.prefix(left))
      left -= octets.count
      if wire.toAcceptor {
        acceptorEvents += acceptor.receive(octets, on: wire.lane, at: now)
      } else {
        dialerEvents += dialer.receive(octets, on: wire.lane, at: now)
      }
    }
    return limit - left
  }

  /// Carries until nothing is left to send.
  mutating func settle() { while carry() > 0 {} }

  /// The link is lost on both sides.
  mutating func cut() {
    dialerEvents += dialer.lost(at: now)
    acceptorEvents += acceptor.lost(at: now)
  }

  /// Another link, with the counts as hellos carry them.
  mutating func reconnect() throws {
    let opened = try OpeningTests.open()
    let counts = { (session: PeerSession) in
      (session.receivedCount(on: .control), session.receivedCount(on: .bulk))
    }
    let (ofDialer, ofAcceptor) = (counts(dialer), counts(acceptor))
    dialerEvents += dialer.resume(
      control: opened.dialer.stream, receivedControl: ofAcceptor.0, receivedBulk: ofAcceptor.1)
    acceptorEvents += acceptor.resume(
      control: opened.acceptor.stream, receivedControl: ofDialer.0, receivedBulk: ofDialer.1)
    try openBulk()
  }

  mutating func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    dialerEvents += dialer.pass(to: now)
    acceptorEvents += acceptor.pass(to: now)
  }
}

/// `#expect` for a call that changes its value, which the macro cannot contain.
func expect(_ condition: Bool, at place: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: place)
}

/// `#require` for such a call.
func require<Value>(_ value: Value?, at place: SourceLocation = #_sourceLocation) throws -> Value {
  try #require(value, sourceLocation: place)
}
