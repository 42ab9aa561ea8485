import BledRPC
import Bluetooth
import SessionTestSupport
import Testing

@testable import BlueZ

/// Characteristics of applications with values that are passed over sockets (BlueZ, org.bluez.GattCharacteristic,
/// AcquireWrite and AcquireNotify).
struct ApplicationSocketsTests {
  let world = FacadeStage()
  private let session: ScriptedDaemon.Session
  private let notified = Values()

  private final class Values {
    var sent: [[UInt8]] = []
  }

  init() throws {
    world.daemon.answer = { [notified] method, message, _ in
      if method == ServerNotify.name, let params = try? message.params(ServerNotify.Params.self) {
        notified.sent.append(params.value.octets)
        return .success(ServerNotify.Result(sent: true, receivers: 1))
      }
      guard method == ServiceAdd.name, let params = try? message.params(ServiceAdd.Params.self) else { return nil }
      return .success(ServiceAdd.Result(service: ApplicationsTests.published(params.service)))
    }
    world.call(ApplicationsTests.program, .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    let objects = ApplicationsTests.objects(
      more: [("WriteAcquired", .boolean(false)), ("NotifyAcquired", .boolean(false))])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([objects]))
    world.settle()
    world.link()
    session = try world.session(ApplicationsTests.program)
  }

  /// A device writes; returns the number of the question.
  private func write(_ octets: [UInt8], offset: Int = 0) throws -> Int {
    let write = ServerWrite.Write(handle: ApplicationsTests.value, offset: offset, value: HexBytes(octets))
    defer { world.settle() }
    return try session.ask(
      ServerWrite.self,
      ServerWrite.Params(central: FacadeStage.central, writes: [write], withoutResponse: true, mtu: 65))
  }

  private func subscribe(_ isOn: Bool) throws {
    let device = Subscriber(central: FacadeStage.central, handle: ApplicationsTests.value, maximumLength: 62)
    if isOn {
      try session.notify(ServerSubscribed.self, device)
    } else {
      try session.notify(ServerUnsubscribed.self, device)
    }
    world.settle()
  }

  /// A program gives its end of a socket.
  private func give(_ method: String) throws {
    let call = try #require(world.bus.take(method))
    #expect(call.path == ApplicationsTests.characteristic)
    call.completion(.success([.descriptor(BusDescriptor(taking: -1)), .uint16(62)]))
    world.settle()
  }

  private func isAnswered(_ number: Int) -> Bool { (try? session.answers[number]?.get()) != nil }

