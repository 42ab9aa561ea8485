import Adapter
import AdapterParts
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

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
    machine.heard(try command("3520 07 01 0100000000 5f"))
    #expect(machine.answered(RemoveAdvertising.opcode, .failed) == [.send(.prepareAdvertisement)])
    machine.heard(try command("3520 07 02 0200000000 5f"))
    machine.heard(try command("3520 07 01 5544332211 5f"))
    machine.heard(try command("0520 06 0300000000 5f"))
    #expect(machine.answered(RemoveAdvertising.opcode, .success) == [])
    #expect(
      machine.answered(AddExtendedAdvertisingParameters.opcode, .success) == [.send(.removeAdvertisement)])
    #expect(machine.answered(RemoveAdvertising.opcode, .success) == [.done(private1)])
    #expect(machine.deadline == nil)
  }

  @Test("With legacy commands it starts and stops a discovery")
  func legacy() throws {
    var machine = PrivateAddressMachine()
    #expect(machine.begin(isExtended: false, at: .zero) == [.send(.stopDiscovery)])
    #expect(machine.answered(StopDiscovery.opcode, .failed) == [.send(.startDiscovery)])
    // Neither a static nor a non-resolvable address is what is looked for.
    machine.heard(try command("0520 06 5544332211 df"))
    machine.heard(try command("0520 06 5544332211 1f"))
    #expect(machine.answered(StartDiscovery.opcode, .success) == [.send(.stopDiscovery)])
    // The other socket may be read later.
    machine.heard(try command("0520 06 5544332211 5f"))
    #expect(machine.answered(StopDiscovery.opcode, .success) == [.done(private1)])
  }

  @Test("Without an address, with a refusal and without an answer it ends with none")
  func nothing() {
    var machine = PrivateAddressMachine()
    _ = machine.begin(isExtended: false, at: .zero)
    _ = machine.answered(StopDiscovery.opcode, .success)
    #expect(machine.answered(StartDiscovery.opcode, .failed) == [.done(nil)])
    _ = machine.begin(isExtended: true, at: .zero)
    _ = machine.answered(RemoveAdvertising.opcode, .success)
    _ = machine.answered(AddExtendedAdvertisingParameters.opcode, .success)
    #expect(machine.answered(RemoveAdvertising.opcode, .success) == [.done(nil)])
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
