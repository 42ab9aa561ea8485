import BledRPC
import Bluetooth
import SessionTestSupport
import Testing

@testable import BlueZ

/// Pair, CancelPairing and the properties Paired and Bonded (BlueZ, org.bluez.Device).
struct PairingTests {
  private static let program = ":1.42"
  private static let other = ":1.43"

  private let world = FacadeStage()
  private let device = Behaviour()

  /// The answers of bled.
  private final class Behaviour {
    var connection: BluetoothError?
    /// Nil: it does not answer.
    var pairing: ScriptedDaemon.Answer? = .success(PeripheralPair.Result(level: "encrypted", keySize: 16, bonded: true))
    var bonds: [BondDescription] = []
    var linked = FacadeStage.linked
    var calls: [String] = []
  }

  init() throws {
    world.daemon.answer = { [device] method, _, _ in
      device.calls.append(method)
      switch method {
      case PeripheralConnect.name: return device.connection.map { .failure($0) } ?? .success(device.linked)
      case GATTDiscover.name: return .success(GATTServices(services: []))
      case PeripheralPair.name: return device.pairing
      case PairingList.name: return .success(PairingList.Result(bonds: device.bonds))
      default: return nil
      }
    }
    world.call(Self.program, .adapter, "StartDiscovery", [])
    try world.hear(Self.program, -60)
    device.calls = []
  }

  private func pair(_ program: String = program) -> UInt64 {
    world.call(program, .device, "Pair", [], at: FacadeStage.device)
  }

  private func property(_ name: String, of path: String = FacadeStage.device) throws -> BusValue? {
    let number = world.call(
      Self.program, .properties, "Get", [.string(Interface.device.rawValue), .string(name)], at: path)
    return try world.bus.answers[number]?.get().first?.unwrapped
  }

  private var bond: BondDescription {
    BondDescription(
      peripheral: "D1", address: "C0:DE:00:00:00:01", addressType: "random", name: "Lock",
      adapterAddress: "02:00:00:00:00:01", level: "encrypted", keySize: 16)
  }

  /// Without a link it connects first; the properties are sent before the answer.
  @Test func aDeviceIsPaired() throws {
    device.bonds = [bond]
    #expect(world.succeeded(pair()))
    let order = device.calls.filter { [PeripheralConnect.name, PeripheralPair.name].contains($0) }
    #expect(order == [PeripheralConnect.name, PeripheralPair.name])
    #expect(try property("Paired") == .boolean(true) && property("Bonded") == .boolean(true))
    #expect(world.error(pair()) == .alreadyExists)
  }

  @Test func aPairingWithoutABond() throws {
    device.pairing = .success(PeripheralPair.Result(level: "encrypted", keySize: 16, bonded: false))
    #expect(world.succeeded(pair()))
    #expect(try property("Paired") == .boolean(true) && property("Bonded") == .boolean(false))
  }

  @Test func failures() throws {
    let refusals: [(BluetoothError, BusError)] = [
      (GAPError.pairingFailed.error("wrong passkey"), .authentication("Failed")),
      (GAPError.timeout.error("late"), .authentication("Timeout")),
      (GAPError.disconnected.error("gone"), .authentication("Canceled")),
      (BledError.notPermitted.error("no"), .notAuthorized),
    ]
    for (error, expected) in refusals {
      device.pairing = .failure(error)
      #expect(world.error(pair()) == expected)
      #expect(try property("Paired") == .boolean(false))
    }
  }

  @Test func aDeviceThatCannotBeReached() throws {
    device.connection = GAPError.timeout.error("not heard")
    #expect(world.error(pair()) == .failed("le-connection-abort-by-local"))
    device.connection = nil
    #expect(world.succeeded(pair()), "it can be tried again")
  }

