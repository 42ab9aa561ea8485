import Adapter
@testable import Controllers
import Bluetooth
import HCI
import Testing

@Suite("Private addresses of this machine")
struct PrivateAddressMachineTests {
  private let private1 = DeviceAddress(value: 0x5F11_2233_4455, kind: .random)

  private func command(_ hex: String) throws -> CommandPacket {
    let octets = try #require(Hex.decode("01" + hex.filter { $0 != " " }))
    let packet = try HCIPacket(decoding: octets)
    return try #require({ if case .command(let command) = packet { command } else { nil } }())
  }

  @Test("The kernel prepares an advertisement, whose address is heard, and removes it")
  func extended() throws {
    var machine = PrivateAddressMachine()
    #expect(machine.begin(isExtended: true, at: .zero) == [.send(.removeAdvertisement)])
    // Another program's, before and with another set.
    machine.observed(try command("3520 07 01 0100000000 5f"))
    #expect(machine.answered(RemoveAdvertising.opcode) == [.send(.prepareAdvertisement)])
    machine.observed(try command("3520 07 02 0200000000 5f"))
    machine.observed(try command("3520 07 01 5544332211 5f"))
    machine.observed(try command("0520 06 0300000000 5f"))
    #expect(machine.answered(RemoveAdvertising.opcode) == [])
    #expect(machine.answered(AddExtendedAdvertisingParameters.opcode) == [.send(.removeAdvertisement)])
    #expect(machine.answered(RemoveAdvertising.opcode) == [.done(private1)])
    #expect(machine.deadline == nil)
  }

  @Test("Kernels give the advertisement of a controller with one set the handle 0 (kernel M4)")
  func oneSet() throws {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode)
    machine.observed(try command("3520 07 00 5544332211 5f"))
    _ = machine.answered(AddExtendedAdvertisingParameters.opcode)
    #expect(machine.answered(RemoveAdvertising.opcode) == [.done(private1)])
  }

  /// The kernel's parameters of the advertisement, with this type of our address.
  private func parameters(_ type: UInt8) throws -> CommandPacket {
    try command("3620 19 01 1300 000800 000800 07 0\(type) 00 000000000000 00 7f 01 00 01 00 00")
  }

  @Test("An address that is left to the controller is followed by an advertisement of another kind, bonds or not")
  func leftToController() throws {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode)
    machine.observed(try parameters(3))
    machine.observed(try command("3520 07 01 5544332211 5f"))
    #expect(machine.answered(AddExtendedAdvertisingParameters.opcode) == [.send(.removeAdvertisement)])
    #expect(
      machine.answered(RemoveAdvertising.opcode) == [.send(.allowBonds), .send(.prepareDiscoverableAdvertisement)])
    machine.observed(try parameters(1))
    machine.observed(try command("3520 07 01 5544332211 1f"))
    #expect(machine.answered(SetBondable.opcode) == [])
    #expect(
      machine.answered(AddExtendedAdvertisingParameters.opcode) == [.send(.restoreBonds), .send(.removeAdvertisement)])
    #expect(machine.answered(RemoveAdvertising.opcode) == [.done(private1)])
  }

  @Test("An address that the kernel gives the advertisement needs no other, whatever other sets have")
  func givenByTheKernel() throws {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode)
    machine.observed(try parameters(1))
    machine.observed(try command("3620 19 02 1300 000800 000800 07 03 00 000000000000 00 7f 01 00 01 00 00"))
    _ = machine.answered(AddExtendedAdvertisingParameters.opcode)
    #expect(machine.answered(RemoveAdvertising.opcode) == [.done(nil)])
  }

  @Test("Bonds are as they were when the kernel does not answer, or the controller is closed")
  func bondsRestored() throws {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode)
    machine.observed(try parameters(2))
    _ = machine.answered(AddExtendedAdvertisingParameters.opcode)
    #expect(machine.closing == [])
    _ = machine.answered(RemoveAdvertising.opcode)
    #expect(machine.closing == [.send(.restoreBonds)])
    let expected: [PrivateAddressMachine.Action] = [.send(.restoreBonds), .send(.removeAdvertisement), .done(nil)]
    #expect(machine.tick(at: .zero.advanced(by: .seconds(10))) == expected)
    #expect(machine.closing == [])
  }

  @Test("With legacy commands it starts and stops a discovery")
  func legacy() throws {
    var machine = PrivateAddressMachine()
    #expect(machine.begin(isExtended: false, at: .zero) == [.send(.stopDiscovery)])
    #expect(machine.answered(StopDiscovery.opcode) == [.send(.startDiscovery)])
    // Neither a static nor a non-resolvable address is the sought one.
    machine.observed(try command("0520 06 5544332211 df"))
    machine.observed(try command("0520 06 5544332211 1f"))
    #expect(machine.answered(StartDiscovery.opcode) == [.send(.stopDiscovery)])
    // The other socket may be read later.
    machine.observed(try command("0520 06 5544332211 5f"))
    #expect(machine.answered(StopDiscovery.opcode) == [.done(private1)])
  }

  @Test("Without an address, with a refusal and without an answer it ends with none")
  func nothing() {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: false, at: .zero)
    _ = machine.answered(StopDiscovery.opcode)
    #expect(machine.answered(StartDiscovery.opcode) == [.send(.stopDiscovery)])
    #expect(machine.answered(StopDiscovery.opcode) == [.done(nil)])
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode)
    _ = machine.answered(AddExtendedAdvertisingParameters.opcode)
    #expect(machine.answered(RemoveAdvertising.opcode) == [.done(nil)])
    _ = machine.begin(isExtended: true, at: .zero)
    #expect(machine.tick(at: .zero) == [])
    #expect(machine.tick(at: .zero.advanced(by: .seconds(10))) == [.done(nil)])
  }

  @Test("Each adapter has a key of its own, the same at each start")
  func keys() throws {
    let settings = PrivacySettings(root: Array(0..<16), rotation: .seconds(900))
    let address = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
    let key = try #require(settings.identityResolvingKey(of: address))
    #expect(key.count == 16 && key == settings.identityResolvingKey(of: address))
    #expect(key != settings.identityResolvingKey(of: DeviceAddress(value: 0x00AA_0100_0001, kind: .public)))
    #expect(key != settings.identityResolvingKey(of: DeviceAddress(value: address.value, kind: .random)))
    #expect(PrivacySettings(root: [], rotation: .seconds(900)).identityResolvingKey(of: address) == nil)
  }
}
