import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Private addresses on a scripted kernel: `PrivateAddressHost`.
struct PrivateAddressHostTests {
  private let addresses = (1...2 as ClosedRange<UInt64>).map {
    DeviceAddress(value: 0x5F11_2233_4400 | $0, kind: .random)
  }

  @Test("another address is told when what goes on under it has begun again")
  func rotation() throws {
    let stage = try KernelStage()
    stage.kernel.privateAddresses = addresses
    stage.kernel.works = [LESetRandomAddress.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode]
    stage.adapter.setPrivacy(PrivacySettings(root: Array(0..<16), rotation: .seconds(60)))
    stage.adapter.start()
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .on && stage.adapter.information.privateAddress == addresses[0])
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(try isScanning(stage))
    // The address of each change, and whether the controller scanned then.
    var told: [(address: DeviceAddress?, isScanning: Bool)] = []
    stage.adapter.onEvent = { [unowned stage] event in
      guard case .stateChanged = event else { return }
      told.append((stage.adapter.information.privateAddress, (try? isScanning(stage)) ?? false))
    }
    // Where commands are legacy the kernel makes another one after fifteen minutes.
    for _ in 0..<910 where stage.adapter.information.privateAddress == addresses[0] { try stage.wait(.seconds(1)) }
    try stage.settle()
    #expect(told.map(\.address) == [addresses[1]] && told.map(\.isScanning) == [true])
  }

  /// Whether the last command for it switched the scan on.
  private func isScanning(_ stage: KernelStage) throws -> Bool {
    let last = stage.kernel.controllerCommands.last { $0.opcode == LESetScanEnable.opcode }
    return try last.map { try LESetScanEnable(decoding: $0).isEnabled } ?? false
  }
}
