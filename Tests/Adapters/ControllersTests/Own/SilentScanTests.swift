import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Controllers that got stuck, or began anew.
@Suite struct SilentScanTests {
  /// An advertisement of the phone.
  private let report = HCIPacket.event(
    EventPacket(code: 0x3E, parameters: [2, 1, 0, 1, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 3, 2, 1, 6, 0xC4]))

  private func enables(_ stage: HostStage) -> Int {
    stage.controller.commands.count { $0.opcode == LESetScanEnable.opcode && $0.parameters.first == 1 }
  }

  @Test("A scan that falls silent is begun anew, then the adapter, with all that was wanted (stack 2)")
  func silence() throws {
    let stage = try HostStage()
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    // A quarter of an hour with reports: then silence is unusual.
    for half in 0...30 {
      if half > 0 { try stage.wait(.seconds(30)) }
      try stage.controller.send([report])
      try stage.settle()
    }
    #expect(enables(stage) == 1)
    try stage.wait(.seconds(60))
    #expect(enables(stage) == 2 && stage.adapter.state == .on && stage.controller.connections == 1)
    try stage.wait(.seconds(60))
    #expect(stage.adapter.state != .on)
    try stage.wait(.seconds(1))
    #expect(stage.adapter.state == .on && stage.controller.connections == 2 && enables(stage) == 3)
  }

  @Test("A scan that falls silent under another private address is begun anew too (radio H6)")
  func silenceAfterRotation() throws {
    let stage = try HostStage(privacy: .seconds(300))
    let address = stage.adapter.information.privateAddress
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    for _ in 1...305 { try stage.wait(.seconds(1)) }
    #expect(stage.adapter.information.privateAddress != address)
    let count = enables(stage)
    for _ in 1...60 { try stage.wait(.seconds(1)) }
    #expect(enables(stage) == count + 1)
  }

  @Test("What a controller that may have begun anew was to do is set up again, and the adapter stays on (stack 2)")
  func beganAnew() throws {
    let stage = try HostStage()
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    try stage.wait(.seconds(5))
    try stage.controller.tell(.commandComplete(CommandComplete { $0.credits = 1 }))
    try stage.settle()
    // A cancelled connection may have an event yet.
    try stage.wait(.seconds(5))
    #expect(stage.adapter.state == .on && stage.controller.connections == 1 && enables(stage) == 2)
  }
}
