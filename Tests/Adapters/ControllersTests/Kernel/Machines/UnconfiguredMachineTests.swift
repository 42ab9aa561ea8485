import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Controllers that the kernel knows and does not use.
struct UnconfiguredMachineTests {
  private let hci0 = ControllerIndex(rawValue: 0)
  private let address = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .public)

  /// Command Complete with these return parameters.
  private func complete(_ opcode: UInt16, _ octets: [UInt8] = [], status: UInt8 = 0, index: UInt16? = 0)
    -> ManagementPacket
  {
    ManagementPacket(
      code: 0x0001, index: index.map { ControllerIndex(rawValue: $0) } ?? .none,
      parameters: [UInt8(opcode & 0xFF), UInt8(opcode >> 8), status] + octets)
  }

  /// A machine that has found hci0, with the settings that hci0 supports and lacks.
  private func found(_ supported: UInt8, missing: UInt8, address: DeviceAddress?) -> (
    UnconfiguredMachine, [UnconfiguredMachine.Action]
  ) {
    var machine = UnconfiguredMachine(selector: .index(0), publicAddress: address)
    #expect(machine.look() == [.send(ManagementPacket(ReadUnconfiguredIndexList()))])
    #expect(
      machine.receive(complete(0x0036, [1, 0, 0, 0], index: nil))
        == [.send(ManagementPacket(ReadConfigurationInformation(), index: hci0))])
    let actions = machine.receive(complete(0x0037, [0xF1, 0x05, supported, 0, 0, 0, missing, 0, 0, 0]))
    return (machine, actions)
  }

  private func problem(_ actions: [UnconfiguredMachine.Action]) -> AdapterProblem? {
    if case .problem(let problem?)? = actions.first { problem } else { nil }
  }

  @Test func aMissingAddressIsSetFromTheConfiguration() {
    var (machine, actions) = found(3, missing: 2, address: address)
    #expect(actions == [.send(ManagementPacket(SetPublicAddress { $0.address = address.value }, index: hci0))])
    #expect(machine.receive(complete(0x0039, [0, 0, 0, 0])) == [])
    #expect(machine.receive(ManagementPacket(code: 0x001E, index: hci0, parameters: [])) == [.problem(nil)])
  }

  @Test func whatIsMissingIsSaid() {
    #expect(problem(found(2, missing: 2, address: nil).1)?.remedy.contains("\"publicAddresses\"") == true)
    #expect(problem(found(1, missing: 3, address: address).1)?.message.contains("maker") == true)
    #expect(problem(found(1, missing: 2, address: address).1)?.message.contains("its driver can set none") == true)
    var (machine, _) = found(2, missing: 2, address: address)
    #expect(problem(machine.receive(complete(0x0039, status: 0x0D)))?.message.contains("\(address)") == true)
  }

  @Test func othersAreLeftAlone() {
    var machine = UnconfiguredMachine(selector: .index(1), publicAddress: nil)
    _ = machine.look()
    #expect(machine.receive(complete(0x0036, [1, 0, 0, 0], index: nil)) == [])
    #expect(machine.receive(ManagementPacket(code: 0x001D, index: hci0, parameters: [])) == [])
    let added = ManagementPacket(code: 0x001D, index: ControllerIndex(rawValue: 1), parameters: [])
    #expect(machine.receive(added).count == 1)
    var byAddress = UnconfiguredMachine(selector: .address(address), publicAddress: nil)
    #expect(byAddress.look() == [])
  }

  @Test func nonsenseIsIgnored() {
    for octets: [UInt8] in [[], [9], [255, 255, 0]] {
      var machine = UnconfiguredMachine(selector: .index(0), publicAddress: nil)
      _ = machine.look()
      #expect(machine.receive(complete(0x0036, octets, index: nil)) == [])
    }
  }

  @Test func theLifecycleTellsItWhileTheControllerIsAbsent() {
    var machine = LifecycleMachine(selector: .index(0), spareAddress: 0)
    let problem = AdapterProblem(kind: .hardware, message: "no address", remedy: "set one")
    #expect(machine.handle(.unconfigured(problem), at: .zero) == [], "it is not known to be absent yet")
    _ = machine.handle(.start, at: .zero)
    _ = machine.handle(.managementOpened, at: .zero)
    #expect(machine.handle(.packet(complete(0x0003, [0, 0], index: nil)), at: .zero).contains(.state(.absent)))
    #expect(machine.handle(.unconfigured(problem), at: .zero) == [.state(.failed(problem))])
    #expect(machine.handle(.unconfigured(nil), at: .zero) == [.state(.absent)])
  }
}
