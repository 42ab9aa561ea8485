import Bluetooth
import TestSupport
import Testing

@testable import NearbySessions

/// Sessions of two peers, without sockets and clocks.
@Suite struct PeerSessionTests {
  @Test("messages arrive in order and whole, in both directions")
  func messages() throws {
    var pair = try Pair.connected()
    let long = [UInt8](repeating: 5, count: 1 << 20)
    expect(pair.dialer.send([1]) && pair.dialer.send([]) && pair.acceptor.send(long))
    pair.settle()
    #expect(pair.acceptorEvents == [.message([1]), .message([])])
    #expect(pair.dialerEvents == [.message(long)])
    expect(!pair.dialer.send([UInt8](repeating: 5, count: 1 << 20 + 1)))
  }

  @Test("a message for which the queue has no room is refused, until others were acknowledged")
  func queue() throws {
    var pair = try Pair.connected()
    let message = [UInt8](repeating: 1, count: 1 << 18)
    for _ in 0..<4 { expect(pair.dialer.send(message)) }
    expect(!pair.dialer.send(message))
    pair.settle()
    expect(pair.dialer.send(message))
  }

  @Test("messages that go first overtake those that were not sent, in their order, and have room of their own")
  func first() throws {
    var pair = try Pair.connected()
    let long = [UInt8](repeating: 5, count: 1 << 20)
    expect(pair.dialer.send(long) && !pair.dialer.send(long))
    let begun = try require(pair.dialer.output(on: .control))
    expect(pair.dialer.send([1]) && pair.dialer.send([2], isFirst: true) && pair.dialer.send([3], isFirst: true))
    pair.acceptorEvents += pair.acceptor.receive(begun, on: .control, at: .zero)
    pair.settle()
    #expect(pair.acceptorEvents == [.message(long), .message([2]), .message([3]), .message([1])])
  }

  @Test("a message that goes first stays behind those that the other side may have received over a link before")
  func firstAfterLoss() throws {
    var pair = try Pair.connected()
    expect(pair.dialer.send([1]))
    _ = pair.dialer.output(on: .control)
    expect(pair.dialer.send([2]))
    pair.cut()
    expect(pair.dialer.send([3], isFirst: true))
    try pair.reconnect()
    pair.settle()
    #expect(pair.acceptorEvents == [.lost, .resumed, .message([1]), .message([3]), .message([2])])
  }

  @Test("an answer that was not sent yet goes before a message that goes first")
  func answerFirst() throws {
    var pair = try Pair()
    pair.dialer.invite(context: [], timeout: .seconds(5), at: .zero)
    pair.settle()
    pair.acceptorEvents += pair.acceptor.answer(true)
    expect(pair.acceptor.send([1], isFirst: true))
    pair.settle()
    #expect(pair.dialerEvents == [.connected, .message([1])])
  }

  @Test("received frames are acknowledged beside others, and by themselves after so many frames or octets")
  func acknowledgements() throws {
    var lane = ReliableLane()
    for _ in 1..<ReliableLane.due.frames { lane.received(Frame(kind: .message)) }
    #expect(!lane.isAcknowledgementDue)
    lane.received(Frame(kind: .message))
    #expect(lane.isAcknowledgementDue)
    expect(lane.acknowledgement()?.payload == [0, 0, 0, 0, 0, 0, 0, 64])
    expect(lane.acknowledgement() == nil)
    lane.received(Frame(kind: .data, payload: [UInt8](repeating: 1, count: ReliableLane.due.octets)))
    #expect(lane.isAcknowledgementDue)

    var pair = try Pair.connected()
    expect(pair.dialer.send([1]))
    _ = pair.carry()
    expect(pair.acceptor.output(on: .control) == nil)
    expect(pair.acceptor.send([2]))
    pair.settle()
    expect(pair.dialer.sendDatagram([3]))
  }

  @Test("a declined invitation, one that times out, and one that is answered too late")
  func invitations() throws {
    var declined = try Pair()
    declined.dialer.invite(context: [], timeout: .seconds(5), at: .zero)
    declined.settle()
    declined.acceptorEvents += declined.acceptor.answer(false)
    declined.settle()
    #expect(declined.dialerEvents == [.ended(.declined)])
    #expect(declined.acceptorEvents.last == .ended(.declined))

    var late = try Pair()
    late.dialer.invite(context: [], timeout: .seconds(5), at: .zero)
    late.settle()
    late.pass(.milliseconds(4999))
    #expect(late.dialerEvents.isEmpty)
    late.pass(.milliseconds(1))
    #expect(late.dialerEvents == [.ended(.timeout)])
    #expect(late.acceptorEvents.last == .ended(.timeout))
    expect(late.acceptor.answer(true).isEmpty && !late.acceptor.send([1]))

    var silent = try Pair()
    silent.pass(.seconds(30))
    #expect(silent.acceptorEvents == [.ended(.timeout)])
  }

