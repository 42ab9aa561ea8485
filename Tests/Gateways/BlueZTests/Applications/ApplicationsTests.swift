import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// GattManager1: applications of programs (BlueZ, org.bluez.GattManager).
struct ApplicationsTests {
  static let program = ":1.42"
  static let value: UInt16 = 0x12
  static let characteristic = "/app/service0/char0"

  let world = FacadeStage()

  init() {
    world.daemon.answer = { method, message, _ in
      guard method == ServiceAdd.name, let params = try? message.params(ServiceAdd.Params.self) else { return nil }
      return .success(ServiceAdd.Result(service: Self.published(params.service)))
    }
  }

  static func published(_ service: ServiceToPublish) -> ServiceDescription {
    ServiceDescription(
      handle: 0x10, end: 0x20, uuid: service.uuid, primary: true,
      characteristics: (service.characteristics ?? []).enumerated().map { index, characteristic in
        CharacteristicDescription(
          handle: value + UInt16(index) * 3, end: value + UInt16(index) * 3 + 2, uuid: characteristic.uuid,
          properties: characteristic.properties.words())
      })
  }

  /// - Parameter more: further properties of the characteristic.
  static func objects(
    flags: [String] = ["read", "write", "notify"], more: [(String, BusValue)] = []
  ) -> BusValue {
    managed([
      ("/app/service0", "org.bluez.GattService1", [("UUID", .string("180D")), ("Primary", .boolean(true))]),
      (
        characteristic, "org.bluez.GattCharacteristic1",
        [("UUID", .string("2A37")), ("Service", .path("/app/service0")), ("Flags", .strings(flags))] + more
      ),
    ])
  }

  /// Registers an application; returns the number of the call.
  @discardableResult
  func register(_ root: String = "/app", flags: [String] = ["read", "write", "notify"]) throws -> UInt64 {
    let number = world.call(
      Self.program, .gattManager, "RegisterApplication", [.path(root), .options([])])
    let call = try #require(world.bus.take("GetManagedObjects"))
    #expect(call.path == root)
    #expect(world.bus.answers[number] == nil)
    call.completion(.success([Self.objects(flags: flags)]))
    world.settle()
    return number
  }

  @Test func theAnswerComesWhenTheServicesArePublished() throws {
    let number = try register()
    #expect(world.succeeded(number))
    #expect(try world.session(Self.program).methods == ["session.open", "service.add"])
  }

  @Test func registrationsThatAreRefused() throws {
    try register()
    let again = world.call(Self.program, .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    #expect(world.error(again) == .alreadyExists)
    let unknown = world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/other")])
    #expect(world.error(unknown) == .doesNotExist)
    for (objects, text) in [
      (managed([]), "No object received"), (managed([("/x", "a.b", [])]), "No valid service object found"),
      (.strings([]), "No object received"),
    ] {
      let number = world.call(Self.program, .gattManager, "RegisterApplication", [.path("/x"), .options([])])
      try #require(world.bus.take("GetManagedObjects")).completion(.success([objects]))
      world.settle()
      #expect(world.error(number) == .failed(text))
    }
  }

  @Test func anApplicationOfProfilesAlone() throws {
    let number = world.call(Self.program, .gattManager, "RegisterApplication", [.path("/x"), .options([])])
    let profile = managed([("/x/p", "org.bluez.GattProfile1", [("UUIDs", .strings(["180D"]))])])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([profile]))
    world.settle()
    #expect(world.succeeded(number))
    #expect(world.succeeded(world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/x")])))
  }

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

  /// Values that a device writes without waiting are not dropped without a word.
  @Test func aProgramThatDoesNotAnswerItsCalls() throws {
    var said: [String] = []
    world.facade.said = { said.append($0) }
    try register()
    world.link()
    let session = try world.session(Self.program)
    let write = ServerWrite.Write(handle: Self.value, offset: 0, value: HexBytes([7]))
    for _ in 0..<1100 {
      _ = try session.ask(
        ServerWrite.self, ServerWrite.Params(central: FacadeStage.central, writes: [write], withoutResponse: true))
    }
    world.settle()
    #expect(said == ["the program :1.42 does not answer its calls: further ones are dropped"])
    while let call = world.bus.take("WriteValue") {
      call.completion(.success([]))
      world.settle()
    }
    #expect(said.last == "68 calls of the program :1.42 were dropped")
  }

