import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct LinkNewsTests {
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
        .link(handle: 0x40, .features(.success, [.dataPacketLengthExtension, .phy2M])),
        .link(handle: 0x40, .features(HCIStatus(.unsupportedRemoteFeature), [])),
      ])
  }
}
