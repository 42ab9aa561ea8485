import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

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
    var told: [String] = []
    let note = stage.adapter.onEvent
    stage.adapter.onEvent = { [unowned stage] event in
      note?(event)
      switch event {
      case .stateChanged: told.append("\(stage.adapter.information.privateAddress.map { "\($0)" } ?? "none")")
      case .scanning(let isOn): told.append("scanning \(isOn)")
      default: break
      }
    }
    stage.adapter.start()
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .on && stage.adapter.information.privateAddress == addresses[0])
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(told.suffix(2) == ["\(addresses[0])", "scanning true"])
    told = []
    // Where commands are legacy the kernel makes another one after fifteen minutes.
    for _ in 0..<910 where stage.adapter.information.privateAddress == addresses[0] { try stage.wait(.seconds(1)) }
    try stage.settle()
    #expect(told == ["scanning true", "\(addresses[1])"])
  }
}
