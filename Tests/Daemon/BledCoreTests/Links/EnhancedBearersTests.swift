import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Enhanced ATT bearers under the queue of a link: their opening, and the requests on them.
@Suite struct EnhancedBearersTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let peer: ScriptedPeer
  private let encrypted = LinkSecurity(level: 2, keySize: 16)

  init() throws {
    client = world.client()
    peer = world.peer()
  }

  /// A link to a device with these Server Supported Features.
  private func connect(
    features: UInt8? = 1, security: LinkSecurity? = nil, prepare: (ScriptedLink) -> Void = { _ in }
  ) throws -> (id: String, link: ScriptedLink) {
    try peer.furnish(serverFeatures: features)
    let id = try world.connect(client, peer).peripheral
    let link = try #require(world.adapter.links.last)
    prepare(link)
    link.protect(security ?? encrypted)
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    return (id, link)
  }

  private func bearers(_ id: String) throws -> Int? {
    try done(PeripheralParameters.self, .init(peripheral: id)).bearers
  }

  /// The features of our client that were written to the device.
  private var told: [[UInt8]] {
    let handle = UInt8(peer.handle(of: 0x2B29))
    return peer.received.filter { $0.starts(with: [0x12, handle, 0]) }.map { Array($0[3...]) }
  }

  private func read(_ uuid: BluetoothUUID, _ id: String, by other: TestClient? = nil) throws -> Int {
    try (other ?? client).call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: uuid)))
  }

  private func write(_ uuid: BluetoothUUID, _ id: String, response: Bool? = nil) throws -> Int {
    try client.call(
      GATTWrite.self,
      .init(peripheral: id, handle: peer.handle(of: uuid), value: HexBytes([9]), response: response))
  }

  private func values(_ calls: [Int]) throws -> [[UInt8]?] {
    try calls.map { try client.answer(to: $0, GATTRead.self)?.get().value.octets }
  }

  private func request(_ opcode: UInt8, _ uuid: BluetoothUUID, _ rest: UInt8...) -> [UInt8] {
    [opcode, UInt8(peer.handle(of: uuid)), 0] + rest
  }

  // MARK: Opening them

  @Test("On an encrypted link two are opened, once the device with EATT was told; its users see them")
  func opened() throws {
    let (id, link) = try connect()
    #expect(told == [[7]] && link.channels.map(\.psm) == [0x27, 0x27])
    #expect(link.channels.allSatisfy { $0.mode == .enhanced && $0.isReading })
    #expect(try bearers(id) == 3)
    #expect(try client.notifications(PeripheralParametersChanged.self).map(\.bearers).suffix(2) == [2, 3])
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    #expect(link.channels.count == 2 && told.count == 1)
  }

  @Test("Without EATT, or Server Supported Features, nothing changes on the air", arguments: [nil, 0, 6] as [UInt8?])
  func without(features: UInt8?) throws {
    let (id, link) = try connect(features: features)
    #expect(told == [[5]] && link.channels.isEmpty)
    #expect(try bearers(id) == nil)
    let asked = peer.received.count { $0 == request(0x0A, 0x2B3A) }
    #expect(asked == (features == nil ? 0 : 1))
  }

  @Test("Without enhanced channels here the device is not even asked")
  func withoutChannels() throws {
    let (_, link) = try connect { $0.hasEnhancedChannels = false }
    #expect(told == [[5]] && link.channels.isEmpty && !peer.received.contains(request(0x0A, 0x2B3A)))
  }

  @Test("A link that is encrypted later has them then")
  func encryptedLater() throws {
    let (id, link) = try connect(security: LinkSecurity.none)
    #expect(told == [[5]] && link.channels.isEmpty)
    link.protect(encrypted)
    world.settle()
    #expect(told == [[5], [7]] && link.channels.count == 2)
    #expect(try bearers(id) == 3)
  }

  @Test("A device that refuses them is asked once, for one")
  func refused() throws {
    let (id, link) = try connect { $0.refusal = GAPError.connectionFailed.error("no") }
    #expect(link.channels.count == 1)
    #expect(try bearers(id) == nil)
    link.protect(LinkSecurity(level: 3, keySize: 16))
    world.settle()
    #expect(link.channels.count == 1)
  }

  @Test("A device without room is asked again for a while: it may have been opening its own")
  func withoutRoom() throws {
    let (id, link) = try connect { $0.refusal = BledError.limitReached.error("no room") }
    // The discovery has taken a second.
    #expect(link.channels.count == 2)
    link.refusal = nil
    world.scheduler.advance(by: .seconds(6))
    #expect(link.channels.count == 4)
    #expect(try bearers(id) == 3)
  }

  @Test("A device that never has room is asked four times")
  func neverRoom() throws {
    let (id, link) = try connect { $0.refusal = BledError.limitReached.error("no room") }
    world.scheduler.advance(by: .seconds(3600))
    #expect(link.channels.count == 4)
    #expect(try bearers(id) == nil)
  }

  @Test("On a link that has ended none is asked for")
  func withoutRoomAndLink() throws {
    let (_, link) = try connect { $0.refusal = BledError.limitReached.error("no room") }
    link.end(reason: 0x13)
    world.scheduler.advance(by: .seconds(3600))
    #expect(link.channels.count == 2)
  }

  @Test("Only the first one is asked for again, and not where the device refuses it for good")
  func opening() {
    var opening = BearerOpening()
    #expect(!opening.hasBegun)
    let steps = (opening.begin(), opening.begin())
    #expect(steps == (true, false) && opening.hasBegun)
    var other = opening
    let delays = (0..<4).map { _ in opening.refused(lacksRoom: true) }
    #expect(delays == [.seconds(1), .seconds(5), .seconds(25), nil])
    let (isNextDue, second) = (other.opened(), other.refused(lacksRoom: true))
    #expect(isNextDue && second == nil)
    var last = BearerOpening()
    _ = last.begin()
    let refusals = [last.refused(lacksRoom: false), last.refused(lacksRoom: true)]
    #expect(refusals == [nil, nil])
  }

  // MARK: Using them

  @Test("Reads of one program are under way on all bearers at once, and answered as the device answers")
  func atOnce() throws {
    let (id, link) = try connect()
    peer.isMute = true
    let calls = try [0x2A38, 0x2A56, 0x2A00, 0x2A01].map { try read(BluetoothUUID($0 as UInt16), id) }
    world.settle()
    #expect(peer.received.last == request(0x0A, 0x2A38))
    #expect(link.channels.map(\.sent) == [[request(0x0A, 0x2A56)], [request(0x0A, 0x2A00)]])
    link.channels[1].onEvent?(.received([0x0B, 3]))
    #expect(try client.answer(to: calls[2], GATTRead.self)?.get().value.octets == [3])
    #expect(link.channels[1].sent.last == request(0x0A, 0x2A01), "the next one takes its place")
    link.channels[0].onEvent?(.received([0x0B, 2]))
    link.channels[1].onEvent?(.received([0x0B, 4]))
    link.deliver([0x0B, 1])
    world.settle()
    #expect(try values(calls) == [[1], [2], [3], [4]])
  }

  @Test("What one program writes waits for what it asked before, and holds what it asks after; another goes on")
  func order() throws {
    let (id, link) = try connect()
    let other = world.client()
    try world.connect(other, peer)
    peer.isMute = true
    let (first, second) = (link.channels[0], link.channels[1])
    _ = try read(0x2A38, id)
    _ = try write(0x2A56, id)
    _ = try read(0x2A00, id)
    _ = try read(0x2A01, id, by: other)
    _ = try read(0x2A38, id, by: other)
    world.settle()
    #expect(first.sent == [request(0x0A, 0x2A01)] && second.sent.isEmpty)
    link.deliver([0x0B, 1])
    world.settle()
    #expect(peer.received.last == request(0x12, 0x2A56, 9))
    #expect(second.sent == [request(0x0A, 0x2A38)])
    first.onEvent?(.received([0x0B, 1]))
    #expect(first.sent.count == 1, "its own later read waits for the write")
    link.deliver([0x13])
    world.settle()
    #expect(peer.received.last == request(0x0A, 0x2A00))
  }

  @Test("One attribute is asked for by one at a time")
  func sameHandle() throws {
    let (id, link) = try connect()
    let other = world.client()
    try world.connect(other, peer)
    peer.isMute = true
    _ = try read(0x2A38, id)
    _ = try read(0x2A38, id, by: other)
    world.settle()
    #expect(link.channels.allSatisfy { $0.sent.isEmpty })
  }

  @Test("Write Commands stay in order with what their program asks on enhanced bearers, before and after them")
  func commands() throws {
    let (id, link) = try connect()
    peer.isMute = true
    _ = try read(0x2A38, id)
    _ = try read(0x2A00, id)
    _ = try write(0x2A56, id, response: false)
    _ = try read(0x2A01, id)
    world.settle()
    #expect(peer.received.last == request(0x0A, 0x2A38), "the command waits for the read of 2A00")
    link.channels[0].onEvent?(.received([0x0B, 1]))
    world.settle()
    #expect(peer.received.last == request(0x52, 0x2A56, 9))
    #expect(link.channels.map(\.sent.count) == [1, 0], "the read after it waits for the bearer it went on")
    link.deliver([0x0B, 1])
    world.settle()
    #expect(peer.received.last == request(0x0A, 0x2A01))
    _ = try read(0x2A00, id)
    world.settle()
    #expect(link.channels.map(\.sent.count) == [1, 0], "the answer to what was sent before it says nothing of it")
    link.deliver([0x0B, 1])
    world.settle()
    #expect(peer.received.last == request(0x0A, 0x2A00))
    _ = try read(0x2A01, id)
    world.settle()
    #expect(link.channels.map(\.sent.count) == [2, 0], "it has arrived")
  }

  @Test("What only the first bearer takes is not overtaken again and again by others for its attributes")
  func turns() throws {
    let (id, link) = try connect()
    let (other, third) = (world.client(), world.client())
    for client in [other, third] { try world.connect(client, peer) }
    peer.isMute = true
    _ = try read(0x2A01, id)
    _ = try read(0x2A38, id, by: other)
    world.settle()
    let places = [0x2A38, 0x2A56].map { AttributePath.handle(peer.handle(of: BluetoothUUID($0 as UInt16))) }
    _ = try third.call(GATTReadMultiple.self, .init(peripheral: id, attributes: places))
    for _ in 0..<2 { _ = try read(0x2A38, id, by: other) }
    world.settle()
    link.channels[0].onEvent?(.received([0x0B, 1]))
    world.settle()
    #expect(link.channels.map(\.sent.count) == [1, 0], "who came later waits")
    link.deliver([0x0B, 1])
    world.settle()
    #expect(peer.received.last?.first == 0x0E)
  }

  // MARK: Their end

  @Test("A bearer that ends: its read is asked again, the link stays, and nothing is opened anew")
  func endsReading() throws {
    let (id, link) = try connect()
    peer.isMute = true
    let calls = try [0x2A38, 0x2A56].map { try read(BluetoothUUID($0 as UInt16), id) }
    world.settle()
    link.channels[0].onEvent?(.ended(GAPError.disconnected.error("closed")))
    #expect(link.channels[1].sent == [request(0x0A, 0x2A56)])
    #expect(try bearers(id) == 2)
    link.channels[1].onEvent?(.ended(GAPError.disconnected.error("closed")))
    peer.isMute = false
    link.deliver([0x0B, 1])
    world.settle()
    #expect(try values(calls).map(\.?.count) == [1, 512])
    #expect(try bearers(id) == nil)
    #expect(link.channels.count == 2 && !link.wasDisconnected)
  }

  @Test("A bearer that ends: its write fails, as its effect is unknown")
  func endsWriting() throws {
    let (id, link) = try connect()
    let other = world.client()
    try world.connect(other, peer)
    peer.isMute = true
    _ = try read(0x2A38, id, by: other)
    let call = try write(0x2A56, id)
    world.settle()
    #expect(link.channels[0].sent == [request(0x12, 0x2A56, 9)])
    link.channels[0].onEvent?(.ended(GAPError.disconnected.error("closed")))
    let error = try #require(try client.error(of: call, GATTWrite.self))
    #expect(error.data?.name == "disconnected" && error.message.contains("may be in force"))
    #expect(!link.wasDisconnected)
  }

  @Test("A read without an answer for 30 s fails alone: its channel is closed, the link stays")
  func timeout() throws {
    let (id, link) = try connect()
    let other = world.client()
    try world.connect(other, peer)
    peer.delay = .seconds(29)
    _ = try read(0x2A38, id, by: other)
    let call = try read(0x2A56, id)
    world.scheduler.advance(by: .seconds(31))
    #expect(try client.error(of: call, GATTRead.self)?.data?.name == "timeout")
    #expect(link.channels.map(\.isClosed) == [true, false] && !link.wasDisconnected)
  }

  @Test("The link ends: all fails once, and the channels are closed")
  func linkEnds() throws {
    let (id, link) = try connect()
    peer.isMute = true
    let calls = try [0x2A38, 0x2A56, 0x2A00, 0x2A01].map { try read(BluetoothUUID($0 as UInt16), id) }
    world.settle()
    link.end(reason: 0x13)
    for call in calls { #expect(try client.error(of: call, GATTRead.self)?.data?.name == "disconnected") }
    #expect(link.channels.allSatisfy { $0.isClosed })
  }

  @Test("A device that asks on an enhanced bearer and takes no answers loses that bearer")
  func noCredits() throws {
    let (id, link) = try connect()
    link.channels[0].credits = 0
    for _ in 0..<8 { link.channels[0].onEvent?(.received([0x0A, 3, 0])) }
    #expect(try bearers(id) == 3)
    link.channels[0].onEvent?(.received([0x0A, 3, 0]))
    #expect(try bearers(id) == 2)
    #expect(link.channels[0].isClosed && !link.wasDisconnected)
  }

  @Test("While a program that cannot keep up holds the link, they are not read either")
  func held() throws {
    let (id, link) = try connect()
    try world.subscribe(client, id, peer.handle(of: 0x2A37))
    client.reads = false
    let handle = peer.handle(of: 0x2A37)
    for _ in 0..<4000 where link.isReading { peer.notify(handle, [UInt8](repeating: 1, count: 200)); world.settle() }
    #expect(!link.isReading && link.channels.allSatisfy { !$0.isReading })
    world.catchUp(client)
    #expect(link.isReading && link.channels.allSatisfy { $0.isReading })
  }
}
