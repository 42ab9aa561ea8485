import Bluetooth
import Fuzzing
import Noise

/// A session whose other side sends any frames.
struct SessionRun {
  private var session: PeerSession
  private var peer: [Frame.Lane: SecureStream] = [:]
  private var now = Instant.zero
  private var endings = 0
  private var flows: [UInt32] = []

  /// Both ends of an encrypted channel, made once: values are copied.
  private static let channel: (own: SecureStream, other: SecureStream)? = {
    let key = { X25519KeyPair(privateKey: [UInt8](repeating: $0, count: 32)) ?? X25519KeyPair() }
    let shared = [UInt8](repeating: 7, count: 32)
    guard
      var first = Handshake(.nnpsk0, as: .initiator, prologue: [], preSharedKey: shared, ephemeralKey: key(1)),
      var second = Handshake(.nnpsk0, as: .responder, prologue: [], preSharedKey: shared, ephemeralKey: key(2)),
      let message = try? first.write(), (try? second.read(message)) != nil, let answer = try? second.write(),
      (try? first.read(answer)) != nil, let own = first.transport, let other = second.transport
    else { return nil }
    return (SecureStream(own, RecordReader()), SecureStream(other, RecordReader()))
  }()

  init(isDialer: Bool) {
    guard let channel = Self.channel else { fatalError("no channel") }
    session = PeerSession(
      isDialer: isDialer, identifier: [UInt8](repeating: 1, count: 16), control: channel.own,
      resumption: .seconds(10), at: .zero)
    peer = [.control: channel.other, .bulk: channel.other]
    see(session.openedBulk(channel.own))
  }

  mutating func step(_ input: inout FuzzInput) {
    switch input.octet() & 15 {
    case 0: session.invite(context: input.packet(), timeout: .seconds(Int(input.octet())), at: now)
    case 1: see(session.answer(input.octet() & 1 == 0))
    case 2: _ = session.send(input.filler())
    case 3: _ = session.sendDatagram(input.packet())
    case 4: if let flow = session.openFlow(name: "x") { flows.append(flow) }
    case 5:
      let offer = ResourceOffer(name: "y", size: UInt64(input.word()), hash: [UInt8](repeating: 0, count: 32))
      if let flow = session.openFlow(name: "y", offer: offer) { flows.append(flow) }
    case 6: if let flow = flows.last { _ = session.send(input.filler(), on: flow) }
    case 7: session.acceptFlow(UInt32(input.octet()), offset: UInt64(input.word()))
    case 8: session.consume(Int(input.word()), of: UInt32(input.octet()))
    case 9: session.closeFlow(UInt32(input.octet()), .cancelled)
    case 10: lose(&input)
    case 11:
      now = now.advanced(by: .milliseconds(Int64(input.word())))
      see(session.pass(to: now))
    default: receive(&input)
    }
    fetch()
  }

  private mutating func receive(_ input: inout FuzzInput) {
    let lane: Frame.Lane = input.octet() & 1 == 0 ? .control : .bulk
    let kind = Frame.Kind(rawValue: input.octet() % 14) ?? .message
    let frame = Frame(kind: kind, flow: UInt32(input.octet()), payload: input.packet())
    guard let octets = try? peer[lane]?.seal(frame.encoded) else { return }
    see(session.receive(octets, on: lane, at: now))
  }

  private mutating func lose(_ input: inout FuzzInput) {
    see(session.lost(at: now))
    guard let channel = Self.channel else { return }
    peer = [.control: channel.other, .bulk: channel.other]
    see(
      session.resume(
        control: channel.own, receivedControl: UInt64(input.octet()), receivedBulk: UInt64(input.octet())))
    see(session.openedBulk(channel.own))
  }

  /// The other side reads what it is sent.
  private mutating func fetch() {
    for lane in Frame.Lane.allCases {
      while let octets = session.output(on: lane) {
        peer[lane]?.append(octets)
        do {
          while try peer[lane]?.next() != nil {}
        } catch {
          invariant(false, "the other side cannot read: \(error.text)")
        }
      }
    }
  }

  private mutating func see(_ events: [PeerSession.Event]) {
    for event in events {
      invariant(endings == 0, "\(event) behind the end")
      if case .ended = event { endings += 1 }
    }
  }

  mutating func end() {
    see(session.end(.byUs))
    fetch()
    invariant(endings == 1, "\(endings) ends")
    invariant(session.deadline == nil, "a deadline behind the end")
  }
}
