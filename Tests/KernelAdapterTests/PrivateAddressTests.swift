import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

@Suite("Private addresses of this machine")
struct PrivateAddressTests {
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

  @Test("Scan and advertisement end, and go on under the next address")
  func rotation() throws {
    var targets = RadioTargets(scan: ScanParameters())
    targets.advertising[AdvertisingSetID(1)] = AdvertisingParameters(isConnectable: true, data: [2, 1, 6])
    var script = RadioScript<LegacyFamily>(address: DeviceAddress(value: 0xAA01_0000, kind: .public), targets: targets)
    script.give(.tick)
    while script.isAsked { try script.answer() }
    script.give(.pause)
    try script.command("0a20 01 00")
    try script.command("0c20 02 00 00")
    #expect(script.takeTold().last == .quiet)
    script.give(.command(CommandPacket(LESetRandomAddress { $0.address = private1.value })))
    script.give(.resume(private1, targets))
    try script.command("0520 06 5544332211 5f")
    // What goes on is not known if it did not end in time.
    try script.command("0e20 00", status: 0x0C)
    try script.command("0a20 01 00")
    // The type of our own address is random.
    try script.command("0620 0f a000 a000 00 01 00 000000000000 07 00")
    try script.command("0820 20 03 020106" + String(repeating: "00", count: 28))
    try script.command("0920 20 00" + String(repeating: "00", count: 31))
    try script.command("0a20 01 01")
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 01 00")
    try script.command("0c20 02 01 00")
    script.silent()
  }

  @Test("What was told before the pause holds on: an advertisement that links hold back is not withdrawn")
  func heldBack() throws {
    let set = AdvertisingSetID(1)
    var targets = RadioTargets()
    targets.advertising[set] = AdvertisingParameters(isConnectable: true, data: [2, 1, 6])
    var script = RadioScript<LegacyFamily>(targets: targets)
    script.give(.tick)
    while script.isAsked { try script.answer() }
    #expect(script.takeTold() == [.advertising(set, .on(interval: .milliseconds(100)))])
    script.give(.pause)
    while script.isAsked { try script.answer() }
    #expect(script.takeTold() == [.advertising(set, .off), .quiet])
    script.give(.resume(private1, targets))
    try script.command("0e20 00", status: 0x0C)
    // Refused again and again, as beside a link: it was on the air, so it has not failed.
    for _ in 0..<60 {
      while script.isAsked { try script.refuse(0x0C) }
      script.wait(.milliseconds(500))
    }
    #expect(!script.takeTold().contains { if case .advertising(_, .failed) = $0 { true } else { false } })
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
