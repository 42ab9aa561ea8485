import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Private addresses on a scripted kernel: `PrivateAddressRunner`.
struct PrivateAddressRunnerTests {
  private let addresses = (1...2 as ClosedRange<UInt64>).map {
    DeviceAddress(value: 0x5F11_2233_4400 | $0, kind: .random)
  }

  /// A stage with a kernel that makes these addresses, and a controller with legacy commands.
  private func stage(_ made: [DeviceAddress], rotation: Duration = .seconds(60)) throws -> KernelStage {
    let stage = try KernelStage()
    stage.kernel.privateAddresses = made
    stage.kernel.works = [LESetRandomAddress.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode]
    stage.adapter.setPrivacy(PrivacySettings(root: Array(0..<16), rotation: rotation))
    stage.adapter.start()
    try stage.wait(.seconds(1))
    return stage
  }

  /// Advances the clock second by second: each step of a change has its turn.
  private func wait(_ seconds: Int, _ stage: KernelStage) throws {
    for _ in 0..<seconds { try stage.wait(.seconds(1)) }
  }

  @Test("without an address the controller cannot be used")
  func none() throws {
    let stage = try stage([])
    guard case .failed(let problem) = stage.adapter.state else { throw Missing(state: stage.adapter.state) }
    #expect(problem.message.contains("no private address"))
  }

  @Test("a controller that slept keeps its address if the kernel makes none, which is tried again in a minute")
  func slept() throws {
    let stage = try stage([addresses[0]])
    #expect(stage.adapter.information.privateAddress == addresses[0])
    // The system did not go to sleep, but everything had ended.
    try stage.kernel.tell(ControllerSuspend())
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .on && stage.adapter.information.privateAddress == addresses[0])
    stage.kernel.privateAddresses = [addresses[1]]
    try stage.wait(.seconds(50))
    #expect(stage.adapter.information.privateAddress == addresses[0])
    try wait(20, stage)
    #expect(stage.adapter.information.privateAddress == addresses[1])
  }

  @Test("with legacy commands the kernel's own fifteen minutes must be over, or a longer time")
  func longer() throws {
    let stage = try stage(addresses, rotation: .seconds(1200))
    try stage.wait(.seconds(1190))
    #expect(stage.adapter.information.privateAddress == addresses[0])
    try wait(20, stage)
    #expect(stage.adapter.information.privateAddress == addresses[1])
  }

  @Test("without privacy the kernel prepares an advertisement, under the address that the controller keeps")
  func notPrivate() throws {
    let stage = try KernelStage.on { $0.features.insert(.extendedAdvertising) }
    try wait(2, stage)
    #expect(stage.adapter.information.privateAddress == nil)
    #expect(stage.kernel.commands.contains { $0.code == AddExtendedAdvertisingParameters.opcode })
    // The adapter was switched on: its activities begin from a known state.
    #expect(stage.kernel.controllerCommands.contains { $0.opcode == LECreateConnectionCancel.opcode })
  }

  @Test("another address is told when what goes on under it has begun again")
  func rotation() throws {
    let stage = try stage(addresses)
    #expect(stage.adapter.state == .on && stage.adapter.information.privateAddress == addresses[0])
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(try isScanning(stage))
    // The address of each change, and whether the controller was scanning then.
    var told: [(address: DeviceAddress?, isScanning: Bool)] = []
    stage.adapter.onEvent = { [unowned stage] event in
      guard case .stateChanged = event else { return }
      told.append((stage.adapter.information.privateAddress, (try? isScanning(stage)) ?? false))
    }
    // With legacy commands the kernel makes another one after fifteen minutes.
    for _ in 0..<910 where stage.adapter.information.privateAddress == addresses[0] { try stage.wait(.seconds(1)) }
    try stage.settle()
    #expect(told.map(\.address) == [addresses[1]] && told.map(\.isScanning) == [true])
  }

  /// True if the last command for it switched the scan on.
  private func isScanning(_ stage: KernelStage) throws -> Bool {
    let last = stage.kernel.controllerCommands.last { $0.opcode == LESetScanEnable.opcode }
    return try last.map { try LESetScanEnable(decoding: $0).isEnabled } ?? false
  }
}

private struct Missing: Error { let state: AdapterState }