  /// Only the program that pairs can cancel it.
  @Test func aPairingIsCancelled() throws {
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
    #expect(
      world.error(world.call(Self.program, .device, "CancelPairing", [], at: FacadeStage.device)) == .doesNotExist)
    device.pairing = .failure(GAPError.pairingFailed.error("the link has ended"))
    let pairing = world.begin(Self.program, .device, "Pair", at: FacadeStage.device)
    let second = world.begin(Self.other, .device, "Pair", at: FacadeStage.device)
    let strangers = world.begin(Self.other, .device, "CancelPairing", at: FacadeStage.device)
    let own = world.begin(Self.program, .device, "CancelPairing", at: FacadeStage.device)
    world.settle()
    #expect(world.error(second) == .inProgress)
    #expect(world.error(strangers) == .doesNotExist)
    #expect(world.succeeded(own))
    #expect(world.error(pairing) == .authentication("Canceled"))
  }

  /// Bonds are shown as bled has them, with or without an advertisement.
  @Test func bondsOfBled() throws {
    device.bonds = [bond]
    world.restart()
    #expect(try property("Bonded") == .boolean(true) && property("Name") == .string("Lock"))
    device.bonds = []
    try world.session(Self.program).notify(
      PairingEnded.self,
      PairingEnded.Params(
        device: PairingDevice(peripheral: "D1", address: "C0:DE:00:00:00:01", name: nil, isOurs: true), reason: nil))
    world.settle()
    #expect(try property("Paired") == .boolean(false) && property("Bonded") == .boolean(false))
  }

  /// A device with a private address reveals its identity. Its object stays, and has its settings after a restart.
  @Test func anIdentityIsTold() throws {
    var kept: [String: DeviceSettings] = [:]
    world.facade.settingsChanged = { kept = $0 }
    let path = "/org/bluez/hci0/dev_4F_00_00_00_00_01"
    try world.hear(Self.program, -60, number: 7, peripheral: "D7", address: "4F:00:00:00:00:01")
    world.set(Self.program, .device, "Trusted", .boolean(true), at: path)
    var identity = bond
    (identity.peripheral, identity.address) = ("D7", "C0:DE:00:00:00:31")
    device.bonds = [identity]
    device.linked.peripheral = "D7"
    #expect(world.succeeded(world.call(Self.program, .device, "Pair", [], at: path)))
    #expect(try property("Address", of: path) == .string("C0:DE:00:00:00:31"))
    #expect(try property("Paired", of: path) == .boolean(true) && property("Trusted", of: path) == .boolean(true))
    #expect(Array(kept.keys) == ["C0:DE:00:00:00:31 random"])
  }

  /// A program that is not on the bus has forgotten the keys, or they were replaced.
  private func forgetElsewhere() throws {
    device.bonds = []
    try world.own().notify(
      PairingForgotten.self,
      PairingForgotten.Params(
        peripheral: "D1", address: "C0:DE:00:00:00:01", addressType: "random", adapterAddress: "02:00:00:00:00:01"))
    world.settle()
  }

  @Test func aBondIsForgottenElsewhere() throws {
    device.bonds = [bond]
    #expect(world.succeeded(pair()))
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    try forgetElsewhere()
    #expect(try property("Paired") == .boolean(false) && property("Bonded") == .boolean(false))
  }

  /// The device was forgotten with its keys: bled knows it by another identifier when it is received again.
  @Test func aDeviceIsForgottenElsewhere() throws {
    device.bonds = [bond]
    #expect(world.succeeded(pair()))
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    try forgetElsewhere()
    try world.hear(Self.program, -40, at: 1, peripheral: "D2")
    #expect(try property("RSSI") == .int16(-40))
    #expect(world.bus.signals.allSatisfy { $0.member != "InterfacesRemoved" })
  }

  /// Without an advertisement since: the device at this address is connected.
  @Test func aForgottenDeviceIsConnected() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard method == PeripheralConnect.name, let params = try? message.params(PeripheralConnect.Params.self) else {
        return answer(method, message, session)
      }
      guard params.peripheral == nil else { return .failure(GAPError.unknownDevice.error("it was forgotten")) }
      guard params.address == "C0:DE:00:00:00:01", params.addressType == .random else { return nil }
      var linked = FacadeStage.linked
      linked.peripheral = "D2"
      return .success(linked)
    }
    #expect(world.succeeded(world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)))
    #expect(try property("ServicesResolved") == .boolean(true))
    try world.session(Self.program).notify(
      PeripheralDisconnected.self, PeripheralDisconnected.Params(peripheral: "D2", reason: nil))
    world.settle()
    #expect(try property("Connected") == .boolean(false))
  }

  @Test func aForgottenDeviceIsRemoved() throws {
    device.bonds = [bond]
    #expect(world.succeeded(pair()))
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      guard [PairingForget.name, PeripheralForget.name].contains(method) else {
        return answer(method, message, session)
      }
      return .failure(GAPError.unknownDevice.error("it was forgotten"))
    }
    #expect(world.succeeded(world.call(Self.program, .adapter, "RemoveDevice", [.path(FacadeStage.device)])))
    #expect(world.bus.signals.last { $0.member == "InterfacesRemoved" }?.arguments.first == .path(FacadeStage.device))
  }

  /// RemoveDevice forgets the keys before the device.
  @Test func aPairedDeviceIsRemoved() throws {
    device.bonds = [bond]
    #expect(world.succeeded(pair()))
    device.calls = []
    #expect(world.succeeded(world.call(Self.program, .adapter, "RemoveDevice", [.path(FacadeStage.device)])))
    #expect(
      device.calls.filter { $0 != PairingList.name } == [
        PeripheralDisconnect.name, PairingForget.name, PeripheralForget.name,
      ])
    #expect(world.bus.signals.last { $0.member == "InterfacesRemoved" }?.arguments.first == .path(FacadeStage.device))
  }
}
