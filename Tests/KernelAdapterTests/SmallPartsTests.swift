import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

struct SmallPartsTests {
  @Test func selectors() {
    #expect(AdapterSelector("hci0") == .index(0))
    #expect(AdapterSelector("hci12")?.description == "hci12")
    let address = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .public)
    #expect(AdapterSelector("f0:f1:f2:f3:f4:f5") == .address(address))
    #expect(AdapterSelector("F0:F1:F2:F3:F4:F5")?.description == "F0:F1:F2:F3:F4:F5")
    for text in ["", "hci", "hci-1", "hci65535", "hci70000", "usb0", "F0:F1:F2:F3:F4"] {
      #expect(AdapterSelector(text) == nil, "\(text)")
    }
  }

  @Test("G18: parameters that the controllers do not agree on are told as refused, others as changed")
  func parametersOfLinks() throws {
    var script = RadioScript<LegacyFamily>()
    try script.hear("3e 0a 03 1a 4000 0000 0000 0000")
    try script.hear("3e 0a 03 00 4000 9001 0400 f401")
    let changed = LinkParameters(interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(5))
    #expect(
      script.told == [
        .link(handle: 0x40, .parametersRefused(HCIStatus(.unsupportedRemoteFeature))),
        .link(handle: 0x40, .parameters(changed)),
      ])
  }

  @Test("What the controller tells of a link's PHYs, packets and features is told")
  func newsOfLinks() throws {
    var script = RadioScript<LegacyFamily>()
    try script.hear("3e 06 0c 00 4000 02 03")
    try script.hear("3e 06 0c 1a 4000 00 00")
    try script.hear("3e 0b 07 4000 fb00 4808 1b00 4801")
    try script.hear("3e 0c 04 00 4000 2001000000000000")
    try script.hear("3e 0c 04 1a 4000 0000000000000000")
    #expect(
      script.told == [
        .link(handle: 0x40, .phy(.success, tx: .le2M, rx: .leCoded)),
        .link(handle: 0x40, .phy(HCIStatus(.unsupportedRemoteFeature), tx: nil, rx: nil)),
        .link(handle: 0x40, .dataLength(tx: 251, rx: 27)),
        .link(handle: 0x40, .features([.dataPacketLengthExtension, .phy2M])),
      ])
  }

  @Test("The longest packets take the times of the specification (Vol 6, Part B, 4.5.10)")
  func packetTimes() {
    #expect([27, 251].map { KernelAdapter.time(of: $0, hasCodedPHY: false) } == [328, 2120])
    #expect([27, 251].map { KernelAdapter.time(of: $0, hasCodedPHY: true) } == [2704, 17040])
  }

  @Test("A controller that lacks the commands of a feature is not asked for it")
  func featuresWithoutCommands() {
    var profile = ControllerProfile(address: .none)
    profile.features = [.phy2M, .codedPHY, .dataPacketLengthExtension]
    profile.commands = [UInt8](repeating: 0, count: 64)
    #expect(profile.usableFeatures.isEmpty && profile.phys == [.le1M])
    profile.commands?[33] = 0x40
    profile.commands?[35] = 0x40
    #expect(profile.usableFeatures == .dataPacketLengthExtension)
    profile.commands?[35] = 0x50
    #expect(profile.usableFeatures == profile.features && profile.phys == Set(PHY.allCases))
  }

  @Test func spareAddressesAreStaticAndStable() {
    let value = SpareAddress.make(for: .index(0))
    #expect(DeviceAddress(value: value, kind: .random).isStaticRandom)
    #expect(SpareAddress.make(for: .index(1)) != value)
  }

  @Test func backOffDoublesUpToItsLimit() {
    var backOff = BackOff(first: .milliseconds(250), limit: .seconds(1))
    var now = Instant.zero
    for delay in [250, 500, 1000, 1000] {
      backOff.fail(at: now)
      #expect(!backOff.allows(at: now))
      #expect(backOff.deadline(after: now) == now.advanced(by: .milliseconds(delay)))
      now = now.advanced(by: .milliseconds(delay))
      #expect(backOff.allows(at: now))
    }
    for _ in 0..<100 { backOff.fail(at: now) }
    backOff.reset()
    #expect(backOff.allows(at: .zero))
  }
}
