@testable import MultipeerConnectivity
import Testing

/// One peer of a session, without connection.
@Suite struct PeerMachineTests {
  private static func greeting(
    _ encryption: MCEncryptionPreference = .optional, _ certificates: [Data]? = nil
  ) -> Greeting { Greeting(encryption: encryption, certificates: certificates) }

  private let own = Self.greeting()
  private let secret = GroupToken(), other = GroupToken()

  @Test("connecting is told before connected, and the end once", arguments: [true, false])
  func connected(isReadyFirst: Bool) {
    var machine = PeerMachine(greeting: own)
    let certificate = Data([1])
    expect(machine.opened() == [.tell(.connecting), .send(.greeting(own))])
    expect(machine.received(Self.greeting(.optional, [certificate])) == [.judge([certificate])])
    if isReadyFirst {
      expect(machine.receivedReady(other) == [] && !machine.isConnected)
      expect(machine.judged(true) == [.sendReady, .know(other), .tell(.connected)])
    } else {
      expect(machine.judged(true) == [.sendReady] && !machine.isConnected)
      expect(machine.receivedReady(other) == [.know(other), .tell(.connected)])
    }
    #expect(machine.isConnected)
    // Its secret changes.
    expect(machine.receivedReady(secret) == [.know(secret)] && machine.isConnected)
    expect(machine.ended() == [.tell(.notConnected), .close])
    expect(machine.ended() == [] && machine.opened() == [] && machine.judged(true) == [] && machine.isOver)
  }

  @Test("an invitation that fails is told as not connected, without connecting")
  func failed() {
    var machine = PeerMachine(greeting: own)
    expect(machine.ended() == [.tell(.notConnected), .close])
    expect(machine.opened() == [])
  }

  @Test("a certificate that is refused ends the connection, and a second answer counts for nothing")
  func refused() {
    var machine = PeerMachine(greeting: own)
    _ = machine.opened()
    _ = machine.received(Self.greeting())
    expect(machine.judged(false) == [.tell(.notConnected), .close])
    expect(machine.judged(true) == [] && machine.isOver)
    machine = PeerMachine(greeting: own)
    _ = machine.opened()
    _ = machine.received(Self.greeting())
    _ = machine.judged(true)
    expect(machine.judged(false) == [] && !machine.isOver)
  }

  @Test("messages out of order end the connection")
  func outOfOrder() {
    var machine = PeerMachine(greeting: own)
    _ = machine.opened()
    expect(machine.receivedReady(other) == [.tell(.notConnected), .close])
    machine = PeerMachine(greeting: own)
    _ = machine.opened()
    _ = machine.received(Self.greeting())
    expect(machine.received(Self.greeting()) == [.tell(.notConnected), .close])
    machine = PeerMachine(greeting: own)
    _ = machine.opened()
    _ = machine.received(Self.greeting())
    _ = machine.receivedReady(other)
    expect(machine.receivedReady(other) == [.tell(.notConnected), .close])
  }

  @Test(
    "a side that requires encryption does not connect with one that does without",
    arguments: [
      (MCEncryptionPreference.none, MCEncryptionPreference.required, false), (.required, .none, false),
      (.optional, .none, true), (.required, .optional, true), (.none, .none, true), (.required, .required, true),
    ])
  func encryption(own: MCEncryptionPreference, other: MCEncryptionPreference, connects: Bool) {
    var machine = PeerMachine(greeting: Self.greeting(own))
    _ = machine.opened()
    expect((machine.received(Self.greeting(other)) == [.judge(nil)]) == connects)
  }

  @Test("messages survive their encoding, and malformed ones are none")
  func messages() {
    let greeting = Self.greeting(.required, [Data([1, 2]), Data(), Data(repeating: 3, count: 300)])
    let messages: [SessionMessage] = [
      .data([]), .data([1]), .part([2, 3]), .greeting(greeting), .greeting(own), .ready(secret), .members([]),
      .members([1, .max]),
    ]
    for message in messages { #expect(SessionMessage(message.encoded) == message) }
    let encoded = SessionMessage.greeting(greeting).encoded
    for length in 1..<encoded.count {
      guard case .greeting(let cut)? = SessionMessage(Array(encoded.prefix(length))) else { continue }
      #expect((cut.certificates ?? []).count < 3)
    }
    for octets in [[], [5], [2], [2, 3], [3], [3, 1], [4, 1], [4] + Array(repeating: 0, count: 17 * 8)] as [[UInt8]] {
      #expect(SessionMessage(octets) == nil)
    }
  }

  @Test("contexts and connection data survive their encoding, and malformed ones are none")
  func contexts() {
    let token = GroupToken()
    for context in [.program(nil), .program(Data()), .program(Data([1])), .member(token)] as [InvitationContext] {
      #expect(InvitationContext(context.encoded) == context)
    }
    #expect(InvitationContext([]) == .program(nil))
    #expect(InvitationContext([2, 1]) == nil && InvitationContext([3]) == nil)
    let data = ConnectionData(identifier: 0x0102_0304_0506_0708, token: token)
    #expect(ConnectionData(data.encoded) == data && data.encoded.prefix(9) == Data([1, 1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(ConnectionData(data.encoded.dropLast()) == nil && ConnectionData(Data()) == nil)
  }
}

/// `#expect` for a call that changes its value, which the macro cannot contain.
func expect(_ condition: Bool, at place: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: place)
}
