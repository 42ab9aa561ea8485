import BledRPC
import Bluetooth
import Dispatch
import EventLoop
import Foundation
import GATT
import Glibc
import TestSupport
import Testing

@testable import BledCore

/// Values of a characteristic over a socket of their own, against a scripted device.
@Suite struct AcquireTests: DescriptorSuite {
  let world = World()
  let loop: EventLoop
  private let client: TestClient
  private let peer: ScriptedPeer
  private let peripheral: String
  /// Notifies and can be written without response; 0xFFE2 can only be read.
  private let pipe: UInt16

  init() throws {
    loop = try EventLoop()
    world.daemon.passDescriptors(ValueSockets(loop: loop, turns: try ClientTurns(on: loop)))
    client = world.client()
    peer = world.peer()
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0xFFE0,
        characteristics: [
          CharacteristicDefinition(uuid: 0xFFE1, properties: [.notify, .writeWithoutResponse], value: .stored([])),
          CharacteristicDefinition(uuid: 0xFFE2, properties: [.read], value: .stored([])),
        ]))
    pipe = peer.handle(of: 0xFFE1)
    peripheral = try world.connect(client, peer).peripheral
  }

  private func ask(
    _ client: TestClient, _ characteristic: BluetoothUUID, values: Bool? = nil, writes: Bool? = nil,
    closing: Bool? = nil
  ) throws -> Int {
    let id = try client.call(
      GATTAcquire.self,
      .init(
        peripheral: peripheral, attribute: .characteristic(characteristic), values: values, writes: writes,
        closing: closing))
    try settle()
    return id
  }

  /// The answer to the session, and a duplicate of its descriptor.
  private func acquire(
    _ client: TestClient, values: Bool? = nil, writes: Bool? = nil, closing: Bool? = nil
  ) throws -> (result: GATTAcquire.Result, descriptor: Int32) {
    let id = try ask(client, 0xFFE1, values: values, writes: writes, closing: closing)
    let result = try #require(try client.answer(to: id, GATTAcquire.self)).get()
    let passed = try #require(client.takePassed())
    return (result, dup(passed.number))
  }

  /// The Write Commands received by the device.
  private var written: [[UInt8]] { peer.received.filter { $0.first == 0x52 }.map { Array($0[3...]) } }

  @Test("packets of the program become Write Commands, notifications become packets; closing the descriptor ends it")
  func bothWays() throws {
    let (result, descriptor) = try acquire(client)
    #expect(result == .init(handle: pipe, writes: true, values: true, maximumLength: 244))
    #expect(peer.subscriptions[pipe] == .notification)
    let listed = try client.result(SessionList.self, .init()).sessions.first
    #expect(listed?.acquired == [.init(peripheral: peripheral, handle: pipe)] && listed?.subscriptions == [])
    for number in 0..<100 { #expect(write(descriptor, [UInt8(number)]) == 1) }
    try settle()
    #expect(written == (0..<100).map { [UInt8($0)] })
    peer.notify(pipe, [1, 2])
    peer.notify(pipe, [3])
    try settle()
    #expect(read(descriptor) == [[1, 2], [3]])
    #expect(try client.notifications(GATTValue.self).isEmpty, "not on the socket, too")
    #expect(write(descriptor, [9]) == 1)
    close(descriptor)
    try settle()
    #expect(written.last == [9], "what was written before the end is sent")
    #expect(peer.subscriptions[pipe]?.isEmpty == true)
    #expect(try client.notifications(GATTReleased.self).isEmpty)
    let again = try acquire(client, values: false)
    #expect(!again.result.values && peer.subscriptions[pipe]?.isEmpty == true)
    close(again.descriptor)
  }

  @Test("a value before the device's answer, and a program without room for one more descriptor: it is refused")
  func earlyValueWithoutRoom() throws {
    let uuids = (0..<Outbox.maximumDescriptors).map { BluetoothUUID(0xFFF0 + UInt16($0)) }
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0xFFC0,
        characteristics: uuids.map {
          CharacteristicDefinition(uuid: $0, properties: [.writeWithoutResponse], value: .stored([]))
        }))
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: peripheral))
    for _ in 0..<4 { try settle() }
    _ = try #require(try client.answer(to: discovery, GATTDiscover.self)).get()
    client.reads = false
    for uuid in uuids { _ = try ask(client, uuid) }
    peer.isMute = true
    let id = try ask(client, 0xFFE1, writes: false)
    peer.notify(pipe, [1])
    try settle()
    client.reads = true
    #expect(try client.error(of: id, GATTAcquire.self)?.data?.name == "limitReached")
    peer.isMute = false
    peer.send([0x13])
    try settle()
    #expect(peer.received.last == [0x12, UInt8(pipe + 1), 0, 0, 0], "what was switched on is switched off")
  }

  @Test("a program that hands the descriptor on is told when the other end is closed")
  func closing() throws {
    let (_, descriptor) = try acquire(client, values: false, closing: true)
    #expect(write(descriptor, [1]) == 1)
    close(descriptor)
    try settle()
    let released = try #require(try client.notifications(GATTReleased.self).first)
    #expect(released.reason.data?.name == "cancelled" && released.unsent == 0)
    #expect(released.writes == true && released.values == false)
    #expect(written == [[1]])
  }

  @Test("without room on the link packets stay with the program, which cannot write on; none is lost")
  func backPressure() throws {
    let (_, descriptor) = try acquire(client, values: false)
    let link = try #require(world.adapter.links.first)
    link.isWritable = false
    var sent = 0
    while write(descriptor, [UInt8(sent & 0xFF), UInt8(sent >> 8)]) == 2 {
      sent += 1
      if sent % 50 == 0 { try settle() }
      try #require(sent < 10_000)
    }
    try settle()
    #expect(written.isEmpty && write(descriptor, [0, 0]) < 0)
    link.isWritable = true
    try settle()
    #expect(written == (0..<sent).map { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    close(descriptor)
  }

  @Test("a program that does not read holds its link; then values are dropped, counted and told, and the rest follows")
  func slowReader() throws {
    let (_, descriptor) = try acquire(client)
    let link = try #require(world.adapter.links.first)
    var number = 0
    func notify(_ count: Int) {
      for _ in 0..<count {
        peer.notify(pipe, [UInt8(number & 0xFF), UInt8(number >> 8)] + Array(repeating: 0, count: 200))
        number += 1
        world.scheduler.advance(by: .milliseconds(2))
      }
    }
    while link.isReading { notify(1) }
    #expect(number < 1000)
    let held = number
    notify(2000)
    world.scheduler.advance(by: .seconds(20))
    #expect(link.isReading, "not for ever")
    let numbers = try { () -> [Int] in
      var all: [Int] = []
      while true {
        let some = read(descriptor).compactMap { $0 }.map { Int($0[0]) | Int($0[1]) << 8 }
        if some.isEmpty { return all }
        all += some
        try settle()
      }
    }()
    #expect(numbers == Array(0..<numbers.count) && numbers.count > held)
    let told = try client.notifications(GATTValuesDropped.self)
    #expect(told.map(\.values) == [number - numbers.count] && told.first?.handle == pipe)
    notify(3)
    try settle()
    #expect(read(descriptor).count == 3, "after the gap it goes on")
    close(descriptor)
  }

  @Test("values for which the user has no room at all are told, and those that follow come")
  func noRoom() throws {
    let (_, descriptor) = try acquire(client)
    defer { close(descriptor) }
    let account = try #require(client.session?.account)
    account.octets += 1 << 30
    // More than the kernel holds.
    for _ in 0..<1000 { peer.notify(pipe, Array(repeating: 0, count: 200)) }
    try settle()
    account.octets -= 1 << 30
    let count = read(descriptor).count
    peer.notify(pipe, [2])
    try settle()
    #expect(read(descriptor) == [[2]])
    #expect(try client.notifications(GATTValuesDropped.self).map(\.values) == [1000 - count])
  }

  @Test("one program at a time has a characteristic; a subscription of the same session excludes it")
  func once() throws {
    let other = world.client()
    try world.connect(other, peer)
    let (_, descriptor) = try acquire(client)
    #expect(try other.error(of: ask(other, 0xFFE1), GATTAcquire.self)?.data?.name == "alreadyInProgress")
    #expect(try client.error(of: ask(client, 0xFFE1), GATTAcquire.self)?.data?.name == "alreadyInProgress")
    try world.subscribe(other, peripheral, pipe)
    peer.notify(pipe, [5])
    try settle()
    #expect(read(descriptor) == [[5]])
    #expect(try other.notifications(GATTValue.self).map(\.value.octets) == [[5]])
    close(descriptor)
    try settle()
    #expect(peer.subscriptions[pipe] == .notification, "the other one is still subscribed")
    #expect(try other.error(of: ask(other, 0xFFE1), GATTAcquire.self)?.message.contains("gatt.unsubscribe") == true)
    #expect(try client.error(of: ask(client, 0xFFE2), GATTAcquire.self)?.data?.name == "notAllowedByProperties")
  }

  @Test("the directions are apart: one session writes, another one reads, or the same over two descriptors")
  func directions() throws {
    let other = world.client()
    try world.connect(other, peer)
    let writer = try acquire(client, values: false)
    let reader = try acquire(other, writes: false)
    #expect(writer.result.writes && !writer.result.values && !reader.result.writes && reader.result.values)
    #expect(write(writer.descriptor, [1]) == 1)
    peer.notify(pipe, [2])
    try settle()
    #expect(written == [[1]] && read(reader.descriptor) == [[2]])
    for values in [nil, false] {
      #expect(
        try other.error(of: ask(other, 0xFFE1, values: values), GATTAcquire.self)?.data?.name == "alreadyInProgress")
    }
    #expect(
      try client.error(of: ask(client, 0xFFE1, writes: false), GATTAcquire.self)?.data?.name == "alreadyInProgress")
    close(reader.descriptor)
    try settle()
    #expect(peer.subscriptions[pipe]?.isEmpty == true)
    let own = try acquire(client, writes: false)
    let listed = try client.result(SessionList.self, .init()).sessions.first
    #expect(listed?.acquired == [.init(peripheral: peripheral, handle: pipe)])
    close(writer.descriptor)
    try settle()
    peer.notify(pipe, [3])
    try settle()
    #expect(read(own.descriptor) == [[3]], "the end of one direction is not that of the other")
    #expect(write(own.descriptor, [4]) == 1)
    try settle()
    let released = try #require(try client.notifications(GATTReleased.self).first)
    #expect(released.unsent == 1 && released.values == true && released.writes == false)
    #expect(written == [[1]])
    close(own.descriptor)
  }

  @Test("a session that writes over a socket can subscribe as well")
  func writesAndSubscribes() throws {
    let (_, descriptor) = try acquire(client, values: false)
    try world.subscribe(client, peripheral, pipe)
    peer.notify(pipe, [5])
    try settle()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[5]])
    close(descriptor)
    try settle()
    #expect(peer.subscriptions[pipe] == .notification)
    #expect(
      try client.error(of: ask(client, 0xFFE1, values: false, writes: false), GATTAcquire.self)?.data?.name
        == "invalidParameter")
    #expect(
      try client.error(of: ask(client, 0xFFE2, writes: true), GATTAcquire.self)?.data?.name == "notAllowedByProperties")
  }

  @Test("a change of the services ends it; what has not left is counted, and leaves no more")
  func servicesChange() throws {
    // The connection has discovered nothing yet.
    try peer.furnish()
    let (_, descriptor) = try acquire(client)
    let link = try #require(world.adapter.links.first)
    link.isWritable = false
    for _ in 0..<3 { #expect(write(descriptor, [1]) == 1) }
    try settle()
    let changed = peer.handle(of: 0x2A05)
    link.deliver([0x1D, UInt8(changed & 0xFF), UInt8(changed >> 8), 1, 0, 0xFF, 0xFF])
    try settle()
    let released = try #require(try client.notifications(GATTReleased.self).first)
    #expect(released.unsent == 3 && released.handle == pipe)
    link.isWritable = true
    link.onEvent?(.writable)
    try settle()
    #expect(written.isEmpty)
    close(descriptor)
  }

  @Test("a packet that is too long ends it, and so does the end of the link; both say why, and what was not sent")
  func ends() throws {
    do {
      let (_, descriptor) = try acquire(client)
      #expect(write(descriptor, Array(repeating: 1, count: 300)) == 300)
      #expect(write(descriptor, [1]) == 1)
      try settle()
      let released = try #require(try client.notifications(GATTReleased.self).first)
      #expect(released.reason.message == "a packet of 300 octets was written; the limit on this link is 244")
      #expect(released.handle == pipe && released.unsent == 2 && written.isEmpty)
      #expect(read(descriptor) == [nil])
      close(descriptor)
    }
    client.forget()
    let (_, descriptor) = try acquire(client)
    let link = try #require(world.adapter.links.first)
    link.isWritable = false
    for _ in 0..<5 { #expect(write(descriptor, [1]) == 1) }
    try settle()
    link.end(reason: 0x13)
    try settle()
    let released = try #require(try client.notifications(GATTReleased.self).first)
    #expect(released.unsent == 5 && released.reason.data?.name == "disconnected")
    #expect(read(descriptor) == [nil])
    close(descriptor)
  }

  @Test("closing a socket ends also while its program writes without a pause, and then the program can write no more")
  func writerThatNeverStops() throws {
    let session = try #require(client.session)
    let (socket, passed) = try ValueSockets(loop: loop, turns: try ClientTurns(on: loop)).pair(for: session)
    let descriptor = dup(passed.number)
    defer { close(descriptor) }
    // Signalled when the socket is full, so that packets are waiting when it is closed.
    let (full, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let writer = Thread {
      var isFirst = true
      while true {
        if send(descriptor, [1, 2, 3], 3, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == 3 { continue }
        if errno != EAGAIN { break }
        if isFirst { full.signal() }
        isFirst = false
      }
      ended.signal()
    }
    writer.start()
    let patience = DispatchTimeInterval.seconds(Patience.seconds)
    #expect(full.wait(timeout: .now() + patience) == .success)
    #expect(socket.close() > 0)
    #expect(ended.wait(timeout: .now() + patience) == .success)
  }

  @Test("their number is limited, and a session that ends gives back all of them")
  func limits() throws {
    client.session?.rules.limits.perSession[.acquisitions] = 0
    let refused = try #require(try client.error(of: ask(client, 0xFFE1), GATTAcquire.self))
    #expect(refused.data?.name == "limitReached" && refused.message.contains("limits.perSession.acquisitions"))
    client.session?.rules.limits.perSession[.acquisitions] = 1
    let (_, descriptor) = try acquire(client)
    defer { close(descriptor) }
    #expect(client.session?.account.acquisitions == 1)
    let account = client.session?.account
    client.die()
    try settle()
    #expect(account?.acquisitions == 0)
    #expect(read(descriptor) == [nil])
  }
}
