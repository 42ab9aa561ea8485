import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Devices that the controller monitors (Core 6.0, Vol 4, Part E, 7.8.146 to 7.8.150): a scan with few reports to the
/// host.
struct WatchListTests {
  private typealias Script = RadioScript<ExtendedFamily>

  private static let belt = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
  private static let lamp = DeviceAddress(value: 0x00AA_BBCC_DDEE, kind: .public)
  private let watch = ScanParameters(isActive: false, watched: WatchedDevices([belt: 10, lamp: 255], number: 1))
  private let plain = ScanParameters(isActive: false)

  /// A controller with a list of this number of devices, after it has stopped monitoring for an earlier owner.
  private func script(list: Int) throws -> Script {
    var script = Script(monitoredList: list)
    script.give(.tick)
    if list > 0 { try script.command("9c20 01 00") }
    script.silent()
    return script
  }

  /// The list is given to the controller, and the scan is begun.
  private func begin(_ script: inout Script, again: Bool = false) throws {
    try script.command("9a20 00")
    try script.command("9820 0a 00 eeddccbbaa00 81 81 ff")
    try script.command("9820 0a 01 5544332211c0 81 81 0a")
    try script.command("9c20 01 01")
    try script.command("4120 08 00 00 01 00 6000 3000")
    // Reports may precede the answer.
    script.expectTold(.watching(true))
    // Duplicates are filtered.
    try script.command("4220 06 01 01 0000 0000")
    if again { script.expectTold() } else { script.expectTold(.scanning(true)) }
    script.silent()
  }

  /// Examines a controller with these features and without these bits of its supported commands.
  private func setUp(
    _ features: UInt64 = 1 << 63, more: UInt64 = 1 << 0, pages: UInt8 = 1,
    without absent: (octet: Int, bits: UInt8)? = nil
  ) -> (sent: [CommandPacket], profile: ControllerProfile?) {
    let octets = SetUpScript.octets
    return SetUpScript.play(
      features, without: absent,
      [
        LEReadAllLocalSupportedFeatures.opcode: [0, pages] + octets(features) + octets(more)
          + [UInt8](repeating: 0, count: 232),
        LEReadMonitoredAdvertisersListSize.opcode: [0, 8],
      ])
  }

  @Test("A controller that can is asked for its list, and the event is unmasked")
  func known() throws {
    let (sent, profile) = setUp()
    let mask = try #require(sent.last { $0.opcode == LESetEventMask.opcode })
    // Bit 51.
    #expect(mask.parameters[6] == 0x08 && profile?.monitoredListSize == 8)
    for (sent, profile) in [
      setUp(0), setUp(more: 0), setUp(pages: 0), setUp(without: (47, 0x04)), setUp(without: (47, 0x20)),
      setUp(without: (47, 0x80)), setUp(without: (48, 0x01)),
    ] {
      #expect(!sent.contains { $0.opcode == LEReadMonitoredAdvertisersListSize.opcode })
      #expect(profile?.monitoredListSize == 0)
    }
    // Without short intervals, since it lacks their commands.
    #expect(setUp(without: (48, 0xE0)).profile?.monitoredListSize == 8)
  }

