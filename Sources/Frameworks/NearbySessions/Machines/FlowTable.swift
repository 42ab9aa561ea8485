/// A session's streams and resources. Each goes one way, from the side that opened it to the other.
///
/// | State of a flow  | Side     | Input          | Effect                                             |
/// |------------------|----------|----------------|----------------------------------------------------|
/// | (none)           | sender   | open           | "openStream" → open                                |
/// | (none)           | sender   | offer          | "offer" → offered                                  |
/// | (none)           | receiver | openStream     | `opened` → open; above the limit closed: tooMany   |
/// | (none)           | receiver | offer          | `offered` → offered; the same above the limit      |
/// | offered          | receiver | accept         | "accept" with an offset → open                     |
/// | offered          | sender   | accept         | `accepted` → open                                  |
/// | open             | sender   | send           | "data", as far as the window goes                  |
/// | open             | receiver | data           | `data`; the window shrinks                         |
/// | open             | receiver | consumed       | "credit", at times                                 |
/// | open             | sender   | credit         | `room`                                             |
/// | offered, open    | both     | finish, close  | "close", `closed` at the other side → (none)       |
/// | (none), was open | both     | anything       | ignored: it crossed the close                      |
/// | anything else    | both     | anything       | `Violation`                                        |
struct FlowTable: Sendable {
  /// Maximum open streams and resources per side.
  static let limit = 32

  private enum State: Sendable {
    case offered
    case open
  }

  private struct Flow: Sendable {
    var state: State
    let isOwn: Bool
    var window = FlowWindow()
  }

  /// An event for the owner.
  enum Event: Hashable, Sendable {
    case opened(UInt32, name: String)
    case offered(UInt32, ResourceOffer)
    case accepted(UInt32, offset: UInt64)
    case data(UInt32, [UInt8])
    case room(UInt32)
    case closed(UInt32, FlowEnd)
  }

  private var flows: [UInt32: Flow] = [:]
  /// The next number of each side: the dialer has the odd ones, the acceptor the even ones.
  private var nextOwn: UInt32, nextOther: UInt32

  init(isDialer: Bool) { (nextOwn, nextOther) = isDialer ? (1, 2) : (2, 1) }

  /// The numbers of all flows.
  var all: [UInt32] { flows.keys.sorted() }

  /// Opens a stream or, with an offer, a resource.
  /// - Returns: its number and the opening frame; nil at the limit.
  mutating func open(name: String, offer: ResourceOffer? = nil) -> (flow: UInt32, frame: Frame)? {
    guard flows.values.count(where: \.isOwn) < Self.limit, nextOwn < .max - 2 else { return nil }
    let number = nextOwn
    nextOwn += 2
    flows[number] = Flow(state: offer == nil ? .open : .offered, isOwn: true)
    var payload: [UInt8] = []
    if let offer {
      payload.append(number: offer.size)
      payload += offer.hash
    }
    payload.append(text: name)
    return (number, Frame(kind: offer == nil ? .openStream : .offer, flow: number, payload: payload))
  }

  /// Accepts an offered resource, from this octet on.
  mutating func accept(_ number: UInt32, offset: UInt64) -> Frame? {
    guard let flow = flows[number], !flow.isOwn, case .offered = flow.state else { return nil }
    flows[number]?.state = .open
    var payload: [UInt8] = []
    payload.append(number: offset)
    return Frame(kind: .accept, flow: number, payload: payload)
  }

  /// The octets that can be sent now.
  func room(_ number: UInt32) -> Int {
    guard let flow = flows[number], flow.isOwn, case .open = flow.state else { return 0 }
    return flow.window.credit
  }

  /// - Returns: the frame with octets, at most as many as there is room for and as a frame has; nil if there are more.
  mutating func send(_ octets: [UInt8], on number: UInt32) -> Frame? {
    guard octets.count <= min(room(number), Frame.Kind.data.longest) else { return nil }
    try? flows[number]?.window.use(octets.count)
    return Frame(kind: .data, flow: number, payload: octets)
  }

