import ATT
import Adapter
import BledRPC
import Bluetooth
import EventLoop
import GATT
import Glibc
import Testing

@testable import BledCore

/// Values of a published characteristic over a socket of their own.
@Suite struct ServerAcquireTests: ServerSuite, DescriptorSuite {
  let stage: ServerStage
  let loop: EventLoop

  init() throws {
    stage = try ServerStage(.init(name: "bled test", hasEnhancedBearers: true))
    loop = try EventLoop()
    stage.world.daemon.passDescriptors(ValueSockets(loop: loop, turns: try ClientTurns(on: loop)))
  }

  /// The identifier of the phone, once it has subscribed.
  private func central(_ handle: UInt16, _ configuration: ClientConfiguration) throws -> String {
    subscribe(handle, configuration)
    return try #require(try client.notifications(ServerSubscribed.self).last).central
  }

  private func acquire(
    _ handle: UInt16, _ central: String
  ) throws -> (result: ServerAcquire.Result, descriptor: Int32) {
    let result = try client.result(ServerAcquire.self, .init(central: central, handle: handle))
    try settle()
    let passed = try #require(client.takePassed())
    return (result, withExtendedLifetime(passed) { dup(passed.number) })
  }

  private var told: [[UInt8]] { phone.values.map(\.value) }