  @Test func aServiceThatIsRefusedAfterARestartOfBled() throws {
    var said: [String] = []
    world.facade.said = { said.append($0) }
    try register()
    world.daemon.answer = { method, _, _ in
      method == ServiceAdd.name ? .failure(BledError.notPermitted.error("user 1000 lacks serve")) : nil
    }
    world.restart()
    #expect(said.count == 1 && said[0].contains("/app"))
    #expect(
      world.error(world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/app")])) == .doesNotExist)
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

  /// The answer of a program that has left arrives after its session has ended.
  @Test func aProgramLeavesWhileItIsAsked() throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    _ = try session.ask(
      ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: 0))
    world.settle()
    let call = try #require(world.bus.take("ReadValue"))
    world.facade.left(Self.program)
    call.completion(.failure(.noReply))
    world.settle()
    #expect(session.isClosed)
    #expect(world.daemon.sessions(of: Self.program).isEmpty)
    #expect(world.bus.watched.isEmpty)
  }

  @Test func aProgramLeavesWhileItRegisters() throws {
    world.call(Self.program, .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    let call = try #require(world.bus.take("GetManagedObjects"))
    world.facade.left(Self.program)
    call.completion(.success([Self.objects()]))
    world.settle()
    #expect(world.daemon.sessions(of: Self.program).isEmpty)
    #expect(world.bus.watched.isEmpty)
  }

  @Test func servicesAreBackAfterARestartOfBled() throws {
    try register()
    world.restart()
    #expect(try world.session(Self.program).methods == ["session.open", "service.add"])
  }

  /// bled ends again while services are being added.
  @Test func servicesAreBackAfterTwoRestarts() throws {
    try register()
    let answer = world.daemon.answer
    var isPaused = true
    world.daemon.answer = { method, message, session in
      if method == ServiceAdd.name, isPaused { return .failure(BledError.shuttingDown.error("ends")) }
      return answer(method, message, session)
    }
    world.restart()
    isPaused = false
    world.restart()
    world.link()
    let session = try world.session(Self.program)
    _ = try session.ask(
      ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: 0))
    world.settle()
    #expect(world.bus.take("ReadValue")?.path == Self.characteristic)
  }

  /// bled ends the session of one program, for instance because it did not read.
  @Test func servicesAreBackAfterTheEndOfASession() throws {
    try register()
    try world.session(Self.program).end()
    world.settle()
    world.advance(by: .seconds(1))
    #expect(try world.session(Self.program).methods == ["session.open", "service.add"])
  }

  /// A failed registration does not affect the signals of another.
  @Test func signalsAreWantedAsLongAsSomethingIsRegistered() throws {
    world.call(Self.program, .gattManager, "RegisterApplication", [.path("/one"), .options([])])
    world.call(Self.program, .gattManager, "RegisterApplication", [.path("/two"), .options([])])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([managed([])]))
    try #require(world.bus.take("GetManagedObjects")).completion(.success([Self.objects()]))
    world.settle()
    #expect(world.bus.watched == [Self.program])
    world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/two")])
    #expect(world.bus.watched.isEmpty)
    #expect(try world.session(Self.program).methods.last == "service.remove")
  }

  /// The bus allows this process 128 pending calls: one program must not have them all.
  @Test func aProgramThatNeverAnswers() throws {
    try register()
    world.link()
    let session = try world.session(Self.program)
    for _ in 0..<200 {
      _ = try session.ask(
        ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.value, offset: 0))
    }
    world.settle()
    #expect(world.bus.calls.count == 8)
    while let call = world.bus.take("ReadValue") { call.completion(.failure(.noReply)) }
    #expect(session.answers.count == 200)
  }

  @Test func anAdapterGoesAndComesBack() throws {
    try register()
    try world.own().notify(AdapterChanged.self, FacadeStage.description(isAbsent: true))
    world.settle()
    try world.own().notify(AdapterChanged.self, FacadeStage.description())
    world.settle()
    #expect(world.succeeded(try register()))
  }

  @Test func characteristicsAreInTheirOrder() throws {
    let numbers = Array(0..<12)
    let objects =
      [("/app/service0", "org.bluez.GattService1", [("UUID", BusValue.string("180D"))])]
      + numbers.reversed().map { number in
        (
          "/app/service0/char\(number)", "org.bluez.GattCharacteristic1",
          [
            ("UUID", .string("2A\(10 + number)")), ("Service", .path("/app/service0")), ("Flags", .strings(["read"])),
          ]
        )
      }
    let application = try Application(ManagedObjects([managed(objects)]))
    #expect(
      application.services.first?.characteristics.map(\.path) == numbers.map { "/app/service0/char\($0)" })
  }

  @Test func includedServicesComeFirst() throws {
    func service(_ path: String, includes: [String]) -> (String, String, [(String, BusValue)]) {
      (path, "org.bluez.GattService1", [("UUID", .string("180D")), ("Includes", .paths(includes))])
    }
    let application = try Application(
      ManagedObjects([managed([service("/a", includes: ["/b"]), service("/b", includes: ["/b"])])]))
    #expect(application.services.map(\.path) == ["/b", "/a"])
    #expect(throws: BusError.self) {
      try Application(
        ManagedObjects([managed([service("/a", includes: ["/b"]), service("/b", includes: ["/a"])])]))
    }
  }
}
