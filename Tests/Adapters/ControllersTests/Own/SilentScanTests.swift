import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Controllers that got stuck, or restarted.
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

  /// A controller with extended commands.
  private func extended(_ controller: ScriptedController) {
    controller.returned[0x2003] = [0, 0x10, 0, 0, 0, 0, 0, 0]
    controller.returned[0x1001] = [13, 1, 0, 13, 0x0F, 0, 7, 0]
    controller.returned[0x1002] = [UInt8](repeating: 0, count: 37) + [0xE0] + [UInt8](repeating: 0, count: 26)
  }

  /// The last command for a scan.
  private func lastEnable(_ stage: HostStage) -> UInt16? {
    let opcodes = stage.controller.commands.map(\.opcode.rawValue)
    return opcodes.last { $0 == LESetScanEnable.opcode.rawValue || $0 == 0x2042 }
  }

  @Test("An extended scan that receives nothing is replaced by a legacy one, which is learned if that receives thrice")
  func silentExtendedScan() throws {
    let stage = try HostStage(extended)
    let keeper = Keeper()
    stage.adapter.setQuirks(keeper)
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(enables(stage) == 0)
    let model = QuirkTable.Model(company: 0x0F, hciRevision: 1, revision: 7)
    for trial in 1...3 {
      #expect(lastEnable(stage) == 0x2042)
      try stage.wait(.seconds(60))
      #expect(stage.adapter.state == .starting)
      try stage.wait(.seconds(1))
      #expect(stage.adapter.state == .on && enables(stage) == trial, "legacy commands are tried")
      #expect(keeper.quirks == QuirkTable())
      try stage.controller.send([report])
      try stage.settle()
      let learned: Set<Quirk> = trial < 3 ? [] : [.extendedScanning]
      #expect(keeper.quirks.quirks(of: model) == learned)
      #expect(Set(stage.adapter.information.quirks.map(\.quirk)) == learned)
      #expect(stage.adapter.silence == ControllerSilence(report: .zero, event: .zero))
      try stage.wait(.seconds(30))
      #expect(stage.adapter.silence.report == .seconds(30))
      guard trial < 3 else { break }
      stage.adapter.setPower(false) { _ in }
      try stage.settle()
      try stage.wait(.seconds(5))
      stage.adapter.setPower(true) { _ in }
      try stage.settle()
    }
  }

  @Test("An adapter that is switched off during a trial stays off, and uses extended commands when it is on again")
  func powerInATrial() throws {
    let stage = try HostStage(extended)
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    try stage.wait(.seconds(60))
    try stage.wait(.seconds(1))
    #expect(lastEnable(stage) == LESetScanEnable.opcode.rawValue)
    stage.adapter.setPower(false) { _ in }
    try stage.settle()
    for _ in 1...70 { try stage.wait(.seconds(1)) }
    #expect(stage.adapter.state == .off)
    stage.adapter.setPower(true) { _ in }
    try stage.settle()
    #expect(stage.adapter.state == .on && lastEnable(stage) == 0x2042)
  }

  @Test("There is no trial while a connection is pending, or for a scan on LE Coded alone")
  func noTrial() throws {
    for isPending in [false, true] {
      let stage = try HostStage(extended)
      if isPending { stage.adapter.connect(to: HostStage.phone, ConnectionParameters()) }
      stage.adapter.setScan(isPending ? ScanParameters() : ScanParameters(phys: [.leCoded]))
      try stage.settle()
      for _ in 1...62 { try stage.wait(.seconds(1)) }
      #expect(stage.adapter.state == .on && stage.controller.connections == 1 && enables(stage) == 0)
    }
  }

  @Test("A trial that receives nothing either ends after a minute, and extended commands are used again")
  func trialEnds() throws {
    let stage = try HostStage(extended)
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    for _ in 1...62 { try stage.wait(.seconds(1)) }
    #expect(enables(stage) == 1 && stage.adapter.information.quirks.isEmpty)
    for _ in 1...62 { try stage.wait(.seconds(1)) }
    let last = stage.controller.commands.last { $0.opcode == LESetScanEnable.opcode || $0.opcode.rawValue == 0x2042 }
    #expect(stage.adapter.state == .on && last?.opcode.rawValue == 0x2042)
    #expect(stage.adapter.information.quirks.isEmpty)
  }

  @Test("A learned quirk holds from the next start on, without a trial")
  func learnedBefore() throws {
    let keeper = Keeper()
    keeper.quirks.learn(
      .extendedScanning, of: QuirkTable.Model(company: 0x0F, hciRevision: 1, revision: 7), at: 1000)
    let stage = try HostStage(quirks: keeper, extended)
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    #expect(enables(stage) == 1 && !stage.controller.commands.contains { $0.opcode.rawValue == 0x2042 })
    #expect(stage.adapter.information.quirks == [.init(.extendedScanning, learned: 1000)])
  }

  @Test("A controller that may have begun anew gets the settings of its set-up and its address again")
  func settings() throws {
    let stage = try HostStage(privacy: .seconds(900))
    stage.adapter.setScan(ScanParameters())
    try stage.settle()
    try stage.wait(.seconds(5))
    func given(_ from: Int) -> [UInt16] { stage.controller.commands.dropFirst(from).map(\.opcode.rawValue) }
    let settings: Set<UInt16> = [0x0C01, 0x2001, 0x0C6D, 0x2005]
    #expect(settings.isSubset(of: given(0)))
    let count = stage.controller.commands.count
    try stage.controller.tell(.commandComplete(CommandComplete { $0.credits = 1 }))
    try stage.settle()
    #expect(settings.isSubset(of: given(count)))
    let address = stage.controller.commands.last { $0.opcode == LESetRandomAddress.opcode }
    #expect(address?.parameters == stage.adapter.information.privateAddress?.littleEndian)
    // Masks are set before the scan.
    #expect(given(count).firstIndex(of: 0x2001)! < given(count).firstIndex(of: 0x200C)!)
  }

  /// The owner of a table.
  private final class Keeper: QuirkKeeper {
    var quirks = QuirkTable()
  }
}
