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
