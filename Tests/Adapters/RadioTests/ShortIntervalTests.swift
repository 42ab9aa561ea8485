import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Shorter connection intervals (Core 6.2, Vol 6, Part B, 4.5.1): the commands to the controller, and its reports.
struct ShortIntervalTests {
  private static let extended: UInt64 = 1 << 63

  /// Examines a controller with these features and without these bits of its supported commands.
  private func setUp(
    _ features: UInt64 = extended, more: UInt64 = 1 << 8, pages: UInt8 = 1,
    without absent: (octet: Int, bits: UInt8)? = nil, hostFeature: UInt8 = 0, shortest: UInt8 = 6
  ) -> (sent: [CommandPacket], profile: ControllerProfile?) {
    let octets = SetUpScript.octets
    return SetUpScript.play(
      features, without: absent,
      [
        LESetHostFeature.opcode: [hostFeature], LESetHostFeatureV2.opcode: [hostFeature],
        LEReadAllLocalSupportedFeatures.opcode: [0, pages] + octets(features) + octets(more)
          + [UInt8](repeating: 0, count: 232),
        LEReadMinimumSupportedConnectionInterval.opcode: [0, shortest, 1, 6, 0, 60, 0, 2, 0],
        LESetDefaultRateParameters.opcode: [0x20],
      ])
  }

  @Test("A controller that can is told so before there is a link, and the event is unmasked")
  func enabled() throws {
    let (sent, profile) = setUp()
    let mask = try #require(sent.last { $0.opcode == LESetEventMask.opcode })
    // Bit 42 is the event of the remote features, bit 54 that of the rate.
    #expect(mask.parameters[5] & 0x04 != 0 && mask.parameters[6] == 0x40)
    let host = try #require(sent.first { $0.opcode == LESetHostFeatureV2.opcode })
    #expect(host.parameters == [73, 0, 1])
    let rate = try #require(sent.last)
    #expect(rate.opcode == LESetDefaultRateParameters.opcode)
    #expect(rate.parameters == [6, 0, 240, 0, 1, 0, 50, 0, 9, 0, 0, 0, 0x80, 0x0C, 1, 0, 0x7F, 0x3E])
    // A refusal of the peripherals' rates changes nothing.
    #expect(profile?.shortestInterval == .microseconds(750))
  }

  @Test func theOlderCommandTellsTheHostsFeatureWhereThereIsNoOther() throws {
    let (sent, profile) = setUp(without: (47, 0x10))
    let host = try #require(sent.first { $0.opcode == LESetHostFeature.opcode })
    #expect(host.parameters == [73, 1])
    #expect(profile?.shortestInterval == .microseconds(750))
    #expect(profile?.features.contains(.connectionSubratingHostSupport) == false)
  }

  @Test("Both features of hosts are kept apart")
  func subrating() {
    let both = setUp(Self.extended | 1 << 37, without: (47, 0x10))
    #expect(both.sent.filter { $0.opcode == LESetHostFeature.opcode }.map(\.parameters) == [[38, 1], [73, 1]])
    #expect(both.profile?.usableFeatures.contains(.subrating) == true)
    #expect(both.profile?.shortestInterval == .microseconds(750))
  }

  @Test("Without the feature or one of its commands nothing is sent; a refusal of the host's bit leaves it unused")
  func disabled() {
    for (sent, profile) in [
      setUp(0), setUp(more: 1 << 9), setUp(pages: 0), setUp(without: (47, 0x04)), setUp(without: (47, 0x08)),
      setUp(without: (48, 0x20)), setUp(without: (48, 0x40)), setUp(without: (48, 0x80)),
    ] {
      #expect(
        !sent.contains { $0.opcode == LESetHostFeatureV2.opcode || $0.opcode == LESetDefaultRateParameters.opcode })
      #expect(profile != nil && profile?.shortestInterval == nil)
    }
    let refused = setUp(hostFeature: 0x0C)
    #expect(refused.profile?.shortestInterval == nil && refused.sent.last?.opcode != LESetDefaultRateParameters.opcode)
    // Set by the previous owner of the controller, while there is a link.
    #expect(setUp(more: 3 << 8, hostFeature: 0x0C).profile?.shortestInterval == .microseconds(750))
    // Less than the specification allows.
    #expect(setUp(shortest: 0).profile?.shortestInterval == .microseconds(375))
  }

  @Test("What the controller tells of a link's rate and of the other one's features is told")
  func news() throws {
    var script = RadioScript<LegacyFamily>()
    try script.hear("3e 0e 37 00 4000 0300 0100 0000 0000 2c01")
    try script.hear("3e 0e 37 20 4000 0000 0000 0000 0000 0000")
    let pages = "00000000000000 80 0003" + String(repeating: "00", count: 238)
    try script.hear("3e fe 2b 00 4000 01 01 \(pages)")
    // A page that is not valid.
    try script.hear("3e fe 2b 00 4000 01 00 \(pages)")
    let rate = LinkParameters(interval: .microseconds(375), latency: 0, supervisionTimeout: .seconds(3))
    let both: LEMoreFeatures = [.shorterConnectionIntervals, .shorterConnectionIntervalsHostSupport]
    #expect(
      script.told == [
        .link(handle: 0x40, .rate(rate)),
        .link(handle: 0x40, .parametersRefused(HCIStatus(.unsupportedLMPParameterValue))),
        .link(handle: 0x40, .moreFeatures(.success, both)), .link(handle: 0x40, .moreFeatures(.success, [])),
      ])
  }

  @Test("Below 7.5 ms an interval is compared in its own unit")
  func satisfies() {
    func wanted(_ shortest: Int, _ longest: Int) -> ConnectionParameters {
      ConnectionParameters(interval: .microseconds(shortest)...(.microseconds(longest)))
    }
    func link(_ interval: Int) -> LinkParameters {
      LinkParameters(interval: .microseconds(interval), latency: 0, supervisionTimeout: .seconds(4))
    }
    #expect(link(1250).satisfy(wanted(1250, 1250)))
    #expect(!link(1375).satisfy(wanted(1250, 1250)) && !link(1125).satisfy(wanted(1250, 1250)))
    #expect(link(7500).satisfy(wanted(5000, 10_000)) && link(10_500).satisfy(wanted(5000, 10_000)))
    #expect(wanted(1250, 10_000).ordinary == wanted(7500, 10_000) && wanted(1250, 2000).ordinary == wanted(7500, 7500))
    #expect(wanted(1250, 10_000).isShort && !wanted(7500, 10_000).isShort)
  }
}
