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

  @Test("P3: a scan and a pending connection take turns where the controller cannot do both")
  func scanAndConnect() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 22, 23))
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
      try script.connectIsCancelled()
      try script.command(prepareScan)
      try script.command(scanOn)
      script.wait(.milliseconds(999))
      script.silent()
      script.wait(.milliseconds(1))
      script.expectTold()
    }
    // The link is established: the scan has the controller for itself.
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

  /// An advertisement of a device, by the last octet of its address: connectable, or not (3).

  @Test func anAdvertisementTakesTurnsWithConnectingAndTellsItsRealInterval() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 32))
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
    try script.connectIsCancelled()
    for _ in 0..<3 { try script.answer() }
    try script.command("0a20 01 01")
    script.expectTold()
    script.give(.cancelConnect(belt))
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))), .sharing([], heldBack: []))
  }

  @Test func aLinkHoldsBackWhatIsImpossibleBesideIt() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 38, 26, 27))
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
    var script = RadioScript<LegacyFamily>(states: .all(without: 41))
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

  /// Answers all commands until one of these is sent.
  private func answer<Family>(_ script: inout RadioScript<Family>, until opcode: Opcode) throws {
    let count = script.opcodes.count { $0 == opcode }
    for _ in 0..<20 where script.opcodes.count(where: { $0 == opcode }) == count {
      if script.isAsked { try script.answer() } else { script.wait(.milliseconds(250)) }
    }
    try #require(script.opcodes.count { $0 == opcode } > count)
  }

  @Test("A controller that disallows to connect beside a scan is believed: they take turns (stack 3)")
  func disallowedBesideScan() throws {
    var script = RadioScript<LegacyFamily>(states: .all)
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    for _ in 0..<2 {
      try answer(&script, until: LECreateConnection.opcode)
      try script.refuse(0x0C)
    }
    // Without the scan, and at once.
    #expect(script.takeTold().contains(.sharing([.initiating, .scanningActively], heldBack: [])))
    let refused = script.now
    try script.command(scanOff)
    try script.started(create)
    #expect(script.now == refused)
    script.wait(.seconds(3))
    try script.connectIsCancelled()
    try script.command(prepareScan)
    try script.command(scanOn)
  }

  @Test("One refusal may be chance: scan and connection stay together")
  func disallowedOnce() throws {
    var script = RadioScript<LegacyFamily>(states: .all)
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    for _ in 0..<2 {
      try answer(&script, until: LECreateConnection.opcode)
      try script.refuse(0x0C)
      try answer(&script, until: LECreateConnection.opcode)
      try script.started(create)
      script.wait(.seconds(10))
      script.silent()
      script.give(.cancelConnect(belt))
      try script.connectIsCancelled()
      while script.isAsked { try script.answer() }
      script.give(.connect(belt, ConnectionParameters()))
    }
    #expect(
      !script.takeTold().contains {
        if case .sharing = $0 { true } else { false }
      })
  }

  @Test("An advertisement that is disallowed beside a link comes on when the link has ended (stack 3)")
  func advertisementBesideLink() throws {
    var script = RadioScript<LegacyFamily>(states: .all)
    try script.hear("3e 13 01 00 4000 00 01 02f4f3f2f1f0 2400 0000 9001 00")
    while script.isAsked { try script.answer() }
    _ = script.takeTold()
    let set = AdvertisingSetID(1)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    for _ in 0..<5 {
      while script.opcodes.last != LESetAdvertisingEnable.opcode || !script.isAsked {
        if script.isAsked { try script.answer() } else { script.wait(.seconds(1)) }
      }
      if script.opcodes.dropLast().last == LESetScanResponseData.opcode {
        try script.refuse(0x0C)
      } else {
        try script.answer()
      }
    }
    script.expectTold()
    try script.hear("05 04 00 4000 13")
    while script.isAsked { try script.answer() }
    script.expectTold(
      .linkDown(handle: 0x40, HCIStatus(rawValue: 0x13)), .advertising(set, .on(interval: .milliseconds(100))))
  }

  @Test("An advertisement that is disallowed beside a link is told as refused at the sixth time (radio M3)")
  func advertisementThatNoLinkLetsOn() throws {
    var script = RadioScript<LegacyFamily>(states: .all)
    try script.hear("3e 13 01 00 4000 00 01 02f4f3f2f1f0 2400 0000 9001 00")
    while script.isAsked { try script.answer() }
    _ = script.takeTold()
    let set = AdvertisingSetID(1)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    var refusals = 0
    for _ in 0..<200 where script.told.isEmpty {
      if !script.isAsked {
        script.wait(.seconds(1))
      } else if script.opcodes.suffix(2) == [LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode] {
        try script.refuse(0x0C)
        refusals += 1
      } else {
        try script.answer()
      }
    }
    let error = HCIStatus(.commandDisallowed).error("the advertisement could not be set up")
    script.expectTold(.advertising(set, .failed(error)))
    #expect(refusals == 6)
  }

  @Test("Beside a link a refusal tells nothing of the scan (radio H3)")
  func disallowedBesideLink() throws {
    var script = RadioScript<LegacyFamily>(states: .all)
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    try script.hear("3e 13 01 00 4000 01 01 02f4f3f2f1f0 2400 0000 9001 00")
    while script.isAsked { try script.answer() }
    script.give(.connect(belt, ConnectionParameters()))
    for _ in 0..<3 {
      try answer(&script, until: LECreateConnection.opcode)
      try script.refuse(0x0C)
    }
    #expect(
      !script.takeTold().contains {
        if case .sharing = $0 { true } else { false }
      })
  }

  @Test func aScanBeginsAnewWhenItIsTo() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.renewScan)
    script.silent()
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    script.expectTold(.scanning(true))
    script.give(.renewScan)
    try script.command(scanOff)
    try script.command(prepareScan)
    try script.command(scanOn)
    script.expectTold()
  }

  @Test("A link that fails at once is tried again within a second, however often (radio F6)")
  func failedToBeEstablished() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try answer(&script, until: LECreateConnection.opcode)
    for pause in [250, 500, 1000, 1000, 1000] {
      try script.started(create)
      try script.hear("3e 13 01 3e 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
      while script.isAsked { try script.answer() }
      script.wait(.milliseconds(pause - 1))
      let count = script.opcodes.count { $0 == LECreateConnection.opcode }
      script.wait(.milliseconds(1))
      while script.isAsked, script.opcodes.last != LECreateConnection.opcode { try script.answer() }
      #expect(script.opcodes.count { $0 == LECreateConnection.opcode } == count + 1, "\(pause)")
    }
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

  @Test func extendedCommandsThatAreNotKnownAreGivenUp() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.refuse(0x01)
    script.expectTold(.faulty(.extendedScanning))
    script.give(.connect(belt, ConnectionParameters()))
    try script.answer()
    try script.answer()
    try script.refuse(0x01)
    script.expectTold(.faulty(.extendedConnecting))
  }

  @Test("A controller that confirms a cancellation and sends no event keeps nothing else from running")
  func cancellationWithoutEvent() throws {
    var script = RadioScript<LegacyFamily>(states: .all(without: 22, 23))
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