  /// The owner has consumed octets from the other side's flow.
  mutating func consume(_ count: Int, of number: UInt32) -> Frame? {
    guard let credit = flows[number]?.window.consume(count) else { return nil }
    var payload: [UInt8] = []
    payload.append(number: UInt32(clamping: credit))
    return Frame(kind: .credit, flow: number, payload: payload)
  }

  /// Ends a flow of either side.
  mutating func close(_ number: UInt32, _ end: FlowEnd) -> Frame? {
    flows.removeValue(forKey: number).map { _ in Frame(kind: .close, flow: number, payload: [end.rawValue]) }
  }

  /// A frame from the other side.
  /// - Returns: the event for the owner, and the frame to answer with.
  mutating func receive(_ frame: Frame) throws(Violation) -> (event: Event?, answer: Frame?) {
    let number = frame.flow
    var reader = OctetReader(frame.payload)
    switch frame.kind {
    case .openStream, .offer:
      let offer = frame.kind == .offer
      guard number == nextOther, nextOther < .max - 2 else { throw Violation("flow \(number) out of order") }
      let (size, hash) = (offer ? reader.number(UInt64.self) : 0, offer ? reader.octets(32) : [])
      guard let size, let hash, let name = reader.text() else { throw Violation("a malformed \"\(frame.kind)\"") }
      nextOther += 2
      guard flows.values.count(where: { !$0.isOwn }) < Self.limit else {
        return (nil, Frame(kind: .close, flow: number, payload: [FlowEnd.tooMany.rawValue]))
      }
      flows[number] = Flow(state: offer ? .offered : .open, isOwn: false)
      return (offer ? .offered(number, .init(name: name, size: size, hash: hash)) : .opened(number, name: name), nil)
    case .accept:
      guard let flow = try existing(number, isOwn: true) else { return (nil, nil) }
      guard case .offered = flow.state, let offset = reader.number(UInt64.self) else {
        throw Violation("flow \(number) was accepted out of order")
      }
      flows[number]?.state = .open
      return (.accepted(number, offset: offset), nil)
    case .data:
      guard var flow = try existing(number, isOwn: false) else { return (nil, nil) }
      guard case .open = flow.state else { throw Violation("data on flow \(number) before it was accepted") }
      try flow.window.use(frame.payload.count)
      flows[number] = flow
      return (.data(number, frame.payload), nil)
    case .credit:
      guard var flow = try existing(number, isOwn: true) else { return (nil, nil) }
      guard let credit = reader.number(UInt32.self) else { throw Violation("a malformed \"credit\"") }
      try flow.window.give(Int(credit))
      flows[number] = flow
      return (.room(number), nil)
    case .close:
      guard let end = reader.number(UInt8.self).flatMap(FlowEnd.init(rawValue:)) else {
        throw Violation("a malformed \"close\"")
      }
      guard try existing(number, isOwn: nil) != nil else { return (nil, nil) }
      flows[number] = nil
      return (.closed(number, end), nil)
    case .hello, .invite, .answer, .message, .datagram, .acknowledge, .bye:
      throw Violation("a frame \"\(frame.kind)\" on the channel of streams")
    }
  }

  /// A flow; nil for an ended one.
  /// - Throws: for one that never existed, or belongs to the wrong side.
  private func existing(_ number: UInt32, isOwn: Bool?) throws(Violation) -> Flow? {
    if let flow = flows[number], isOwn == nil || flow.isOwn == isOwn { return flow }
    let ownsNumber = number % 2 == nextOwn % 2
    guard number > 0, flows[number] == nil, number < (ownsNumber ? nextOwn : nextOther),
      isOwn == nil || isOwn == ownsNumber
    else { throw Violation("flow \(number), which there never was") }
    return nil
  }
}
