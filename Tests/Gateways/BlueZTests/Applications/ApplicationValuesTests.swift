import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The values of applications: reads, writes and subscriptions of devices.
extension ApplicationsTests {
  /// Programs look at the device's path: there must be an object.
  @Test func aReadNamesTheDevice() throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    let number = try session.ask(
      ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: 4, mtu: 65))
    world.settle()
    let call = try #require(world.bus.take("ReadValue"))
    #expect(call.path == Self.characteristic)
    let options = ManagedObjects.properties(try #require(call.values.first))
    #expect(options["device"] == .path(FacadeStage.device))
    #expect(options["offset"] == .uint16(4))
    #expect(options["mtu"] == .uint16(65))
    #expect(options["link"] == .string("LE"))
    call.completion(.success([.bytes([1, 2])]))
    let answer = try #require(try? session.answers[number]?.get())
    #expect(try answer.result(ServerRead.Result.self).value.octets == [1, 2])
  }

  /// A device reads a value in parts. Some programs return the whole value each time, others heed the offset.
  @Test(arguments: [false, true]) func aLongValue(heedsOffset: Bool) throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    let value = (0..<64).map { UInt8($0) }
    var questions = 0
    func part(_ offset: Int) throws -> [UInt8] {
      let number = try session.ask(
        ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: offset, mtu: 23))
      world.settle()
      if let call = world.bus.take("ReadValue") {
        questions += 1
        call.completion(.success([.bytes(heedsOffset ? Array(value.dropFirst(offset)) : value)]))
        world.settle()
      }
      return try #require(try? session.answers[number]?.get()).result(ServerRead.Result.self).value.octets
    }
    #expect(try part(0) == value)
    #expect(try part(22) == Array(value[22...]))
    #expect(try part(44) == Array(value[44...]))
    #expect(questions == 1)
    #expect(try part(64).isEmpty, "the end of a value that fills its packets")
    // After a while, and from the beginning, the program is asked again.
    #expect(try part(0) == value)
    world.advance(by: .seconds(31))
    #expect(try part(22) == (heedsOffset ? Array(value[22...]) : value))
  }

  /// The program is asked for more than it returned at first.
  @Test func aValueThatAProgramGivesInParts() throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    for (offset, octets) in [(0, [1, 2]), (2, [3, 4])] as [(Int, [UInt8])] {
      let number = try session.ask(
        ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: offset))
      world.settle()
      try #require(world.bus.take("ReadValue")).completion(.success([.bytes(octets)]))
      world.settle()
      let answer = try #require(try? session.answers[number]?.get())
      #expect(try answer.result(ServerRead.Result.self).value.octets == octets)
    }
  }

  @Test func errorsOfAProgram() throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    for (name, text, code) in [
      ("org.bluez.Error.NotPermitted", "", 0x02), ("org.bluez.Error.Failed", "0x81", 0x81),
      ("org.bluez.Error.Failed", "0x05", 0x80), ("org.bluez.Error.InvalidOffset", "", 0x07),
      ("org.freedesktop.DBus.Error.NoReply", "", 0x0E),
    ] {
      let number = try session.ask(
        ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: 0))
      world.settle()
      try #require(world.bus.take("ReadValue")).completion(.failure(BusError(name: name, message: text)))
      guard case .failure(let error)? = session.answers[number] else {
        Issue.record("\(name): no error")
        continue
      }
      #expect(error.data?.code == code, "\(name)")
    }
  }

  @Test(arguments: [(true, 1, "command"), (nil, 1, "request"), (nil, 2, "reliable")] as [(Bool?, Int, String)])
  func writes(_ withoutResponse: Bool?, _ count: Int, _ type: String) throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    let write = ServerWrite.Write(handle: Self.value, offset: 0, value: HexBytes([7]))
    let number = try session.ask(
      ServerWrite.self,
      ServerWrite.Params(
        central: FacadeStage.central, writes: Array(repeating: write, count: count), withoutResponse: withoutResponse))
    world.settle()
    for _ in 0..<count {
      let call = try #require(world.bus.take("WriteValue"))
      #expect(call.values.first == .bytes([7]))
      #expect(ManagedObjects.properties(try #require(call.values.last))["type"] == .string(type))
      call.completion(.success([]))
    }
    #expect((try? session.answers[number]?.get()) != nil)
  }

  @Test func theFirstAndTheLastSubscriberAreTold() throws {
    try register()
    let session = try world.session(Self.program)
    let devices = ["A", "B"].map { Subscriber(central: $0, handle: Self.value, maximumLength: 20) }
    for device in devices { try session.notify(ServerSubscribed.self, device) }
    for device in devices { try session.notify(ServerUnsubscribed.self, device) }
    world.settle()
    #expect(world.bus.log.suffix(2) == ["StartNotify \(Self.characteristic)", "StopNotify \(Self.characteristic)"])
  }

  /// Nothing is lost where bled has no room, and nothing overtakes.
  @Test func valuesAreSentInOrder() throws {
    var sent: [[UInt8]] = []
    var hasRoom = true
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == ServerNotify.name, let params = try? message.params(ServerNotify.Params.self) else {
        return answer(method, message, session)
      }
      if hasRoom { sent.append(params.value.octets) }
      return .success(ServerNotify.Result(sent: hasRoom, receivers: 1))
    }
    try register(flags: ["indicate"])
    let session = try world.session(Self.program)
    try session.notify(
      ServerSubscribed.self, Subscriber(central: "A", handle: Self.value, maximumLength: 20))
    world.settle()
    hasRoom = false
    for number in 0..<5 as Range<UInt8> {
      world.changed(
        Self.program, Self.characteristic, "org.bluez.GattCharacteristic1", [("Value", .bytes([number]))])
    }
    #expect(sent.isEmpty)
    hasRoom = true
    try session.notify(ServerReady.self, Empty())
    world.settle()
    #expect(sent == [[0], [1], [2], [3], [4]])
  }

  /// `Confirm` comes with each device's confirmation, and not before; a device that is gone confirms nothing.
  @Test(arguments: [["indicate"], ["notify", "indicate"], ["notify"]])
  func confirmations(_ flags: [String]) throws {
    var asked: [Int?] = []
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == ServerNotify.name, let params = try? message.params(ServerNotify.Params.self) else {
        return answer(method, message, session)
      }
      asked.append(params.confirmation)
      return .success(ServerNotify.Result(sent: true, receivers: 2, indicated: ["A", "B"]))
    }
    try register(flags: flags)
    let session = try world.session(Self.program)
    for central in ["A", "B", "C"] {
      try session.notify(
        ServerSubscribed.self, Subscriber(central: central, handle: Self.value, maximumLength: 20))
    }
    world.settle()
    world.changed(Self.program, Self.characteristic, "org.bluez.GattCharacteristic1", [("Value", .bytes([1]))])
    world.settle()
    let confirmed = { [world] in world.bus.log.count { $0 == "Confirm \(Self.characteristic)" } }
    #expect(confirmed() == 0)
    guard flags.contains("indicate") else { return #expect(asked == [nil]) }
    let first = try #require(asked.first)
    let number = try #require(first)
    let gone = RPCError(GAPError.notConnected.error("gone"))
    for (central, error, count) in [("A", nil, 1), ("B", gone, 1), ("C", nil, 2)] as [(String, RPCError?, Int)] {
      let params = ServerConfirmed.Params(
        central: central, handle: Self.value, confirmation: number, error: error)
      try session.notify(ServerConfirmed.self, params)
      world.settle()
      #expect(confirmed() == count)
    }
  }
}