  @Test("a stream may come before the answer to the invitation, which is on the other channel")
  func streamBeforeAnswer() throws {
    var pair = try Pair()
    pair.dialer.invite(context: [], timeout: .seconds(5), at: .zero)
    while let octets = pair.dialer.output(on: .control) {
      pair.acceptorEvents += pair.acceptor.receive(octets, on: .control, at: .zero)
    }
    pair.acceptorEvents += pair.acceptor.answer(true)
    let flow = try require(pair.acceptor.openFlow(name: "early"))
    let bulk = try require(pair.acceptor.output(on: .bulk))
    expect(pair.dialer.receive(bulk, on: .bulk, at: .zero).isEmpty)
    let control = try require(pair.acceptor.output(on: .control))
    expect(pair.dialer.receive(control, on: .control, at: .zero) == [.connected, .flow(.opened(flow, name: "early"))])
  }

  @Test("links that are cut at any octet lose and repeat nothing", arguments: 0..<40)
  func churn(number: Int) throws {
    var random = SeededRandom(seed: UInt64(number) + 1)
    var pair = try Pair.connected()
    let flow = try require(pair.dialer.openFlow(name: "numbers"))
    var sent = (dialer: [[UInt8]](), acceptor: [[UInt8]](), flow: [UInt8]())
    for _ in 0..<25 {
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let message = [UInt8](
          repeating: .random(in: 0...255, using: &random), count: .random(in: 0...3000, using: &random))
        if pair.dialer.send(message) { sent.dialer.append(message) }
        if pair.acceptor.send(message) { sent.acceptor.append(message) }
        if pair.dialer.send(message, on: flow) { sent.flow += message }
      }
      pair.carry(limit: .random(in: 0...20_000, using: &random))
      for case .flow(.data(let number, let octets)) in pair.acceptorEvents.suffix(40) where number == flow {
        pair.acceptor.consume(octets.count, of: flow)
      }
      pair.cut()
      pair.pass(.milliseconds(9999))
      try pair.reconnect()
    }
    pair.settle()
    let messages = { (events: [PeerSession.Event]) in
      events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }
    #expect(messages(pair.acceptorEvents) == sent.dialer)
    #expect(messages(pair.dialerEvents) == sent.acceptor)
    let octets = pair.acceptorEvents.flatMap { event in
      if case .flow(.data(_, let octets)) = event { octets } else { [] as [UInt8] }
    }
    #expect(octets == sent.flow)
    #expect(!sent.dialer.isEmpty && !sent.flow.isEmpty)
    #expect(pair.dialerEvents.count { $0 == .lost } == 25 && pair.dialerEvents.count { $0 == .resumed } == 25)
  }

  @Test("a link that does not come back within the time ends the session, once")
  func lost() throws {
    var pair = try Pair.connected()
    expect(pair.dialer.send([1]))
    pair.cut()
    pair.pass(.milliseconds(9999))
    #expect(pair.dialerEvents == [.lost])
    pair.pass(.milliseconds(1))
    pair.pass(.seconds(60))
    pair.cut()
    #expect(pair.dialerEvents == [.lost, .ended(.linkLost)])
    #expect(pair.acceptorEvents == [.lost, .ended(.linkLost)])
    expect(pair.dialer.deadline == nil && !pair.dialer.send([2]))
  }

  @Test("the other side's end arrives, with open streams closed before")
  func bye() throws {
    var pair = try Pair.connected()
    let flow = try require(pair.dialer.openFlow(name: "x"))
    pair.settle()
    pair.dialerEvents += pair.dialer.end(.byUs)
    pair.settle()
    #expect(pair.dialerEvents == [.flow(.closed(flow, .cancelled)), .ended(.byUs)])
    #expect(pair.acceptorEvents.suffix(2) == [.flow(.closed(flow, .cancelled)), .ended(.byPeer)])
  }

  @Test("datagrams are sent at once or not at all")
  func datagrams() throws {
    var pair = try Pair.connected()
    expect(pair.dialer.sendDatagram([1]))
    pair.settle()
    #expect(pair.acceptorEvents == [.datagram([1])])
    expect(pair.dialer.send([2]) && !pair.dialer.sendDatagram([3]))
    pair.cut()
    expect(!pair.dialer.sendDatagram([4]))
    #expect(pair.dialer.droppedDatagrams == 2)
  }

  @Test("a stream that nobody reads stops at its window, and the others go on")
  func windows() throws {
    var pair = try Pair.connected()
    let (stopped, other) = (
      try require(pair.dialer.openFlow(name: "stopped")), try require(pair.dialer.openFlow(name: "other"))
    )
    let piece = [UInt8](repeating: 1, count: 16 << 10)
    for _ in 0..<4 { expect(pair.dialer.send(piece, on: stopped)) }
    expect(pair.dialer.room(stopped) == 0 && !pair.dialer.send([1], on: stopped))
    for _ in 0..<20 {
      expect(pair.dialer.send(piece, on: other))
      pair.settle()
      pair.acceptor.consume(piece.count, of: other)
      pair.settle()
    }
    #expect(pair.dialer.room(stopped) == 0)
    pair.acceptor.consume(64 << 10, of: stopped)
    pair.settle()
    #expect(pair.dialer.room(stopped) == 16 << 10)
    #expect(pair.dialerEvents.last == .flow(.room(stopped)))
  }

  @Test("a resource is offered, accepted from an offset, and finished by its receiver")
  func resource() throws {
    var pair = try Pair.connected()
    let offer = ResourceOffer(name: "a.bin", size: 3, hash: Array(repeating: 1, count: 32))
    let flow = try require(pair.dialer.openFlow(name: offer.name, offer: offer))
    expect(!pair.dialer.send([1], on: flow))
    pair.settle()
    #expect(pair.acceptorEvents == [.flow(.offered(flow, offer))])
    pair.acceptor.acceptFlow(flow, offset: 2)
    pair.settle()
    #expect(pair.dialerEvents == [.flow(.accepted(flow, offset: 2))])
    expect(pair.dialer.send([3], on: flow))
    pair.settle()
    #expect(pair.acceptorEvents.last == .flow(.data(flow, [3])))
    pair.acceptor.closeFlow(flow, .finished)
    pair.settle()
    #expect(pair.dialerEvents.last == .flow(.closed(flow, .finished)))
  }

  @Test("more streams than the limit are closed, not answered by the end of the session")
  func tooManyFlows() throws {
    var pair = try Pair.connected()
    for _ in 0..<FlowTable.limit { expect(pair.dialer.openFlow(name: "x") != nil) }
    expect(pair.dialer.openFlow(name: "x") == nil)
    var table = FlowTable(isDialer: false)
    for number in 0..<UInt32(FlowTable.limit) {
      _ = try table.receive(Frame(kind: .openStream, flow: number * 2 + 1, payload: [0]))
    }
    let result = try table.receive(Frame(kind: .openStream, flow: UInt32(FlowTable.limit) * 2 + 1, payload: [0]))
    #expect(result.event == nil && result.answer?.payload == [FlowEnd.tooMany.rawValue])
  }

  @Test(
    "breaches of the protocol are refused",
    arguments: [
      Frame(kind: .data, flow: 1, payload: [1]), Frame(kind: .openStream, flow: 2, payload: [0]),
      Frame(kind: .openStream, flow: 3, payload: [0]), Frame(kind: .offer, flow: 1, payload: [0]),
      Frame(kind: .credit, flow: 2, payload: [0, 0, 0, 1]), Frame(kind: .close, flow: 1, payload: [99]),
      Frame(kind: .close, flow: 0, payload: [0]), Frame(kind: .accept, flow: 1, payload: []),
      Frame(kind: .openStream, flow: 1, payload: [2, 0x61]), Frame(kind: .message),
    ])
  func breaches(frame: Frame) {
    var table = FlowTable(isDialer: false)
    #expect(throws: Violation.self) { try table.receive(frame) }
  }

  @Test("a peer that makes answers necessary, and acknowledges none, ends the session")
  func unacknowledged() throws {
    let opened = try OpeningTests.open()
    let bulk = try OpeningTests.bulk()
    var (control, flows) = (opened.dialer.stream, bulk.0)
    var acceptor = PeerSession(
      isDialer: false, identifier: opened.dialer.hello.session, control: opened.acceptor.stream,
      resumption: .seconds(10), at: .zero)
    _ = acceptor.openedBulk(bulk.1)
    _ = acceptor.receive(
      try control.seal(Frame(kind: .invite, payload: [0, 20]).encoded), on: .control, at: .zero)
    _ = acceptor.answer(true)
    var number: UInt32 = 1
    var events: [PeerSession.Event] = []
    while number < 20_000, acceptor.isAlive {
      let frame = Frame(kind: .openStream, flow: number, payload: [0])
      events += acceptor.receive(try flows.seal(frame.encoded), on: .bulk, at: .zero)
      number += 2
    }
    #expect(events.last == .ended(.violation("too little acknowledgement of frames")))
  }

  @Test("an acknowledgement of a frame that was never sent is a breach")
  func acknowledgement() throws {
    var lane = ReliableLane()
    lane.enqueue(Frame(kind: .message))
    #expect(throws: Violation.self) { try lane.acknowledge(1) }
    _ = lane.nextFrame()
    try lane.acknowledge(1)
    #expect(lane.isSettled && lane.keptOctets == 0)
    #expect(throws: Violation.self) { try lane.acknowledge(0) }
    #expect(throws: Violation.self) { try lane.resume(2) }
  }
}