  @Test("packets of the program are notified, writes of the device become packets; closing the descriptor ends it")
  func bothWays() throws {
    let central = try central(asked, .notification)
    let (result, descriptor) = try acquire(asked, central)
    #expect(result == .init(sends: true, receives: true, maximumLength: 20))
    for number in 0..<100 { #expect(write(descriptor, [UInt8(number)]) == 1) }
    try settle()
    #expect(told == (0..<100).map { [UInt8($0)] })
    _ = phone(.writeWithoutResponse(asked, [1, 2]))
    #expect(try phone(.write(asked, [3]))?.get() == .done)
    #expect(try phone(.writeLong(asked, Array(repeating: 7, count: 100)))?.get() == .done)
    try settle()
    #expect(read(descriptor) == [[1, 2], [3], Array(repeating: 7, count: 100)])
    #expect(try client.calls(ServerWrite.self).isEmpty, "not on the socket, too")
    let question = phone.start(.read(asked))
    world.settle()
    #expect(try client.calls(ServerRead.self).count == 1, "what is read is still asked for")
    try client.answer(try #require(client.calls(ServerRead.self).first).id, ServerRead.Result(value: HexBytes([9])))
    world.settle()
    #expect(try phone.results[question]?.get() == .value([9]))
    #expect(write(descriptor, [5]) == 1)
    close(descriptor)
    try settle()
    #expect(told.last == [5], "what was written before the end is sent")
    #expect(try client.notifications(ServerReleased.self).isEmpty)
    _ = phone(.writeWithoutResponse(asked, [4]))
    #expect(try client.calls(ServerWrite.self).count == 1)
  }

  @Test("a program that shuts down its sending reads the end when all that it wrote was sent")
  func shutdown() throws {
    let central = try central(asked, .notification)
    let (_, descriptor) = try acquire(asked, central)
    link.isWritable = false
    for number in 0..<3 { #expect(write(descriptor, [UInt8(number)]) == 1) }
    #expect(Glibc.shutdown(descriptor, Int32(SHUT_WR)) == 0)
    // Without end it would be read again and again.
    for _ in 0..<50 { _ = try loop.poll() }
    #expect(read(descriptor).isEmpty, "what was written waits for room")
    link.isWritable = true
    for _ in 0..<50 { _ = try loop.poll() }
    world.settle()
    #expect(told == [[0], [1], [2]])
    #expect(read(descriptor) == [nil])
    #expect(try client.notifications(ServerReleased.self).isEmpty)
    close(descriptor)
  }

  @Test("indications go one by one, as fast as the device confirms them; none is lost")
  func indications() throws {
    let central = try central(indicated, .indication)
    let (result, descriptor) = try acquire(indicated, central)
    #expect(result == .init(sends: true, receives: false, maximumLength: 20))
    for number in 0..<50 { #expect(write(descriptor, [UInt8(number)]) == 1) }
    try settle()
    #expect(told == (0..<50).map { [UInt8($0)] })
    close(descriptor)
  }

  @Test("without room on the link packets stay with the program; none is lost, and the end of the link counts them")
  func backPressure() throws {
    let central = try central(asked, .notification)
    let (_, descriptor) = try acquire(asked, central)
    link.isWritable = false
    var sent = 0
    while write(descriptor, [UInt8(sent & 0xFF), UInt8(sent >> 8)]) == 2 {
      sent += 1
      if sent % 50 == 0 { try settle() }
      try #require(sent < 10_000)
    }
    try settle()
    #expect(told.isEmpty)
    link.isWritable = true
    try settle()
    #expect(told == (0..<sent).map { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    link.isWritable = false
    for _ in 0..<5 { #expect(write(descriptor, [1]) == 1) }
    try settle()
    link.end(reason: 0x13)
    try settle()
    let released = try #require(try client.notifications(ServerReleased.self).first)
    #expect(released.unsent == 5 && released.reason.data?.name == "disconnected" && released.central == central)
    #expect(read(descriptor) == [nil])
    close(descriptor)
  }

  @Test("a program that does not read: responses wait, commands are dropped and told, and the rest follows")
  func slowReader() throws {
    let central = try central(asked, .notification)
    let (_, descriptor) = try acquire(asked, central)
    var number = 0
    func command() {
      link.deliver([0x52, UInt8(asked & 0xFF), UInt8(asked >> 8), UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)])
      number += 1
      world.scheduler.advance(by: .milliseconds(2))
    }
    while link.isReading, number < 2000 { command() }
    try #require(!link.isReading)
    world.scheduler.advance(by: .seconds(20))
    #expect(link.isReading, "not for ever")
    let question = phone.start(.write(asked, [0xFF, 0xFF]))
    world.settle()
    #expect(phone.results[question] == nil, "it waits until the program has read")
    let accepted = number
    for _ in 0..<1000 { command() }
    world.settle()
    var values: [[UInt8]] = []
    while true {
      let some = read(descriptor).compactMap { $0 }
      if some.isEmpty { break }
      values += some
      try settle()
    }
    #expect(try phone.results[question]?.get() == .done)
    let numbers = values.filter { $0 != [0xFF, 0xFF] }.map { Int($0[0]) | Int($0[1]) << 8 }
    #expect(numbers == Array(0..<numbers.count) && numbers.count > accepted && values.count == numbers.count + 1)
    let lost = try client.notifications(ServerWritesLost.self)
    #expect(lost.map(\.packets) == [number - numbers.count] && lost.first?.central == central)
    command()
    try settle()
    #expect(read(descriptor).count == 1, "after the gap it goes on")
    close(descriptor)
  }

  @Test("writes on two bearers that wait for the program are both answered when it has read")
  func writesOnTwoBearers() throws {
    let central = try central(asked, .notification)
    let (_, descriptor) = try acquire(asked, central)
    let handle = [UInt8(asked & 0xFF), UInt8(asked >> 8)]
    for _ in 0..<2000 where link.isReading {
      link.deliver([0x52] + handle + [1])
      world.scheduler.advance(by: .milliseconds(2))
    }
    try #require(!link.isReading)
    world.scheduler.advance(by: .seconds(20))
    link.protect(LinkSecurity(level: 2, keySize: 16))
    let channel = ScriptedChannel(0x27, .enhanced)
    link.onEvent?(.channel(channel))
    let question = phone.start(.write(asked, [2]))
    world.settle()
    channel.onEvent?(.received([0x12] + handle + [3]))
    world.settle()
    #expect(phone.results[question] == nil && channel.sent.isEmpty)
    while !read(descriptor).isEmpty { try settle() }
    #expect(try phone.results[question]?.get() == .done)
    #expect(channel.sent == [[0x13]])
    close(descriptor)
  }

  @Test("a write that was not read before the end is refused")
  func unread() throws {
    let central = try central(asked, .notification)
    let (_, descriptor) = try acquire(asked, central)
    for _ in 0..<2000 where link.isReading {
      link.deliver([0x52, UInt8(asked & 0xFF), UInt8(asked >> 8), 1])
      world.scheduler.advance(by: .milliseconds(2))
    }
    try #require(!link.isReading)
    world.scheduler.advance(by: .seconds(20))
    let question = phone.start(.write(asked, [2]))
    world.settle()
    close(descriptor)
    try settle()
    #expect(phone.results[question] == .failure(.att(.unlikelyError, handle: asked)))
  }

  @Test("the device's unsubscribing, a packet that is too long, and the removal of the service end it, with the reason")
  func ends() throws {
    let central = try central(asked, .notification)
    do {
      let (_, descriptor) = try acquire(asked, central)
      subscribe(asked, [])
      try settle()
      #expect(read(descriptor) == [nil])
      #expect(
        try client.notifications(ServerReleased.self).map(\.reason.message) == ["the device has unsubscribed"])
      close(descriptor)
    }
    client.forget()
    do {
      let (result, descriptor) = try acquire(asked, central)
      #expect(!result.sends && result.receives)
      #expect(write(descriptor, [1]) == 1)
      try settle()
      let released = try #require(try client.notifications(ServerReleased.self).first)
      #expect(released.unsent == 1 && released.reason.data?.name == "notAllowedByProperties")
      close(descriptor)
    }
    client.forget()
    subscribe(asked, .notification)
    do {
      let (_, descriptor) = try acquire(asked, central)
      #expect(write(descriptor, Array(repeating: 1, count: 21)) == 21)
      try settle()
      let released = try #require(try client.notifications(ServerReleased.self).first)
      #expect(released.reason.message == "a packet of 21 octets was written; the limit on this link is 20")
      #expect(released.unsent == 1 && told.isEmpty)
      close(descriptor)
    }
    client.forget()
    let (_, descriptor) = try acquire(asked, central)
    _ = try client.result(ServiceRemove.self, .init(handle: service.handle))
    try settle()
    #expect(try client.notifications(ServerReleased.self).map(\.reason.data?.name) == ["unknownHandle"])
    #expect(read(descriptor) == [nil])
    close(descriptor)
  }

  @Test("several devices have a descriptor each")
  func severalDevices() throws {
    let first = try central(asked, .notification)
    let other = world.peer("C0:00:00:00:00:02")
    let otherLink = world.adapter.bringUp(other, role: .peripheral)
    otherLink.deliver([0x12, UInt8(asked + 1 & 0xFF), UInt8((asked + 1) >> 8), 1, 0])
    world.settle()
    let second = try #require(try client.notifications(ServerSubscribed.self).last).central
    let one = try acquire(asked, first).descriptor
    let two = try acquire(asked, second).descriptor
    link.isWritable = false
    #expect(write(one, [1]) == 1 && write(two, [2]) == 1)
    otherLink.deliver([0x52, UInt8(asked & 0xFF), UInt8(asked >> 8), 8])
    try settle()
    #expect(told.isEmpty && other.received.last == [0x1B, UInt8(asked & 0xFF), UInt8(asked >> 8), 2])
    #expect(read(one).isEmpty && read(two) == [[8]])
    close(one)
    close(two)
  }

  @Test("what cannot be acquired is refused, with the reason; a session that ends gives back all")
  func refused() throws {
    func refusal(_ handle: UInt16, _ central: String, _ client: TestClient? = nil) throws -> String? {
      try (client ?? self.client).error(ServerAcquire.self, .init(central: central, handle: handle))?.data?.name
    }
    #expect(try refusal(asked, "nobody") == "notConnected")
    let central = try central(asked, .notification)
    #expect(try refusal(asked, central, world.client()) == "unknownHandle", "it belongs to another session")
    #expect(try refusal(fixed, central) == "notAllowedByProperties")
    #expect(try refusal(indicated, central) == "notAllowedByProperties", "the device has not subscribed")
    let (_, descriptor) = try acquire(asked, central)
    defer { close(descriptor) }
    #expect(try refusal(asked, central) == "alreadyInProgress")
    let account = client.session?.account
    #expect(account?.acquisitions == 1)
    client.die()
    try settle()
    #expect(account?.acquisitions == 0 && read(descriptor) == [nil])
  }
}
