import BledRPC
import Bluetooth
import Foundation
import GATT
import Testing

@testable import BledCore

/// Rule 6 for devices' writes without an answer.
@Suite struct WriteCommandTests {
  private let world = World()
  private let server: TestClient
  private let phone: ScriptedPeer
  private let link: ScriptedLink
  private let handle: UInt16

  init() throws {
    server = world.client()
    // Its services stay when it dies.
    _ = try server.result(SessionOpen.self, .init(restore: "lamp"))
    let service = try server.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0xFFE0, characteristics: [.init(uuid: 0xFFE1, properties: ["writeWithoutResponse"])]))
    ).service
    handle = try #require(service.characteristics?.first?.handle)
    phone = world.peer()
    link = world.adapter.bringUp(phone, role: .peripheral)
    world.settle()
  }

  /// The phone writes this range of values of 200 octets, numbered through, two milliseconds each.
  private func write(_ numbers: Range<Int>) {
    for number in numbers {
      let value = [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] + Array(repeating: 5, count: 198)
      link.deliver([0x52, UInt8(handle & 0xFF), UInt8(handle >> 8)] + value)
      world.scheduler.advance(by: .milliseconds(2))
    }
  }

  /// The numbers of the values passed to the server; nil for a reported loss.
  private func handed() throws -> [Int?] {
    server.drain()
    return try server.messages.flatMap { message -> [Int?] in
      switch message.kind {
      case .request(_, ServerWrite.name):
        try message.params(ServerWrite.Params.self).writes.map {
          Int($0.value.octets[0]) << 8 | Int($0.value.octets[1])
        }
      case .notification(ServerWritesLost.name): [nil]
      default: []
      }
    }
  }

  private var waiting: Int { server.session?.outbox.waiting ?? 0 }

  private func packetsLost(_ client: TestClient) throws -> Int? {
    try client.result(SessionList.self, .init()).sessions.first { $0.mine }?.costs.packetsLost
  }

  @Test("a program that is written to faster than it reads slows the link down, and loses nothing (P16)")
  func held() throws {
    server.reads = false
    write(0..<4000)
    #expect(!link.isReading)
    #expect(waiting < Outbox.Limits().reports + 1024)
    world.catchUp(server)
    #expect(link.isReading)
    #expect(try handed() == Array(0..<4000))
  }

  @Test("if it reads nothing for minutes what is written is lost, and counted where the gap is (P16)")
  func lost() throws {
    server.reads = false
    write(0..<6000)
    world.scheduler.advance(by: .seconds(180))
    #expect(link.isReading)
    #expect(waiting < Outbox.Limits().values + 1024)
    world.catchUp(server)
    write(6000..<6010)
    world.settle()
    let seen = try handed()
    let gap = try #require(seen.firstIndex(of: nil))
    #expect(seen == Array(0..<gap) + [nil] + Array(6000..<6010))
    let losses = try server.notifications(ServerWritesLost.self)
    #expect(losses.map(\.packets) == [6000 - gap])
    #expect(try losses.map(\.central) == [#require(world.daemon.links.links.first).peripheral.id])
    #expect(try packetsLost(server) == 6000 - gap)
  }

  @Test("however many devices come and write, what is to be told of their losses has a bound")
  func manyDevices() throws {
    server.reads = false
    write(0..<8000)
    world.scheduler.advance(by: .seconds(60))
    let session = try #require(server.session)
    let before = session.costs.packetsLost
    for number in 0..<1100 {
      let visitor = world.peer(String(format: "C0:00:00:01:%02X:%02X", number >> 8, number & 0xFF))
      let link = world.adapter.bringUp(visitor, role: .peripheral)
      link.deliver([0x52, UInt8(handle & 0xFF), UInt8(handle >> 8)] + Array(repeating: 5, count: 200))
      world.scheduler.advance(by: .milliseconds(2))
      link.end(reason: 0x13)
    }
    #expect(session.untoldLosses.count == ServerBroker.maximumUntold)
    #expect(session.costs.packetsLost == before + 1100)
    world.catchUp(server)
    #expect(session.untoldLosses.isEmpty)
    #expect(try server.notifications(ServerWritesLost.self).count == ServerBroker.maximumUntold)
  }

  @Test("a link that is held is let go when the program ends, and when another one uses the device")
  func letGo() throws {
    server.reads = false
    write(0..<3000)
    #expect(!link.isReading)
    let other = world.client()
    let id = try #require(world.daemon.links.links.first).peripheral.id
    try other.call(PeripheralConnect.self, .init(peripheral: id))
    #expect(link.isReading)
    other.die()
    world.catchUp(server)
    server.reads = false
    write(0..<3000)
    #expect(!link.isReading)
    server.die()
    #expect(link.isReading)
    write(0..<3000)
    #expect(link.isReading, "nobody reads what is kept")
  }

  @Test("a link that is held is let go with the session")
  func ended() throws {
    server.reads = false
    write(0..<3000)
    #expect(!link.isReading)
    try server.call(SessionEnd.self, .init())
    #expect(link.isReading)
  }

  @Test("only the session to which the device writes is told of packets for which there was no room")
  func lostBefore() throws {
    let other = world.client()
    write(0..<1)
    link.lose(3)
    write(1..<2)
    #expect(try handed() == [0, nil, 1])
    #expect(try server.notifications(ServerWritesLost.self).map(\.packets) == [3])
    #expect(try packetsLost(server) == 3)
    #expect(try other.notifications(ServerWritesLost.self).isEmpty)
  }

  @Test("a program that is gone finds what had room, and how much was lost")
  func gone() throws {
    server.die()
    write(0..<3000)
    world.settle()
    let back = world.client()
    let opened = try back.result(SessionOpen.self, .init(restore: "lamp"))
    #expect(opened.restored != nil)
    world.settle()
    let came = try back.calls(ServerWrite.self).count
    let told = try back.notifications(ServerWritesLost.self).reduce(0) { $0 + $1.packets }
    #expect(came > 100 && told > 100 && came + told == 3000)
  }
}
