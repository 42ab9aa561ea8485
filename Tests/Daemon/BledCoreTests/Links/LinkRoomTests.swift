import BledRPC
import Bluetooth
import EventLoop
import GATT
import Glibc
import Testing

@testable import BledCore

/// Programs that send without end over one link, which has room for few packets at a time.
@Suite struct LinkRoomTests: ServerSuite, DescriptorSuite {
  let stage: ServerStage
  let loop: EventLoop

  init() throws {
    stage = try ServerStage()
    loop = try EventLoop()
    stage.world.daemon.passDescriptors(ValueSockets(loop: loop, turns: try ClientTurns(on: loop)))
  }

  /// A program with characteristics that the phone subscribes to.
  private struct Program {
    let client: TestClient
    let handles: [UInt16]
    let central: String
  }

  private func publish(_ count: Int, user: UInt32, _ properties: [CharacteristicProperty] = [.notify]) throws -> Program
  {
    let client = world.client(user: user)
    let added = try client.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x1815, characteristics: .init(repeating: .init(uuid: 0x2A56, properties: properties), count: count))))
    let characteristics = try #require(added.service.characteristics)
    for characteristic in characteristics {
      let descriptor = try #require(characteristic.descriptors?.first { $0.uuid == 0x2902 })
      let isNotified = properties.contains(.notify)
      #expect(
        try phone(.subscribe(descriptor: descriptor.handle, isNotified ? .notification : .indication))?.get() == .done)
    }
    let central = try #require(try client.notifications(ServerSubscribed.self).first).central
    return Program(client: client, handles: characteristics.map(\.handle), central: central)
  }

  /// A descriptor that is always full of packets.
  private func acquire(_ handle: UInt16, of program: Program) throws -> Int32 {
    _ = try program.client.result(ServerAcquire.self, .init(central: program.central, handle: handle))
    try settle()
    let passed = try #require(program.client.takePassed())
    return withExtendedLifetime(passed) { dup(passed.number) }
  }

  private func fill(_ descriptors: [Int32]) {
    for descriptor in descriptors { while write(descriptor, [1]) == 1 {} }
  }

  /// Sends values until one has no room, after `server.ready` if one had none before.
  private func notify(_ program: Program, isFirst: Bool) throws {
    guard try isFirst || !program.client.notifications(ServerReady.self).isEmpty else { return }
    program.client.forget()
    for _ in 0..<100 {
      let result = try program.client.result(
        ServerNotify.self, .init(handle: program.handles[0], value: HexBytes([2])))
      if !result.sent { return }
    }
    Issue.record("there is always room")
  }

  /// The number of received values of the characteristics.
  private func told(_ program: Program) -> [Int] {
    program.handles.map { handle in phone.values.count { $0.handle == handle } }
  }

  @Test("a program that calls server.notify has its share beside descriptors that always have more")
  func calls() throws {
    let acquiring = try publish(1, user: 1000)
    let calling = try publish(1, user: 1001)
    link.makeRoom(0)
    let descriptor = try acquire(acquiring.handles[0], of: acquiring)
    for round in 0..<20 {
      fill([descriptor])
      try settle()
      try notify(calling, isFirst: round == 0)
      link.makeRoom(10)
      try settle()
    }
    let (own, others) = (told(calling)[0], told(acquiring)[0])
    #expect(own + others >= 180 && own * 3 >= others && others * 3 >= own, "\(own) values beside \(others)")
    close(descriptor)
  }

  @Test("descriptors of one link take turns by user, and then one by one")
  func descriptors() throws {
    let one = try publish(2, user: 1000)
    let other = try publish(1, user: 1001)
    link.makeRoom(0)
    let descriptors = try [
      acquire(one.handles[0], of: one), acquire(one.handles[1], of: one), acquire(other.handles[0], of: other),
    ]
    for _ in 0..<20 {
      fill(descriptors)
      try settle()
      link.makeRoom(10)
      try settle()
    }
    let counts = told(one) + told(other)
    #expect(counts.reduce(0, +) == 200)
    #expect(counts[0] >= 45 && counts[1] >= 45 && counts[2] >= 90, "\(counts)")
    for descriptor in descriptors { close(descriptor) }
  }

  @Test("indications that are always waiting to be confirmed leave room for those of others")
  func indications() throws {
    let acquiring = try publish(1, user: 1000, ["indicate"])
    let calling = try publish(1, user: 1001, ["indicate"])
    let descriptor = try acquire(acquiring.handles[0], of: acquiring)
    for round in 0..<20 {
      fill([descriptor])
      for _ in 0..<8 {
        while try loop.poll() {}
        try notify(calling, isFirst: round == 0)
        world.scheduler.advance(by: .milliseconds(2))
      }
    }
    let (own, others) = (told(calling)[0], told(acquiring)[0])
    #expect(own * 3 >= others && others * 3 >= own, "\(own) values beside \(others)")
    close(descriptor)
  }

  @Test("write commands and values of ours share a link by user")
  func bothRoles() throws {
    let publishing = try publish(1, user: 1000)
    let writing = world.client(user: 1001)
    _ = try phone.database.add(
      ServiceDefinition(
        uuid: 0xFFE0,
        characteristics: [.init(uuid: 0xFFE1, properties: [.writeWithoutResponse], value: .stored([]))]))
    let peripheral = try world.connect(writing, phone).peripheral
    let call = try writing.call(
      GATTAcquire.self, .init(peripheral: peripheral, attribute: .characteristic(0xFFE1)))
    try settle()
    _ = try #require(try writing.answer(to: call, GATTAcquire.self)).get()
    let passed = try #require(writing.takePassed())
    link.makeRoom(0)
    let descriptors = try [dup(passed.number), acquire(publishing.handles[0], of: publishing)]
    for _ in 0..<20 {
      fill(descriptors)
      try settle()
      link.makeRoom(10)
      try settle()
    }
    let written = phone.received.count { $0.first == 0x52 }
    #expect(written + told(publishing)[0] == 200 && 90...110 ~= written, "\(written) of 200 are write commands")
    for descriptor in descriptors { close(descriptor) }
  }
}