  @Test("The list is filled while the scan is off, and what the controller says is told")
  func watched() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    try script.hear("3e 09 34 01 5544332211c0 01")
    try script.hear("3e 09 34 00 eeddccbbaa00 00")
    script.expectTold(.presence(Self.belt, true), .presence(Self.lamp, false))
    // A plain scan again: duplicates are reported, and the list does nothing.
    script.give(.wantScan(plain))
    try script.command("4220 06 00 00 0000 0000")
    try script.command("9c20 01 00")
    try script.command("4120 08 00 00 01 00 6000 3000")
    try script.command("4220 06 01 00 0000 0000")
    script.expectTold(.watching(false))
    try script.hear("3e 09 34 01 5544332211c0 01")
    script.expectTold()
    script.give(.wantScan(watch))
    try script.command("4220 06 00 00 0000 0000")
    try begin(&script, again: true)
  }

  @Test("Another number begins the scan anew, so that devices which are there are reported")
  func anew() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    script.give(.wantScan(watch))
    script.silent()
    var later = watch
    later.watched?.number = 2
    script.wait(.seconds(1))
    script.give(.wantScan(later))
    try script.command("4220 06 00 00 0000 0000")
    try script.command("9c20 01 00")
    script.expectTold(.watching(false))
    try begin(&script, again: true)
  }

  @Test("However often other devices are wanted, a watch lasts for a second; reports are wanted at once")
  func rate() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    var later = watch
    for number in 2...100 {
      later.watched?.number = number
      script.give(.wantScan(later))
      script.wait(.milliseconds(10))
    }
    script.silent()
    script.wait(.milliseconds(10))
    try script.command("4220 06 00 00 0000 0000")
    try script.command("9c20 01 00")
    script.expectTold(.watching(false))
    try begin(&script, again: true)
    // The same devices as before: no action is needed.
    later.watched?.number = 101
    script.give(.wantScan(later))
    later.watched?.number = 100
    script.give(.wantScan(later))
    script.wait(.seconds(2))
    script.silent()
    script.give(.wantScan(plain))
    try script.command("4220 06 00 00 0000 0000")
  }

  @Test("A scan that ends leaves no list that watches; quiet waits for that")
  func ended() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    script.give(.quiet)
    try script.command("4220 06 00 00 0000 0000")
    script.expectTold(.watching(false), .scanning(false))
    try script.command("9c20 01 00")
    script.expectTold(.quiet)
  }

  @Test("A list that is too small, or none, leaves it to the reports", arguments: [0, 1])
  func tooSmall(size: Int) throws {
    var script = try script(list: size)
    script.give(.wantScan(watch))
    try script.command("4120 08 00 00 01 00 6000 3000")
    try script.command("4220 06 01 00 0000 0000")
    script.expectTold(.scanning(true))
    script.silent()
  }

  @Test("What the controller refuses is left to the reports, and is no fault of its scan")
  func refused() throws {
    for refusal: (step: Int, status: UInt8) in [(0, 0x01), (2, 0x07), (3, 0x0C)] {
      var script = try script(list: 8)
      script.give(.wantScan(watch))
      for _ in 0..<refusal.step { try script.answer() }
      try script.refuse(refusal.status)
      try script.command("4120 08 00 00 01 00 6000 3000")
      try script.command("4220 06 01 00 0000 0000")
      script.expectTold(.scanning(true))
      script.silent()
    }
  }

  @Test("A scan that cannot be enabled does not watch")
  func notEnabled() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    for _ in 0..<5 { try script.answer() }
    try script.refuse(0x0C)
    script.expectTold(.watching(true), .watching(false))
  }

  @Test("Devices of one number are listed in the order of their types")
  func order() throws {
    var script = try script(list: 2)
    let other = DeviceAddress(value: Self.lamp.value, kind: .random)
    script.give(.wantScan(ScanParameters(watched: WatchedDevices([other: 10, Self.lamp: 10], number: 1))))
    try script.command("9a20 00")
    try script.command("9820 0a 00 eeddccbbaa00 81 81 0a")
    try script.command("9820 0a 01 eeddccbbaa00 81 81 0a")
  }

  @Test("A pause that ran out before the scan ended: the next scan, of another kind, does not watch")
  func pause() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    script.give(.pause)
    try script.unanswered("4220 06 00 00 0000 0000")
    script.give(.resume(DeviceAddress(value: 0x5F11_2233_4455, kind: .random), RadioTargets(scan: plain)))
    try script.hear("0e04 01 4220 00")
    while script.isAsked { try script.answer() }
    script.expectTold(.watching(false), .resumed)
  }

  @Test("After another program's command the scan is begun again, after doubt the list is given anew")
  func disturbed() throws {
    var script = try script(list: 2)
    script.give(.wantScan(watch))
    try begin(&script)
    try script.hear("0e04 01 4220 00")
    script.expectTold(.watching(false), .scanning(false))
    script.wait(.milliseconds(250))
    try script.command("4220 06 00 00 0000 0000")
    try script.command("4120 08 00 00 01 00 6000 3000")
    try script.command("4220 06 01 01 0000 0000")
    script.expectTold(.watching(true), .scanning(true))
    let before = script.opcodes.count
    script.give(.doubt)
    while script.isAsked { try script.answer() }
    script.expectTold(.watching(false), .watching(true))
    let list = script.opcodes.dropFirst(before).filter { 0x2098...0x209C ~= $0.rawValue }
    #expect(list.map(\.rawValue) == [0x209C, 0x209A, 0x2098, 0x2098, 0x209C])
    // The controller is reset.
    try script.hear("0e04 01 030c 00")
    script.expectTold(.watching(false), .scanning(false))
  }
}
