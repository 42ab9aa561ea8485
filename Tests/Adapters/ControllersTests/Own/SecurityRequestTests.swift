import Adapter
import Bluetooth
import Testing

@testable import Host
@testable import Controllers

/// Security Requests of bonded devices.
@Suite struct SecurityRequestTests {
  private let lamp = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  /// A link to a device that was paired without input and output, and now requests protection against a person in the
  /// middle.
  /// - Parameters:
  ///   - former: the capability when the device was paired.
  ///   - settings: the present pairing settings.
  private func request(_ former: PairingCapability, _ settings: PairingSettings) throws -> PairingStage {
    let stage = try PairingStage()
    let first = stage.connect(lamp, 0x40)
    let outcome = stage.raise(first, to: 2, former)
    try stage.settle()
    #expect(outcome.hasSucceeded)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    stage.pairing.settings = settings
    stage.connect(lamp, 0x41).bond = first.bond
    stage.pairing.receive(SMPPDU.securityRequest([.bonding, .mitm, .secureConnections]).encoded, on: 0x41)
    try stage.settle()
    return stage
  }

  private func questions(_ stage: PairingStage) -> Int {
    stage.events.count { if case .question = $0.event { true } else { false } }
  }

  @Test(arguments: [PairingSettings(), PairingSettings(acceptsDevices: true)])
  func theBondIsUsedWhereNobodyCanHelp(_ settings: PairingSettings) throws {
    let stage = try request(.none, settings)
    #expect(stage.pairing.security(of: 0x41) == LinkSecurity(level: 2, keySize: 16))
    #expect(questions(stage) == 0 && stage.failures.isEmpty && stage.unencrypted.isEmpty)
  }

  /// The device has no means of its person: each further pairing would be like the last.
  @Test func theBondIsUsedWhereAPersonHereCouldHelpButNotThere() throws {
    let stage = try request(.displayYesNo, PairingSettings(capability: .displayYesNo, acceptsDevices: true))
    #expect(stage.pairing.security(of: 0x41) == LinkSecurity(level: 2, keySize: 16))
    #expect(questions(stage) == 0 && stage.failures.isEmpty)
  }

  @Test func theDeviceIsPairedWithAgainWhereAPersonCanHelpNow() throws {
    let stage = try request(.none, PairingSettings(capability: .displayYesNo, acceptsDevices: true))
    #expect(stage.pairing.isRaising(0x41) && questions(stage) == 1)
  }
}
