import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Agents of programs (BlueZ, org.bluez.AgentManager and org.bluez.Agent).
struct AgentsTests {
  private static let program = ":1.42"
  private static let agent = "/agent"

  private let world = FacadeStage()

  init() { world.link() }

  private func device(isOurs: Bool = false, bondLevel: Word<SecurityLevel>? = nil) -> PairingDevice {
    PairingDevice(
      peripheral: FacadeStage.central, address: "C0:DE:00:00:00:01", name: nil, isOurs: isOurs, bondLevel: bondLevel)
  }

  private func manage(_ member: String, _ arguments: BusValue...) -> UInt64 {
    world.call(Self.program, .agentManager, member, [.path(Self.agent)] + arguments, at: "/org/bluez")
  }

  private func register() { #expect(world.succeeded(manage("RegisterAgent", .string("")))) }

  /// Makes bled ask, and answers as the agent.
  /// - Returns: bled's answer, and the call that the agent received.
  private func ask<Method: DaemonCall>(
    _: Method.Type, _ params: Method.Params, _ answer: Result<[BusValue], BusError>
  ) throws -> (Method.Result, ScriptedBus.Call) {
    let session = try world.session(Self.program)
    let question = try session.ask(Method.self, params)
    world.settle()
    let call = try #require(world.bus.calls.last)
    _ = world.bus.take(call.method)
    call.completion(answer)
    world.settle()
    return (try #require(session.answers[question]).get().result(Method.Result.self), call)
  }

  @Test func capabilities() throws {
    var registered: [String] = []
    world.daemon.answer = { method, message, _ in
      if method == PairingRegister.name, let params = try? message.params(PairingRegister.Params.self) {
        registered.append(params.capability.word)
      }
      return nil
    }
    for word in ["", "KeyboardDisplay", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput"] {
      #expect(world.succeeded(manage("RegisterAgent", .string(word))))
      #expect(world.succeeded(manage("UnregisterAgent")))
    }
    #expect(registered == ["keyboardDisplay", "keyboardDisplay", "display", "displayYesNo", "keyboard", "none"])
    #expect(world.error(manage("RegisterAgent", .string("Telepathy"))) == .invalidArguments)
  }

  @Test func aProgramHasOneAgent() {
    #expect(world.error(manage("RequestDefaultAgent")) == .doesNotExist)
    register()
    #expect(world.error(manage("RegisterAgent", .string(""))) == .alreadyExists)
    #expect(world.succeeded(manage("RequestDefaultAgent")))
    #expect(world.succeeded(manage("UnregisterAgent")))
    #expect(world.error(manage("UnregisterAgent")) == .doesNotExist)
  }

  @Test func anAgentThatThePolicyRefuses() throws {
    world.daemon.answer = { method, _, _ in
      method == PairingRegister.name ? .failure(BledError.notPermitted.error("no")) : nil
    }
    #expect(world.error(manage("RegisterAgent", .string(""))) == .notAuthorized)
    world.daemon.answer = { _, _, _ in nil }
    register()
  }

  /// The device has connected to this machine: it is read from bled, so that the agent finds its object.
  @Test func aNumberIsCompared() throws {
    register()
    let params = PairingConfirm.Params(device: device(), number: "000042", seconds: 30)
    let (answer, call) = try ask(PairingConfirm.self, params, .success([]))
    #expect(answer.accept)
    #expect(call.method == "RequestConfirmation" && call.path == Self.agent)
    #expect(call.values == [.path(FacadeStage.device), .uint32(42)])
    #expect(
      world.bus.signals.contains { $0.member == "InterfacesAdded" && $0.arguments[0] == .path(FacadeStage.device) })
    let refusal = BusError(name: "org.bluez.Error.Rejected", message: "no")
    #expect(try !ask(PairingConfirm.self, params, .failure(refusal)).0.accept)
  }

  /// The object belongs to the adapter by which the device has connected, not to the first one.
  @Test func aDeviceOfTheSecondAdapter() throws {
    var second = FacadeStage.description(address: "02:00:00:00:00:02")
    second.adapter = "hci1"
    world.daemon.adapters.append(second)
    world.daemon.devices = []
    world.restart()
    world.link(adapter: "hci1")
    register()
    let (_, call) = try ask(
      PairingConfirm.self, PairingConfirm.Params(device: device(), number: nil, seconds: 30), .success([]))
    #expect(call.method == "RequestAuthorization")
    #expect(call.values == [.path("/org/bluez/hci1/dev_C0_DE_00_00_00_01")])
  }

  /// The program has called Pair: that was the answer, unless keys are replaced.
  @Test func thisSideBegan() throws {
    register()
    let session = try world.session(Self.program)
    let question = try session.ask(
      PairingConfirm.self, PairingConfirm.Params(device: device(isOurs: true), number: nil, seconds: 30))
    world.settle()
    #expect(try #require(session.answers[question]).get().result(PairingConfirm.Result.self).accept)
    #expect(world.bus.calls.isEmpty)
    let params = PairingConfirm.Params(
      device: device(isOurs: true, bondLevel: "encrypted"), number: nil, seconds: 30)
    #expect(try ask(PairingConfirm.self, params, .success([])).1.method == "RequestAuthorization")
  }

  @Test func aPasskeyIsTyped() throws {
    register()
    let params = PairingEnterPasskey.Params(device: device(), seconds: 30)
    #expect(try ask(PairingEnterPasskey.self, params, .success([.uint32(42)])).0.passkey == "000042")
    for answer: [BusValue] in [[.uint32(1_000_000)], [.string("42")], []] {
      #expect(try ask(PairingEnterPasskey.self, params, .success(answer)).0.passkey == nil)
    }
    #expect(try ask(PairingEnterPasskey.self, params, .failure(.noReply)).0.passkey == nil)
  }

  @Test func aPasskeyIsShown() throws {
    register()
    try world.session(Self.program).notify(
      PairingShowPasskey.self, PairingShowPasskey.Params(device: device(), passkey: "000042", entered: 3))
    world.settle()
    let call = try #require(world.bus.take("DisplayPasskey"))
    #expect(call.values == [.path(FacadeStage.device), .uint32(42), .uint16(3)])
    try ended()
    #expect(world.bus.take("Cancel")?.path == Self.agent)
    try ended()
    #expect(world.bus.take("Cancel") == nil, "it is told once")
  }

  private func ended() throws {
    try world.session(Self.program).notify(
      PairingEnded.self, PairingEnded.Params(device: device(), reason: RPCError(GAPError.timeout.error("late"))))
    world.settle()
  }

  @Test func aPairingEndsWhileTheAgentIsAsked() throws {
    register()
    let session = try world.session(Self.program)
    let question = try session.ask(PairingEnterPasskey.self, PairingEnterPasskey.Params(device: device(), seconds: 30))
    world.settle()
    let call = try #require(world.bus.take("RequestPasskey"))
    try ended()
    #expect(world.bus.take("Cancel") != nil)
    call.completion(.failure(.noReply))
    world.settle()
    #expect(try #require(session.answers[question]).get().result(PairingEnterPasskey.Result.self).passkey == nil)
  }

  @Test func withoutAnAgentTheAnswerIsNo() throws {
    register()
    let session = try world.session(Self.program)
    #expect(world.succeeded(manage("UnregisterAgent")))
    let question = try session.ask(PairingEnterPasskey.self, PairingEnterPasskey.Params(device: device(), seconds: 30))
    world.settle()
    #expect(try #require(session.answers[question]).get().result(PairingEnterPasskey.Result.self).passkey == nil)
    #expect(world.bus.calls.isEmpty)
  }

  @Test func bledRestarts() throws {
    register()
    world.restart()
    #expect(try world.session(Self.program).methods.contains(PairingRegister.name))
  }
}