  @Test func writesGoOverTheSocketInTheirOrder() throws {
    let numbers = try [[1], [2, 2]].map { try write($0) }
    #expect(session.answers.isEmpty, "the program is asked for a socket first")
    let options = ManagedObjects.properties(try #require(world.bus.calls.first?.values.first))
    #expect(options["device"] == .path(FacadeStage.device) && options["mtu"] == .uint16(65))
    try give("AcquireWrite")
    let third = try write([3])
    #expect(world.sockets.last?.sent == [[1], [2, 2], [3]])
    #expect((numbers + [third]).allSatisfy(isAnswered))
    #expect(world.bus.calls.isEmpty)
  }

  /// A packet has no offset.
  @Test func writesWithAnOffsetAreCalls() throws {
    _ = try write([1])
    try give("AcquireWrite")
    _ = try write([2], offset: 4)
    #expect(world.bus.take("WriteValue")?.values.first == .bytes([2]))
  }

  /// Behind a program that does not read, the device waits; the order stays.
  @Test func writesWaitForAFullSocket() throws {
    _ = try write([1])
    try give("AcquireWrite")
    world.sockets.last?.hasRoom = false
    let numbers = try [[2], [3]].map { try write($0) }
    #expect(!numbers.contains(where: isAnswered))
    world.sockets.last?.hasRoom = true
    world.sockets.last?.happen(.room)
    world.settle()
    #expect(world.sockets.last?.sent == [[1], [2], [3]])
    #expect(numbers.allSatisfy(isAnswered))
    world.sockets.last?.hasRoom = false
    _ = try write([4])
    world.sockets.last?.happen(.end)
    #expect(world.bus.take("WriteValue")?.values.first == .bytes([4]), "the program has closed it")
  }

  /// A program that notifies faster than the device accepts it eventually waits.
  @Test func valuesStayInTheSocketWhileManyWait() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      method == ServerNotify.name
        ? .success(ServerNotify.Result(sent: false, receivers: 0)) : answer(method, message, session)
    }
    try subscribe(true)
    try give("AcquireNotify")
    for number in 0..<64 as Range<UInt8> {
      #expect(world.sockets.last?.isReading == true)
      world.sockets.last?.happen(.packet([number]))
    }
    #expect(world.sockets.last?.isReading == false)
    world.daemon.answer = answer
    try session.notify(ServerReady.self, Empty())
    world.settle()
    #expect(world.sockets.last?.isReading == true)
    #expect(notified.sent == (0..<64).map { [$0] })
  }

  @Test func aProgramThatGivesNoSocketIsCalled() throws {
    let number = try write([1])
    try #require(world.bus.take("AcquireWrite")).completion(.failure(.notSupported))
    world.settle()
    try #require(world.bus.take("WriteValue")).completion(.success([]))
    #expect(isAnswered(number))
    _ = try write([2])
    #expect(world.bus.take("AcquireWrite") == nil && world.bus.take("WriteValue") != nil)
    try subscribe(true)
    try #require(world.bus.take("AcquireNotify")).completion(.failure(.notSupported))
    world.settle()
    try #require(world.bus.take("StartNotify")).completion(.success([]))
    try subscribe(false)
    #expect(world.bus.take("StopNotify") != nil)
  }

  @Test func aSocketThatTheProgramClosesIsAskedForAgain() throws {
    _ = try write([1])
    try give("AcquireWrite")
    world.sockets.last?.happen(.end)
    #expect(world.sockets.last == nil)
    _ = try write([2])
    try give("AcquireWrite")
    #expect(world.sockets.last?.sent == [[2]])
  }

  @Test func valuesComeFromTheSocketWhileSomebodyIsSubscribed() throws {
    try subscribe(true)
    try give("AcquireNotify")
    for octet in 0..<3 as Range<UInt8> { world.sockets.last?.happen(.packet([octet])) }
    world.settle()
    #expect(notified.sent == [[0], [1], [2]])
    try subscribe(false)
    #expect(world.sockets.last == nil)
    #expect(world.bus.calls.isEmpty, "the end of the socket says it")
    try subscribe(true)
    try give("AcquireNotify")
    world.sockets.last?.happen(.packet([3]))
    world.settle()
    #expect(notified.sent.last == [3])
  }

  /// The last subscriber leaves while the program is asked.
  @Test func aSocketThatComesTooLateIsClosed() throws {
    try subscribe(true)
    try subscribe(false)
    try give("AcquireNotify")
    #expect(world.sockets.last == nil)
  }

  /// The answer to a question that was given up opens nothing: the program's latest socket counts.
  @Test func theAnswerToAnEarlierQuestion() throws {
    for isOn in [true, false, true] { try subscribe(isOn) }
    try give("AcquireNotify")
    #expect(world.sockets.count == 0)
    try give("AcquireNotify")
    world.sockets.last?.happen(.packet([1]))
    world.settle()
    #expect(notified.sent == [[1]])
  }

  @Test func anApplicationThatIsUnregisteredMeanwhile() throws {
    try subscribe(true)
    let number = try write([1])
    world.call(ApplicationsTests.program, .gattManager, "UnregisterApplication", [.path("/app")])
    #expect(world.bus.take("StartNotify") == nil, "nobody wants values any more")
    try #require(world.bus.take("WriteValue")).completion(.failure(.doesNotExist))
    #expect(session.answers[number] != nil, "the device does not wait in vain")
    for method in ["AcquireNotify", "AcquireWrite"] { try give(method) }
    #expect(world.sockets.count == 0)
  }

  /// Descriptors are scarce: beyond its share a program is called.
  @Test func aProgramWithManySockets() throws {
    let count = 70
    let objects = (0..<count).map { number in
      (
        "/many/service0/char\(number)", "org.bluez.GattCharacteristic1",
        [
          ("UUID", .string("2A37")), ("Service", .path("/many/service0")), ("Flags", .strings(["write"])),
          ("WriteAcquired", .boolean(false)),
        ] as [(String, BusValue)]
      )
    }
    world.call(ApplicationsTests.program, .gattManager, "RegisterApplication", [.path("/many"), .options([])])
    try #require(world.bus.take("GetManagedObjects")).completion(
      .success([managed([("/many/service0", "org.bluez.GattService1", [("UUID", .string("180D"))])] + objects)]))
    world.settle()
    // The handles of the first application are the same: it is removed.
    world.call(ApplicationsTests.program, .gattManager, "UnregisterApplication", [.path("/app")])
    for number in 0..<count {
      let handle = ApplicationsTests.value + UInt16(number) * 3
      let write = ServerWrite.Write(handle: handle, offset: 0, value: HexBytes([1]))
      _ = try session.ask(ServerWrite.self, ServerWrite.Params(central: FacadeStage.central, writes: [write]))
      world.settle()
      let call = world.bus.take("AcquireWrite")
      call?.completion(.success([.descriptor(BusDescriptor(taking: -1)), .uint16(62)]))
      world.settle()
    }
    #expect(world.sockets.count == 64)
    #expect(world.bus.calls.map(\.method) == Array(repeating: "WriteValue", count: count - 64))
  }

  @Test func nothingIsLeftOfAnApplication() throws {
    _ = try write([1])
    try give("AcquireWrite")
    try subscribe(true)
    try give("AcquireNotify")
    world.call(ApplicationsTests.program, .gattManager, "UnregisterApplication", [.path("/app")])
    #expect(world.sockets.count == 0)
  }

  @Test func aRestartOfBledBeginsAnew() throws {
    try subscribe(true)
    try give("AcquireNotify")
    world.restart()
    #expect(world.sockets.last == nil)
  }
}
