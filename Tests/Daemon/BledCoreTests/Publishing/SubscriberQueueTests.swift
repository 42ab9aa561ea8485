import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// The queue of each subscriber, and its confirmations.
@Suite struct SubscriberQueueTests: ServerSuite {
  let stage: ServerStage
  /// Another phone, whose link is often full.
  private let slow: ScriptedPeer
  private let slowLink: ScriptedLink

  init() throws {
    stage = try ServerStage()
    slow = stage.world.peer("C0:00:00:00:00:02")
    slowLink = stage.world.adapter.bringUp(slow, role: .peripheral)
    stage.world.settle()
  }

  /// - Returns: the identifiers of the phone and the slow one.
  private func subscribeBoth(_ handle: UInt16, _ configuration: ClientConfiguration) throws -> [String] {
    subscribe(handle, configuration)
    slowLink.deliver([0x12, UInt8(handle + 1), 0, UInt8(configuration.rawValue), 0])
    world.settle()
    let centrals = try client.notifications(ServerSubscribed.self).map(\.central)
    try #require(centrals.count == 2)
    return centrals
  }

  private func notify(
    _ handle: UInt16, _ value: UInt8, _ policy: ServerNotify.WhenFull? = nil, confirmation: Int? = nil
  ) throws -> ServerNotify.Result {
    try client.result(
      ServerNotify.self,
      .init(handle: handle, value: HexBytes([value]), whenFull: policy, confirmation: confirmation))
  }

  /// The values that the slow phone received.
  private func received() -> [UInt8] { slow.received.filter { [0x1B, 0x1D].contains($0[0]) }.map { $0[3] } }

  private func confirmations() throws -> [ServerConfirmed.Params] {
    try client.notifications(ServerConfirmed.self)
  }

  @Test("\"skip\": a subscriber without room misses the values beyond its queue, the others none")
  func skip() throws {
    let centrals = try subscribeBoth(asked, .notification)
    slowLink.isWritable = false
    for number in 0..<20 as Range<UInt8> {
      let result = try notify(asked, number, .skip)
      let isFull = number >= QueuedUpdates.maximum
      #expect(result.sent && result.receivers == (isFull ? 1 : 2))
      #expect(result.missed == (isFull ? [centrals[1]] : nil))
    }
    world.settle()
    #expect(phone.values.map(\.value) == (0..<20).map { [$0] } && received().isEmpty)
    slowLink.isWritable = true
    world.settle()
    #expect(received() == Array(0..<16))
    #expect(try notify(asked, 20, .skip).missed == nil)
    world.settle()
    #expect(received().last == 20)
  }

  @Test("\"newest\": a value replaces the waiting one")
  func newest() throws {
    let centrals = try subscribeBoth(asked, .notification)
    slowLink.isWritable = false
    for number in 0..<3 as Range<UInt8> {
      let result = try notify(asked, number, .newest)
      #expect(result.receivers == 2 && result.missed == (number == 0 ? nil : [centrals[1]]))
    }
    slowLink.isWritable = true
    world.settle()
    #expect(phone.values.map(\.value) == [[0], [1], [2]] && received() == [2])
  }

  @Test("a value for all does not overtake queued ones")
  func order() throws {
    _ = try subscribeBoth(asked, .notification)
    slowLink.makeRoom(0)
    _ = try notify(asked, 0, .skip)
    _ = try notify(asked, 1, .skip)
    #expect(try !notify(asked, 2).sent)
    slowLink.makeRoom(1)
    #expect(try !notify(asked, 2).sent)
    slowLink.makeRoom(2)
    world.settle()
    #expect(try !client.notifications(ServerReady.self).isEmpty)
    #expect(try notify(asked, 2).sent)
    world.settle()
    #expect(received() == [0, 1, 2] && phone.values.map(\.value) == [[0], [1], [2]])
  }

  @Test("each subscriber's confirmation is reported when it comes")
  func confirmed() throws {
    let centrals = try subscribeBoth(indicated, .indication)
    slow.isMute = true
    for number in [5, 6] {
      let result = try notify(indicated, UInt8(number), confirmation: number)
      #expect(result.sent && result.indicated == centrals)
    }
    world.settle()
    #expect(try confirmations().map(\.central) == [centrals[0], centrals[0]])
    #expect(try confirmations().map(\.confirmation) == [5, 6])
    for number in [5, 6] {
      slowLink.deliver([0x1E])
      world.settle()
      let last = try #require(try confirmations().last)
      #expect(last.central == centrals[1] && last.confirmation == number && last.handle == indicated)
    }
    #expect(try confirmations().allSatisfy { $0.error == nil } && confirmations().count == 4)
  }

