import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Controllers that cannot do everything at once.
struct RadioTurnsTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let lamp = DeviceAddress(value: 0xF0F1_F2F3_F402, kind: .random)
  private let create = "0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000"
  private let prepareScan = "0b20 07 01 6000 3000 00 00", scanOn = "0c20 02 01 00", scanOff = "0c20 02 00 00"
  private let up = LinkParameters(0x24, 0, 0x190)

  private func states(without bits: Int...) -> LEStates {
    .all.subtracting(LEStates(rawValue: bits.reduce(0) { $0 | 1 << UInt64($1) }))
  }

  private func cancelled(_ script: inout RadioScript<LegacyFamily>) throws {
    try script.command("0e20 00")
    try script.hear("3e 13 01 02 0000 00 01 000000000000 0000 0000 0000 00")
  }

  @Test("P3: a scan and a pending connection take turns where the controller cannot do both")
  func scanAndConnect() throws {
    var script = RadioScript<LegacyFamily>(states: states(without: 22, 23))
    script.give(.wantScan(ScanParameters()))
    try script.command(prepareScan)
    try script.command(scanOn)
    script.expectTold(.scanning(true))
    script.give(.connect(belt, ConnectionParameters()))
    script.expectTold(.sharing([.initiating, .scanningActively], heldBack: []))
    for _ in 0..<2 {
      try script.command(scanOff)
      if !script.opcodes.contains(LECreateConnection.opcode) {
        try script.command("1020 00")
        try script.command("1120 07 01 01f4f3f2f1f0")
      }
      try script.started(create)
      script.wait(.milliseconds(2999))
      script.silent()
      script.wait(.milliseconds(1))
      try cancelled(&script)
      try script.command(prepareScan)
      try script.command(scanOn)
      script.wait(.milliseconds(999))
      script.silent()
      script.wait(.milliseconds(1))
      script.expectTold()
    }
    // The link comes up: the scan has the controller for itself.
    try script.command(scanOff)
    try script.started(create)
    try script.hear("3e 13 01 00 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
    script.expectTold(
      .linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1), .sharing([], heldBack: []))
    script.give(.attached(belt))
    try script.command("1020 00")
    try script.command(prepareScan)
    try script.command(scanOn)
    script.wait(.seconds(60))
    script.silent()
    script.expectTold()
  }

  @Test func anAdvertisementTakesTurnsWithConnectingAndTellsItsRealInterval() throws {
    var script = RadioScript<LegacyFamily>(states: states(without: 32))
    let set = AdvertisingSetID(1)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    try script.answer()
    try script.answer()
    try script.answer()
    try script.command("0a20 01 01")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    script.give(.connect(belt, ConnectionParameters()))
    script.expectTold(
      .advertising(set, .on(interval: .milliseconds(250))),
      .sharing([.initiating, .advertisingConnectably], heldBack: []))
    try script.command("0a20 01 00")
    try script.command("1020 00")
    try script.command("1120 07 01 01f4f3f2f1f0")
    try script.started(create)
    script.wait(.seconds(3))
    try cancelled(&script)
    for _ in 0..<3 { try script.answer() }
    try script.command("0a20 01 01")
    script.expectTold()
    script.give(.cancelConnect(belt))
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))), .sharing([], heldBack: []))
  }

  @Test func aLinkHoldsBackWhatIsImpossibleBesideIt() throws {
    var script = RadioScript<LegacyFamily>(states: states(without: 38, 26, 27))
    let set = AdvertisingSetID(1), other = AdvertisingSetID(2)
    script.give(.wantScan(ScanParameters()))
    try script.command(prepareScan)
    try script.command(scanOn)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    script.expectTold(.scanning(true), .advertising(set, .on(interval: .milliseconds(100))))
    try script.hear("3e 13 01 00 4000 01 01 01f4f3f2f1f0 2400 0000 9001 00")
    script.expectTold(
      .linkUp(handle: 0x40, .peripheral, belt, up), .advertising(set, .off),
      .sharing([], heldBack: [.advertisingConnectably, .scanningActively]))
    try script.command(scanOff)
    script.expectTold(.scanning(false))
    script.give(.wantAdvertising(other, AdvertisingParameters(data: [2, 1, 6])))
    let error = GAPError.notSupported.error("the adapter cannot send this advertisement while it holds a link")
    script.expectTold(.advertising(other, .failed(error)))
    script.give(.wantAdvertising(other, nil))
    script.wait(.seconds(60))
    script.silent()
    script.expectTold()
    try script.hear("05 04 00 4000 13")
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(rawValue: 0x13)), .sharing([], heldBack: []))
    while script.isAsked { try script.answer() }
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))), .scanning(true))
  }

  @Test("P6: a connection that cannot be tried for ten seconds is told, once, with the reason")
  func waiting() throws {
    var script = RadioScript<LegacyFamily>(states: states(without: 41))
    try script.hear("3e 13 01 00 4000 01 01 02f4f3f2f1f0 2400 0000 9001 00")
    script.give(.connect(belt, ConnectionParameters()))
    script.expectTold(.linkUp(handle: 0x40, .peripheral, lamp, up), .sharing([], heldBack: [.initiating]))
    script.wait(.milliseconds(9999))
    script.expectTold()
    script.wait(.milliseconds(1))
    script.expectTold(
      .connectWaiting(belt, GAPError.notSupported.error("the adapter cannot connect while it holds a link")))
    script.wait(.seconds(60))
    script.expectTold()
    script.silent()
    script.wait(.seconds(5))
    try script.hear("05 04 00 4000 13")
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(rawValue: 0x13)), .sharing([], heldBack: []))
    while script.isAsked, !script.opcodes.contains(LECreateConnection.opcode) { try script.answer() }
    #expect(script.opcodes.contains(LECreateConnection.opcode))
  }

  @Test func refusalsForTenSecondsAreToldWithTheControllersReason() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("1020 00")
    try script.command("1120 07 01 01f4f3f2f1f0")
    let deadline = script.now.advanced(by: .seconds(12))
    while script.now < deadline {
      if script.isAsked { try script.refuse(0x0C) }
      script.wait(.milliseconds(250))
    }
    let waiting = script.takeTold().compactMap { action -> BluetoothError? in
      if case .connectWaiting(belt, let reason) = action { reason } else { nil }
    }
    #expect(waiting.map(\.code) == [0x0C])
  }

  @Test("Extended scanning that hears nothing where the kernel finds devices is given up")
  func silentScan() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.answer()
    try script.answer()
    script.expectTold(.scanning(true))
    script.wait(.seconds(120))
    script.expectTold()
    script.give(.kernelFound)
    script.wait(.seconds(1))
    script.expectTold(.faulty(.extendedScan))
  }

  @Test func aScanThatHearsSomethingIsKept() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.answer()
    try script.answer()
    try script.hear("3e 1a 0d 01 1300 01 01f4f3f2f1f0 01 00 ff 7f c8 0000 00 000000000000 00")
    script.give(.kernelFound)
    script.wait(.seconds(120))
    #expect(!script.told.contains(.faulty(.extendedScan)))
  }

  @Test func extendedCommandsThatAreNotKnownAreGivenUp() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.refuse(0x01)
    script.expectTold(.faulty(.extendedScan))
    script.give(.connect(belt, ConnectionParameters()))
    try script.answer()
    try script.answer()
    try script.refuse(0x01)
    script.expectTold(.faulty(.extendedCreateConnection))
  }

  @Test("A controller that confirms a cancellation and sends no event keeps nothing else from running")
  func cancellationWithoutEvent() throws {
    var script = RadioScript<LegacyFamily>(states: states(without: 22, 23))
    script.give(.doubt)
    script.give(.wantScan(ScanParameters()))
    try script.command("0e20 00")
    try script.command("0a20 01 00")
    try script.command(scanOff)
    script.silent()
    script.wait(.seconds(2))
    try script.command(prepareScan)
    try script.command(scanOn)
    script.expectTold(.scanning(true))
  }
}
