import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Following trains of periodic advertisements, as commands and events.
struct SyncMachineTests {
  private let train = PeriodicTrain(address: DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random), sid: 3)
  private let other = PeriodicTrain(address: DeviceAddress(value: 0x00AA_0102_0304, kind: .public), sid: 0)
  private let parameters = SyncParameters(timeout: .seconds(2))
  private static let established = "3e 10 0e 00 0100 03 01 f5f4f3f2f1f0 02 5000 00"
  private static let create = "4420 0e 00 03 01 f5f4f3f2f1f0 0000 c800 00"
  private static let createOther = "4420 0e 00 00 00 04030201aa00 0000 c800 00"

  private func script(_ features: LEFeatures = [.periodicAdvertising, .phy2M]) -> RadioScript<ExtendedFamily> {
    RadioScript(features: features)
  }

  /// The events of trains are unmasked, and the first train is being sought.
  private func seeking() throws -> RadioScript<ExtendedFamily> {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    try script.started(Self.create)
    script.expectTold()
    return script
  }

  private func following() throws -> RadioScript<ExtendedFamily> {
    var script = try seeking()
    try script.hear(Self.established)
    script.expectTold(.periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M)))
    return script
  }

  @Test("The events of trains, which the kernel masks, are unmasked beside those that it wants")
  func unmasking() throws {
    var script = script([.periodicAdvertising])
    script.give(.wantSync(train, parameters))
    // Enhanced Connection Complete, Extended Advertising Report, the three of trains, Advertising Set Terminated; and
    // the events of commands that every controller has.
    try script.command("0120 08 8ffb020000000000")
    try script.started(Self.create)
  }

  @Test func aTrainIsFoundAndItsFragmentsAreJoined() throws {
    var script = try following()
    try script.hear("3e 0c 0f 0100 7f c4 ff 01 04 01020304")
    script.expectTold()
    try script.hear("3e 0a 0f 0100 04 c3 ff 00 02 0506")
    let packet = PeriodicPacket(data: [1, 2, 3, 4, 5, 6], rssi: -61, txPower: 4)
    script.expectTold(.periodic(train, .received(packet)))
    try script.hear("3e 09 0f 0100 7f 7f ff 02 01 09")
    script.expectTold(.periodic(train, .received(PeriodicPacket(data: [9], rssi: nil, isTruncated: true))))
    script.silent()
  }

  @Test("No packet grows above 1650 octets")
  func bound() throws {
    var script = try following()
    for _ in 0..<8 { try script.hear("3e ff 0f 0100 7f c4 ff 01 f7" + String(repeating: "aa", count: 247)) }
    try script.hear("3e 08 0f 0100 7f c4 ff 00 00")
    let packet = PeriodicPacket(data: [UInt8](repeating: 0xAA, count: 1650), rssi: -60)
    script.expectTold(.periodic(train, .received(packet)))
  }

  @Test func oneThatIsLostIsSoughtAgain() throws {
    var script = try following()
    try script.hear("3e 03 10 0100")
    script.expectTold(.periodic(train, .lost))
    try script.started(Self.create)
    try script.hear(Self.established)
    script.expectTold(.periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M)))
  }

  @Test func oneThatIsNotWantedAnyMoreIsTerminated() throws {
    var script = try following()
    script.give(.wantSync(train, nil))
    try script.command("4620 02 0100")
    script.silent()
    script.expectTold()
  }

  @Test func oneThatIsSoughtIsCancelled() throws {
    var script = try seeking()
    script.give(.wantSync(train, nil))
    try script.command("4520 00")
    try script.hear("3e 10 0e 44 0000 03 01 f5f4f3f2f1f0 01 0000 00")
    script.silent()
    script.expectTold()
  }

  @Test("While several are sought each has ten seconds of scan")
  func turns() throws {
    var script = try seeking()
    script.give(.wantSync(other, parameters))
    script.wait(.seconds(60))
    script.silent()
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.expectTold(.scanning(true))
    script.wait(.seconds(9))
    script.silent()
    script.wait(.seconds(1))
    try script.command("4520 00")
    try script.hear("3e 10 0e 44 0000 03 01 f5f4f3f2f1f0 01 0000 00")
    try script.started(Self.createOther)
    script.wait(.seconds(10))
    try script.command("4520 00")
    // The train was found just then.
    try script.hear("3e 10 0e 00 0200 00 00 04030201aa00 01 0800 00")
    script.expectTold(.periodic(other, .synchronised(interval: .milliseconds(10), phy: .le1M)))
    try script.started(Self.create)
  }

  @Test("Scan that takes turns with advertising makes the turns of trains longer, not shorter")
  func sharedTurns() throws {
    // Scanning is possible beside no advertising.
    var script = RadioScript<ExtendedFamily>(
      states: .all.subtracting(LEStates(rawValue: 0x7700)), features: [.periodicAdvertising, .phy2M])
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.give(.wantAdvertising(AdvertisingSetID(1), AdvertisingParameters(isConnectable: true, data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    script.give(.wantSync(train, parameters))
    script.give(.wantSync(other, parameters))
    var scanned = Duration.zero
    for _ in 0..<1000 where !script.opcodes.contains(LEPeriodicAdvertisingCreateSyncCancel.opcode) {
      while script.isAsked { try script.answer() }
      if script.isScanning, script.opcodes.contains(LEPeriodicAdvertisingCreateSync.opcode) {
        scanned += .milliseconds(100)
      }
      script.wait(.milliseconds(100))
    }
    #expect(scanned >= .milliseconds(9900) && scanned <= .milliseconds(10300), "\(scanned)")
    #expect(script.now > .zero.advanced(by: .seconds(25)))
  }

  @Test func whatTheControllerHasNoRoomForFails() throws {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    try script.started(Self.create, status: 0x07)
    guard case .periodic(train, .failed(let error))? = script.takeTold().last else {
      Issue.record("not told")
      return
    }
    #expect(error.message.contains("stop following"))
    script.silent()
  }

  @Test func aControllerWithoutItRefuses() throws {
    var script = script([])
    script.give(.wantSync(train, parameters))
    script.silent()
    guard case .periodic(train, .failed(let error))? = script.takeTold().last else {
      Issue.record("not told")
      return
    }
    #expect(error.code == GAPError.notSupported.rawValue)
  }

  @Test func aRefusalThatMayPassIsTriedAgain() throws {
    var script = script()
    script.give(.wantSync(train, parameters))
    try script.answer()
    try script.started(Self.create, status: 0x0C)
    script.silent()
    script.wait(.seconds(1))
    try script.started(Self.create)
  }

  @Test("A train whose handle another one gets is lost, and sought again")
  func handleInUse() throws {
    var script = try following()
    script.give(.wantSync(other, parameters))
    try script.started(Self.createOther)
    try script.hear("3e 10 0e 00 0100 00 00 04030201aa00 01 0800 00")
    script.expectTold(
      .periodic(train, .lost), .periodic(other, .synchronised(interval: .milliseconds(10), phy: .le1M)))
    try script.started(Self.create)
    try script.hear("3e 0a 0f 0100 04 c3 ff 00 02 0506")
    script.expectTold(.periodic(other, .received(PeriodicPacket(data: [5, 6], rssi: -61, txPower: 4))))
  }

  @Test("What an owner before left is terminated when it is heard")
  func strays() throws {
    var script = try seeking()
    try script.hear("3e 08 0f 0700 7f c4 ff 00 00")
    script.expectTold()
    try script.command("4620 02 0700")
    script.silent()
  }

  @Test("Of any number of them a few are terminated at a time, the others when they are heard again")
  func manyStrays() throws {
    var script = try seeking()
    func hear() throws {
      for handle in 0x10..<0x60 { try script.hear("3e 08 0f \(String(handle, radix: 16))00 7f c4 ff 00 00") }
    }
    func terminated() throws -> Int {
      var count = 0
      while script.isAsked {
        if script.opcodes.last == 0x2046 { count += 1 }
        try script.answer()
      }
      return count
    }
    try hear()
    #expect(try terminated() == SyncMachine.maximumStrays)
    try hear()
    #expect(try terminated() == SyncMachine.maximumStrays)
    script.expectTold()
    script.silent()
  }

  @Test func afterDoubtATrainIsSoughtAnew() throws {
    var script = try following()
    script.give(.doubt)
    script.expectTold(.periodic(train, .lost))
    var commands: [Opcode] = []
    while script.isAsked {
      commands.append(try #require(script.opcodes.last))
      try script.answer()
    }
    #expect(commands.suffix(2) == [0x2046, 0x2044])
  }
}
