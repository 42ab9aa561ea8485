import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Controllers
@testable import Host

/// Links to be encrypted with the keys of a bond.
@Suite struct BondEncryptionTests {
  /// The lamp pairs, and connects again: as one that has lost its keys.
  private func bonded(_ stage: PairingStage) throws -> PairingStage.Device {
    _ = stage.raise(stage.connect(PairingStage.lamp, 0x40))
    try stage.settle()
    stage.pairing.ended(0x40, GAPError.disconnected.error("the link ended"))
    return stage.connect(PairingStage.lamp, 0x41)
  }

  @Test func aDeviceWithoutTheKeysOfTheBondIsToldAndItsLinkEnds() throws {
    let stage = try PairingStage()
    let device = try bonded(stage)
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.error?.message.contains("do not share keys any more") == true)
    #expect(stage.events.last?.event == .keysLost(theirs: true))
    #expect(stage.bonds.all.count == 1 && stage.unencrypted == [0x41: .pinOrKeyMissing])
  }

  /// Beside another procedure of the link, such as that of Read Remote Features.
  @Test(arguments: [HCIErrorCode.commandDisallowed, .controllerBusy])
  func aControllerThatCannotEncryptYetIsAskedAgain(_ refusal: HCIErrorCode) throws {
    for times in [1, 299, 300] {
      let stage = try PairingStage()
      stage.refusals = Array(repeating: refusal, count: times)
      let outcome = stage.raise(stage.connect(PairingStage.lamp, 0x40))
      try stage.settle()
      for _ in 0..<times {
        stage.scheduler.advance(by: .milliseconds(100))
        try stage.settle()
      }
      #expect(outcome.hasSucceeded == (times < 300) && outcome.hasFailed == (times == 300))
    }
  }

  /// Every call of every user on the link would wait.
  @Test func aDeviceThatDoesNotEncryptIsDisconnectedAfterThirtySeconds() throws {
    let stage = try PairingStage()
    let device = try bonded(stage)
    device.isSilent = true
    let (first, second) = (stage.raise(device), stage.raise(device))
    try stage.settle()
    stage.scheduler.advance(by: .milliseconds(29_999))
    try stage.settle()
    #expect(first.all.isEmpty && stage.unencrypted.isEmpty)
    stage.scheduler.advance(by: .milliseconds(1))
    try stage.settle()
    #expect(first.error?.message.contains("the device did not answer within 30 s") == true)
    #expect(second.error == first.error && second.hasFailed)
    #expect(stage.unencrypted == [0x41: .authenticationFailure])
    #expect(!stage.events.contains { if case .keysLost = $0.event { true } else { false } }, "it may have them")
  }

  @Test(arguments: [false, true]) func aLinkThatIsEncryptedNoLongerIsEnded(_ isRefresh: Bool) throws {
    let stage = try PairingStage()
    _ = stage.raise(stage.connect(PairingStage.lamp, 0x40))
    try stage.settle()
    #expect(stage.pairing.security(of: 0x40).level == 2)
    if isRefresh {
      stage.pairing.receive(
        .encryptionKeyRefreshComplete(
          EncryptionKeyRefreshComplete { ($0.handle, $0.status) = (0x40, HCIStatus(.lmpResponseTimeout)) }))
    } else {
      stage.pairing.receive(.encryptionChange(EncryptionChange { ($0.handle, $0.mode) = (0x40, 0) }))
    }
    #expect(stage.pairing.security(of: 0x40) == .none)
    #expect(stage.unencrypted == [0x40: .authenticationFailure])
  }

  /// A collision says nothing about the keys.
  @Test(arguments: [0x05, 0x23, 0x2A] as [UInt8]) func theCauseOfAFailureIsTold(_ code: UInt8) throws {
    let stage = try PairingStage()
    let device = try bonded(stage)
    device.isSilent = true
    let outcome = stage.raise(device)
    try stage.settle()
    stage.pairing.receive(
      .encryptionChange(EncryptionChange { ($0.handle, $0.status) = (0x41, HCIStatus(rawValue: code)) }))
    try stage.settle()
    let error = try #require(outcome.error)
    #expect(error.domain == (code == 0x05 ? .gap : .hci) && error.code == (code == 0x05 ? 14 : Int(code)))
    #expect(stage.unencrypted == [0x41: .authenticationFailure])
  }

  /// The controllers end the link when the keys differ.
  @Test func otherKeysThanThoseOfTheBondAreTold() throws {
    let stage = try PairingStage()
    let device = try bonded(stage)
    var bond = Bond(local: PairingStage.lamp, peer: PairingStage.local)
    bond.add(
      LongTermKey(
        value: Key128(5).littleEndian, size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .peripheral))
    device.bond = bond
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.all.isEmpty)
    stage.pairing.ended(0x41, HCIStatus(.terminatedMICFailure).error())
    try stage.settle()
    #expect(outcome.error?.message.contains("do not share keys any more") == true)
  }
}
