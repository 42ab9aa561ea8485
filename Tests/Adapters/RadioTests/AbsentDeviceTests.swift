import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Absent devices with pending connections, on controllers that cannot scan and initiate at once.
struct AbsentDeviceTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let create = "0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000"
  private let prepareScan = "0b20 07 01 6000 3000 00 00", scanOn = "0c20 02 01 00", scanOff = "0c20 02 00 00"
  private let up = LinkParameters(0x24, 0, 0x190)

  private func advertises(
    _ device: String, _ script: inout RadioScript<LegacyFamily>, type: String = "00"
  ) throws {
    try script.hear("3e 0c 02 01 \(type) 01 \(device)f4f3f2f1f0 00 c0")
  }

  @Test("A device that a turn of connecting did not find is listened for, and connected when it is heard (radio F2)")
  func absentDevice() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 22, 23))
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(scanOff)
    try script.command("1020 00")
    try script.command("1120 07 01 01f4f3f2f1f0")
    try script.started(create)
    script.wait(.seconds(3))
    try script.connectIsCancelled()
    try script.command(prepareScan)
    try script.command(scanOn)
    try advertises("02", &script)
    script.wait(.seconds(1))
    // The scan has not proved yet that it receives anything: one more turn.
    _ = script.takeTold()
    while script.isAsked { try script.answer() }
    script.wait(.seconds(4))
    while script.isAsked { try script.answer() }
    // From now on the scan loses nothing, as long as it receives others.
    let turns = script.opcodes.count { $0 == LECreateConnection.opcode }
    for _ in 0..<30 {
      try advertises("02", &script)
      try advertises("01", &script, type: "03")
      script.wait(.seconds(2))
      script.silent()
    }
    #expect(script.opcodes.count { $0 == LECreateConnection.opcode } == turns)
    // Turns are reported once, not whenever the scan listens.
    let told = script.takeTold()
    #expect(!told.contains { if case .connectWaiting = $0 { true } else { false } })
    #expect(!told.contains { if case .sharing = $0 { true } else { false } })
    try advertises("01", &script)
    try script.command(scanOff)
    try script.started(create)
    try script.hear("3e 13 01 00 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
    script.expectTold(
      .linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1), .sharing([], heldBack: []))
  }

  @Test("A device that advertises every 5 s is connected under a scan that hears others")
  func seldomDevice() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 22, 23))
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    var isFound = false
    for quarter in 0..<240 where !isFound {
      while script.isAsked {
        let isCancelling = script.opcodes.last == LECreateConnectionCancel.opcode
        try script.answer()
        if isCancelling { try script.hear("3e 13 01 02 0000 00 01 000000000000 0000 0000 0000 00") }
      }
      let isConnecting = script.opcodes.last == LECreateConnection.opcode
      if !isConnecting { try advertises("02", &script) }
      if quarter % 20 == 17 {
        if isConnecting { isFound = true } else { try advertises("01", &script) }
      }
      script.wait(.milliseconds(250))
    }
    #expect(isFound)
  }

  @Test("A scan that hears nothing, or seldom listens, is not relied on: connecting has its turns")
  func unreliableScan() throws {
    for scan in [
      ScanParameters(interval: .milliseconds(600), window: .milliseconds(30)), ScanParameters(),
    ] {
      var script = RadioScript<LegacyFamily>(states: .all(without: 22, 23))
      script.give(.wantScan(scan))
      while script.isAsked { try script.answer() }
      script.give(.connect(belt, ConnectionParameters()))
      for second in 0..<40 {
        while script.isAsked { try script.answer() }
        if second < 8 || scan.window * 2 < scan.interval { try advertises("02", &script) }
        script.wait(.seconds(1))
      }
      let turns = script.opcodes.count { $0 == LECreateConnection.opcode }
      #expect(turns >= 7, "\(turns) turns")
    }
  }

  @Test("A scan that takes turns with an advertisement, or waits for the end of a link, is not relied on")
  func pausingScan() throws {
    // 10, 14: connectable advertising beside a scan; 22, 23: initiating beside one.
    var script = RadioScript<LegacyFamily>(states: .all(without: 10, 14, 22, 23))
    script.give(.wantScan(ScanParameters()))
    script.give(.wantAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    for _ in 0..<240 {
      while script.isAsked {
        let isCancelling = script.opcodes.last == LECreateConnectionCancel.opcode
        try script.answer()
        if isCancelling { try script.hear("3e 13 01 02 0000 00 01 000000000000 0000 0000 0000 00") }
      }
      if script.opcodes.last == LESetScanEnable.opcode { try advertises("02", &script) }
      script.wait(.milliseconds(250))
    }
    // A round takes 4 s, 3 s of them for connecting.
    let turns = script.opcodes.count { $0 == LECreateConnection.opcode }
    #expect(turns >= 12, "\(turns) turns")
  }
}
