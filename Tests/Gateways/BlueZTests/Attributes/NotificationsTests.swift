import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// StartNotify, StopNotify and AcquireNotify (BlueZ, org.bluez.GattCharacteristic).
struct NotificationsTests {
  private static let one = ":1.1"
  private static let other = ":1.2"
  private static let rate: UInt16 = 0x12
  private static let path = FacadeStage.device + "/service0010/char0011"

  private let world = FacadeStage()

  init() throws {
    world.daemon.answer = { method, _, _ in
      switch method {
      case PeripheralConnect.name: return .success(FacadeStage.linked)
      case GATTDiscover.name: return .success(GATTServices(services: [Self.service]))
      case GATTSubscribe.name: return .success(AttributeFound(handle: Self.rate))
      case GATTRead.name: return .success(GATTRead.Result(value: HexBytes([9])))
      default: return nil
      }
    }
    world.call(Self.one, .adapter, "StartDiscovery", [])
    try world.hear(Self.one, -60)
    world.call(Self.one, .device, "Connect", [], at: FacadeStage.device)
  }

  private static let service = ServiceDescription(
    handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
    characteristics: [
      CharacteristicDescription(
        handle: rate, declaration: rate - 1, end: 0x14, uuid: 0x2A37, properties: ["read", "notify"])
    ])

  @discardableResult
  private func call(_ program: String, _ member: String, _ arguments: [BusValue] = []) -> UInt64 {
    world.call(program, .characteristic, member, arguments, at: Self.path)
  }

  private func value(_ program: String, _ octets: [UInt8], serial: Int? = nil) throws {
    try world.session(program).notify(
      GATTValue.self, GATTValue.Params(peripheral: "D1", handle: Self.rate, value: HexBytes(octets), serial: serial))
  }

  /// The sent values of a property of the characteristic, in order.
  private func told(_ name: String) -> [BusValue] {
    world.bus.signals.filter { $0.path == Self.path && $0.member == "PropertiesChanged" }.compactMap {
      ManagedObjects.properties($0.arguments[1])[name]
    }
  }

  /// Values of one turn are sent one by one, in order, also if they are equal.
  @Test func eachValueIsTold() throws {
    #expect(world.succeeded(call(Self.one, "StartNotify")))
    #expect(told("Notifying") == [.boolean(true)])
    for octet in [1, 1, 2, 3] as [UInt8] { try value(Self.one, [octet]) }
    world.settle()
    #expect(told("Value") == [[1], [1], [2], [3]].map(BusValue.bytes))
  }

