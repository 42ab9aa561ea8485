import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct ControllerProfileTests {
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

  /// Builds of Zephyr without the central role do not report LE Create Connection.
  @Test func aControllerOfOurOwnTellsAllThatEveryControllerCan() {
    var profile = ControllerProfile(address: .none)
    profile.commands = [UInt8](repeating: 0, count: 64)
    #expect(profile.eventMask == 0)
    profile.isExclusive = true
    #expect(profile.eventMask == 0x1F)
  }
}