  @Test("a value without a number, or for notifications, has no report")
  func unasked() throws {
    _ = try subscribeBoth(indicated, .indication)
    subscribe(asked, .notification)
    #expect(try notify(indicated, 1).indicated == nil)
    #expect(try notify(asked, 1, confirmation: 1).indicated == nil)
    world.settle()
    #expect(try confirmations().isEmpty)
    let error = #expect(throws: RPCError.self) { try notify(indicated, 1, confirmation: -1) }
    #expect(error?.message.contains("\"confirmation\" must be 0 to 4294967295") == true)
  }

  @Test("values that will not be confirmed have their reason", arguments: ["unsubscribed", "disconnected", "removed"])
  func unconfirmed(_ end: String) throws {
    let central = try subscribeBoth(indicated, .indication)[1]
    slow.isMute = true
    for number in 0..<10 {
      // Eight wait for confirmations, one after the other; two in the queue.
      _ = try notify(indicated, UInt8(number), .skip, confirmation: number)
    }
    world.settle()
    client.forget()
    switch end {
    case "unsubscribed": slowLink.deliver([0x12, UInt8(indicated + 1), 0, 0, 0])
    case "disconnected": slowLink.end(reason: 0x13)
    default: _ = try client.result(ServiceRemove.self, .init())
    }
    world.settle()
    let failed = try confirmations()
    #expect(failed.allSatisfy { $0.error != nil && $0.central == central })
    #expect(failed.map(\.confirmation).sorted() == (end == "disconnected" ? Array(0..<10) : [8, 9]))
    guard end == "unsubscribed" else { return }
    // The others are on their way.
    for _ in 0..<8 {
      slowLink.deliver([0x1E])
      world.settle()
    }
    #expect(try confirmations().count == 10 && confirmations().suffix(8).allSatisfy { $0.error == nil })
  }

  @Test("a newer value ends the wait for the confirmation of the one that it replaces")
  func replaced() throws {
    let central = try subscribeBoth(indicated, .indication)[1]
    slow.isMute = true
    for number in 0..<10 { _ = try notify(indicated, UInt8(number), .newest, confirmation: number) }
    world.settle()
    let failed = try confirmations().filter { $0.error != nil && $0.central == central }
    #expect(failed.map(\.confirmation) == [8])
    #expect(failed.first?.error?.data?.name == "tooSlow")
  }

  @Test("the queue of a session ends with it, and others keep theirs")
  func endedSession() throws {
    let other = world.client()
    let added = try other.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x1815, characteristics: [.init(uuid: 0x2A56, properties: ["notify"])])))
    let handle = try #require(added.service.characteristics?.first?.handle)
    _ = try subscribeBoth(asked, .notification)
    slowLink.deliver([0x12, UInt8(handle + 1), 0, 1, 0])
    world.settle()
    slowLink.isWritable = false
    _ = try notify(asked, 1, .skip)
    _ = try other.result(ServerNotify.self, .init(handle: handle, value: HexBytes([2]), whenFull: .skip))
    client.die()
    world.settle()
    slowLink.isWritable = true
    world.settle()
    #expect(received() == [2])
  }

  @Test("a queued value waits for a device that must discover changed services")
  func outOfSync() throws {
    _ = try subscribeBoth(asked, .notification)
    let ours = world.daemon.links.database.attributes.services.flatMap(\.characteristics)
    let features = try #require(ours.first { $0.uuid == 0x2B29 }).valueHandle
    let hash = try #require(ours.first { $0.uuid == 0x2B2A }).valueHandle
    slowLink.deliver([0x12, UInt8(features), 0, 1])
    world.settle()
    slowLink.isWritable = false
    _ = try notify(asked, 1, .skip)
    _ = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    slowLink.isWritable = true
    world.settle()
    #expect(received().isEmpty)
    // Read By Type of the Database Hash: refused, then the device counts as aware (Core 5.4, Vol 3, Part G, 2.5.2.1).
    for _ in 0..<2 {
      slowLink.deliver([0x08, UInt8(hash), 0, UInt8(hash), 0, 0x2A, 0x2B])
      world.settle()
    }
    slowLink.deliver([0x0A, UInt8(fixed), 0])
    world.settle()
    #expect(received() == [1])
  }
}

/// The queue itself.
@Suite struct QueuedUpdatesTests {
  private func update(_ handle: UInt16, _ value: UInt8) -> ServerUpdate { ServerUpdate(handle: handle, value: [value]) }

  @Test("a full queue refuses a value, or gives up its oldest")
  func full() {
    var queue = QueuedUpdates()
    for handle in 0..<16 as Range<UInt16> { #expect(queue.append(update(handle, 0), isNewest: true) == nil) }
    #expect(queue.append(update(99, 1), isNewest: false)?.handle == 99)
    #expect(queue.append(update(99, 1), isNewest: true)?.handle == 0)
    #expect(queue.append(update(5, 1), isNewest: true)?.value == [0])
    #expect(queue.removeAll { $0.handle < 15 && $0.value == [0] }.count == 13)
    var left: [UInt16] = []
    while let next = queue.removeFirst() { left.append(next.handle) }
    #expect(left == [15, 99, 5] && queue.isEmpty)
  }
}