  /// Two programs have a subscription each, and a value is sent once.
  @Test func twoProgramsAreSubscribed() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    for program in [Self.one, Self.other] { try value(program, [1]) }
    world.settle()
    #expect(told("Value") == [.bytes([1])])
    #expect(world.succeeded(call(Self.one, "StopNotify")))
    #expect(told("Notifying") == [.boolean(true)], "the other one is subscribed")
    try value(Self.other, [2])
    world.settle()
    #expect(told("Value").last == .bytes([2]))
    world.facade.left(Self.other)
    world.settle()
    #expect(told("Notifying").last == .boolean(false))
  }

  /// A program leaves while one value has been received in its session alone, and another in the other program's
  /// session alone: each is sent once.
  @Test func theFirstOfTwoProgramsLeaves() throws {
    world.call(Self.other, .device, "Connect", [], at: FacadeStage.device)
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    try value(Self.one, [1], serial: 1)
    try value(Self.one, [2], serial: 2)
    try value(Self.other, [1], serial: 1)
    world.settle()
    world.facade.left(Self.one)
    try value(Self.other, [2], serial: 2)
    try value(Self.other, [3], serial: 3)
    world.settle()
    #expect(told("Value") == [[1], [2], [3]].map(BusValue.bytes))
  }

  @Test func theFirstOfTwoProgramsLeavesTooEarly() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    try value(Self.other, [1], serial: 1)
    try value(Self.other, [2], serial: 2)
    try value(Self.one, [1], serial: 1)
    world.settle()
    #expect(told("Value") == [[1]].map(BusValue.bytes))
    #expect(world.succeeded(call(Self.one, "StopNotify")))
    try value(Self.other, [3], serial: 3)
    world.settle()
    #expect(told("Value") == [[1], [2], [3]].map(BusValue.bytes))
  }

  /// The session of the first program receives nothing: the other one's values are sent, in order.
  @Test func theFirstOfTwoProgramsHasNoValues() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    let count = Subscribers.maximumWaiting + 2
    for number in 1...count { try value(Self.other, [UInt8(number & 0xFF)], serial: number) }
    world.settle()
    // The value of the first one is known.
    try value(Self.one, [1], serial: 1)
    world.settle()
    #expect(told("Value") == (1...count).map { .bytes([UInt8($0 & 0xFF)]) })
  }

  /// The first caller is not the first subscriber: a value is received in the other's session alone.
  @Test func theFirstOfTwoProgramsIsSlow() throws {
    world.call(Self.other, .device, "Connect", [], at: FacadeStage.device)
    for program in [Self.other, Self.one] { #expect(world.succeeded(call(program, "StartNotify"))) }
    // The answers arrive in this order, and bled has subscribed them in the other.
    try value(Self.one, [1], serial: 1)
    try value(Self.one, [2], serial: 2)
    try value(Self.other, [2], serial: 2)
    world.settle()
    #expect(told("Value") == [[1], [2]].map(BusValue.bytes))
  }

  /// The session of the first program ends while it stays on the bus: the other's values are sent at once, and its own
  /// again when it has connected once more.
  @Test func theFirstOfTwoProgramsLosesItsSession() throws {
    world.call(Self.other, .device, "Connect", [], at: FacadeStage.device)
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    try world.session(Self.one).end()
    world.settle()
    try value(Self.other, [1], serial: 1)
    world.settle()
    #expect(told("Value") == [.bytes([1])])
    world.call(Self.one, .device, "Connect", [], at: FacadeStage.device)
    #expect(try world.session(Self.one).methods.contains(GATTSubscribe.name))
    world.facade.left(Self.other)
    try value(Self.one, [2], serial: 2)
    world.settle()
    #expect(told("Value") == [[1], [2]].map(BusValue.bytes))
  }

  /// bled runs again, and counts from the beginning.
  @Test func aRestartOfBled() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(call(program, "StartNotify"))) }
    for program in [Self.one, Self.other] { try value(program, [1], serial: 100) }
    world.settle()
    world.restart()
    for program in [Self.one, Self.other] { world.call(program, .device, "Connect", [], at: FacadeStage.device) }
    for program in [Self.one, Self.other] { try value(program, [2], serial: 1) }
    world.settle()
    world.facade.left(Self.one)
    try value(Self.other, [3], serial: 2)
    world.settle()
    #expect(told("Value") == [[1], [2], [3]].map(BusValue.bytes))
  }

  @Test func aSubscriptionThatTheDeviceRefuses() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == GATTSubscribe.name else { return answer(method, message, session) }
      return .failure(BluetoothError(domain: .att, code: 0x05, name: "insufficient", message: "not paired"))
    }
    #expect(world.error(call(Self.one, "StartNotify")) == .notPermitted("Not paired"))
    #expect(told("Notifying").isEmpty)
    #expect(world.error(call(Self.one, "StopNotify")) == .failed("No notify session started"))
  }

  @Test func aReadIsToldAndAnswered() throws {
    let number = call(Self.one, "ReadValue", [.options([])])
    #expect(try world.bus.answers[number]?.get() == [.bytes([9])])
    #expect(told("Value") == [.bytes([9])])
    let beyond = call(Self.one, "ReadValue", [.options([("offset", .uint16(2))])])
    #expect(world.error(beyond) == .invalid("Invalid offset"))
  }

  /// A subscription outlasts the link, and continues with the next one.
  @Test func aSubscriptionGoesOnWithTheNextLink() throws {
    call(Self.one, "StartNotify")
    try world.session(Self.one).notify(
      PeripheralDisconnected.self, PeripheralDisconnected.Params(peripheral: "D1", reason: nil))
    world.settle()
    #expect(told("Notifying").last == .boolean(false))
    world.call(Self.one, .device, "Connect", [], at: FacadeStage.device)
    #expect(told("Notifying").last == .boolean(true))
    try value(Self.one, [7])
    world.settle()
    #expect(told("Value").last == .bytes([7]))
  }

  /// Programs remember the objects of a device, and call as soon as it is connected again: bled knows the handles when
  /// it has looked at the device's services.
  @Test(arguments: ["StartNotify", "AcquireNotify", "ReadValue"])
  func aCallBeforeTheServicesAreResolved(_ member: String) throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == GATTAcquire.name else { return answer(method, message, session) }
      return .success(GATTAcquire.Result(handle: Self.rate, writes: false, values: true, maximumLength: 62))
    }
    world.call(Self.one, .device, "Disconnect", [], at: FacadeStage.device)
    let number = try connect { [world] in
      world.begin(
        Self.one, .characteristic, member, member == "StartNotify" ? [] : [.options([])], at: Self.path)
    }
    let methods: Set = [GATTSubscribe.name, GATTAcquire.name, GATTRead.name]
    let before = try world.session(Self.one).methods.count { methods.contains($0) }
    #expect(before == 0 && world.bus.answers[number] == nil)
    world.settle()
    #expect(world.succeeded(number))
    #expect(try world.session(Self.one).methods.count { methods.contains($0) } == 1)
    #expect(try world.session(Self.one).methods.count { $0 == GATTDiscover.name } == 2)
  }

  /// Connects the first program, and does `work` before bled has reported the services.
  private func connect(_ work: () -> UInt64) throws -> UInt64 {
    let connection = world.begin(Self.one, .device, "Connect", at: FacadeStage.device)
    while world.bus.answers[connection] == nil, world.bus.deliver() || world.daemon.deliver() {}
    #expect(world.succeeded(connection))
    return work()
  }

  @Test func aLinkThatEndsBeforeTheServicesAreResolved() throws {
    world.call(Self.one, .device, "Disconnect", [], at: FacadeStage.device)
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == GATTDiscover.name else { return answer(method, message, session) }
      return .failure(GAPError.disconnected.error("the link has ended"))
    }
    let number = try connect { world.begin(Self.one, .characteristic, "StartNotify", at: Self.path) }
    world.settle()
    #expect(world.error(number) == .failed("Not connected"))
    #expect(world.error(call(Self.one, "StopNotify")) == .failed("No notify session started"))
  }

  /// A descriptor has one owner, until the owner closes it.
  @Test func aDescriptorOfValues() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == GATTAcquire.name else { return answer(method, message, session) }
      return .success(GATTAcquire.Result(handle: Self.rate, writes: false, values: true, maximumLength: 62))
    }
    let number = call(Self.one, "AcquireNotify", [.options([])])
    guard case .success(let values)? = world.bus.answers[number], case .descriptor? = values.first else {
      Issue.record("no descriptor: \(String(describing: world.bus.answers[number]))")
      return
    }
    #expect(values.last == .uint16(65))
    #expect(told("NotifyAcquired") == [.boolean(true)])
    #expect(world.error(call(Self.other, "AcquireNotify", [.options([])])) == .notPermitted("Notify acquired"))
    #expect(world.error(call(Self.other, "StartNotify")) == .notPermitted("Notify acquired"), "of the same user")
    let closed = RPCError(GAPError.cancelled.error("the descriptor was closed"))
    try world.session(Self.one).notify(
      GATTReleased.self,
      GATTReleased.Params(peripheral: "D1", handle: Self.rate, reason: closed, unsent: 0, writes: false, values: true))
    world.settle()
    #expect(told("NotifyAcquired") == [.boolean(true), .boolean(false)])
    #expect(world.succeeded(call(Self.other, "StartNotify")))
  }
}
