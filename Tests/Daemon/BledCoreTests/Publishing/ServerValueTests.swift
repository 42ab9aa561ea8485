import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Sending values to the devices that subscribed: G15, P16.
@Suite struct ServerValueTests: ServerSuite {
  let stage: ServerStage

  init() throws { stage = try ServerStage() }

  @Test("G15: the session is told of subscribers; values reach only them")
  func subscribers() throws {
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([1]))).sent)
    subscribe(asked, .notification)
    let subscriber = try #require(try client.notifications(ServerSubscribed.self).first)
    #expect(subscriber.handle == asked && subscriber.maximumLength == 20)
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([2]))).sent)
    let others = ServerNotify.Params(handle: asked, value: HexBytes([3]), centrals: ["somebody else"])
    #expect(try client.result(ServerNotify.self, others).sent)
    let only = ServerNotify.Params(handle: asked, value: HexBytes([4]), centrals: [subscriber.central])
    #expect(try client.result(ServerNotify.self, only).sent)
    world.settle()
    #expect(phone.values.map(\.value) == [[2], [4]])
    link.end(reason: 0x13)
    #expect(try client.notifications(ServerUnsubscribed.self).map(\.central) == [subscriber.central])
  }

  @Test("G15: a value that does not fit is truncated, and the session is told for whom")
  func valuesThatDoNotFit() throws {
    subscribe(asked, .notification)
    let small = try #require(try client.notifications(ServerSubscribed.self).first)
    let large = world.peer("C0:00:00:00:00:02")
    let other = world.adapter.bringUp(large, role: .peripheral)
    // Exchange MTU: 517.
    other.deliver([0x02, 0x05, 0x02])
    other.deliver([0x12, UInt8(asked + 1 & 0xFF), UInt8((asked + 1) >> 8), 1, 0])
    world.settle()
    let subscribers = try client.notifications(ServerSubscribed.self)
    #expect(subscribers.map(\.maximumLength) == [20, 512])
    for (length, truncated) in [(20, nil), (21, [small.central]), (512, [small.central])] as [(Int, [String]?)] {
      let value = HexBytes([UInt8](repeating: 1, count: length))
      let sent = try client.result(ServerNotify.self, .init(handle: asked, value: value))
      #expect(sent.sent && sent.receivers == 2 && sent.truncated == truncated)
    }
    world.settle()
    #expect(phone.values.map(\.value.count) == [20, 20, 20])
    #expect(large.received.filter { $0[0] == 0x1B }.map { $0.count - 3 } == [20, 21, 512])
  }

  @Test("P16: without room nothing is sent, and the session is called when there is room again")
  func roomForNotifications() throws {
    subscribe(asked, .notification)
    link.isWritable = false
    #expect(try !client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([1]))).sent)
    #expect(try client.notifications(ServerReady.self).isEmpty)
    link.isWritable = true
    #expect(try client.notifications(ServerReady.self).count == 1)
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([2]))).sent)
    world.settle()
    #expect(phone.values.map(\.value) == [[2]])
    #expect(try client.notifications(ServerReady.self).count == 1)
  }

  @Test("A device that has not taken in a change of the services gets no values, and the session is told so")
  func outOfSync() throws {
    subscribe(asked, .notification)
    subscribe(indicated, .indication)
    let all = phone(.readByUUID(0x2B29))
    guard case .success(.values(let features)) = all, let handle = features.first?.handle else {
      Issue.record("no Client Supported Features: \(String(describing: all))")
      return
    }
    #expect(try phone(.write(handle, [1]))?.get() == .done)
    let central = try #require(try client.notifications(ServerSubscribed.self).first?.central)
    for changed in [asked, indicated] {
      let result = try client.result(ServerNotify.self, .init(handle: changed, value: HexBytes([1])))
      #expect(result.sent && result.receivers == 1 && result.outOfSync == nil)
    }
    world.settle()
    #expect(phone.values.count == 2)

    let hash = phone(.readByUUID(0x2B2A))
    _ = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    for changed in [asked, indicated] {
      let result = try client.result(ServerNotify.self, .init(handle: changed, value: HexBytes([2])))
      #expect(result.sent && result.receivers == 0 && result.outOfSync == [central])
    }
    #expect(phone(.read(fixed)) == .failure(.att(.databaseOutOfSync, handle: fixed)))
    guard case .success(.values(let before))? = hash, case .success(.values(let after))? = phone(.readByUUID(0x2B2A))
    else {
      Issue.record("no Database Hash")
      return
    }
    #expect(before.first?.value.count == 16 && after.first?.value.count == 16 && before != after)
    #expect(try phone(.read(fixed))?.get() == .value([1]))
    let result = try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([3])))
    #expect(result.receivers == 1 && result.outOfSync == nil)
    world.settle()
    #expect(phone.values.map(\.value) == [[1], [1], [3]])
  }

  @Test("Indications go one by one and have their bound")
  func indications() throws {
    subscribe(indicated, .indication)
    var sent = 0
    while try client.result(ServerNotify.self, .init(handle: indicated, value: HexBytes([UInt8(sent)]))).sent {
      sent += 1
      if sent > 100 { break }
    }
    #expect(sent == SubscriberValues.maximumIndications)
    world.settle()
    #expect(phone.values.map(\.value) == (0..<sent).map { [UInt8($0)] })
    #expect(try client.notifications(ServerReady.self).count == 1)
  }
}
