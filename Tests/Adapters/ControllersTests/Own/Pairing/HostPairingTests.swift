import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Controllers
@testable import Host

/// The pairings of a controller, with devices at the ends of its links.
@Suite struct HostPairingTests {
  private let hidden = DeviceAddress(value: 0x4A12_3456_789A, kind: .random)

  /// The event of the advertising set, which has another address, arrives later.
  @Test func anAddressThatTheControllerMadeIsThatOfTheLink() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    stage.pairing.receive(
      .leEnhancedConnectionComplete(
        LEEnhancedConnectionComplete {
          ($0.handle, $0.role) = (0x40, 1)
          $0.peer = HCIAddress(PairingStage.phone)
          $0.localResolvablePrivateAddress = hidden.value
        }))
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral, knows: hidden)
    stage.pairing.connected(0x40, to: PairingStage.local)
    try stage.begin(device)
    try stage.consent()
    #expect(stage.failures.isEmpty && stage.bonded.map(\.peer) == [PairingStage.phone])
  }

  @Test func requestsOfALinkEndWithItsPairing() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    let first = stage.raise(device)
    let second = stage.raise(device)
    try stage.settle()
    #expect(first.hasSucceeded && second.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [PairingStage.lamp])
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 2, keySize: 16))
  }

  @Test(arguments: [LinkRole.central, .peripheral], [true, false])
  func aPrivateAddressIsThatOfTheConnectionAndTheIdentityIsHandedOut(_ role: LinkRole, _ isSecure: Bool) throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    (stage.pairing.addressOnAir, stage.pairing.identityResolvingKey) = (hidden, Key128(77))
    let device = stage.connect(PairingStage.lamp, 0x40, as: role)
    // The next address of ours is not that of this link.
    stage.pairing.addressOnAir = DeviceAddress(value: 0x4A00_0000_0001, kind: .random)
    device.terms.hasSecureConnections = isSecure
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [PairingStage.lamp] && stage.bonded.map(\.local) == [PairingStage.local])
    #expect(device.bond?.peer == PairingStage.local)
    #expect(device.bond?.identityResolvingKey == Key128(77).littleEndian)
  }

  @Test func aDeviceThatConnectedToASetWithAnAddressOfItsOwnPairsWithThatOne() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let set = DeviceAddress(value: 0xC0AA_BBCC_DDEE, kind: .random)
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral, knows: set)
    stage.pairing.connected(0x40, to: set)
    try stage.begin(device)
    try stage.consent()
    #expect(stage.failures.isEmpty)
    #expect(stage.bonded.map(\.id) == [Bond.ID(local: PairingStage.local, peer: PairingStage.phone)])
    #expect(device.bond != nil)
  }

  /// The link is encrypted, and the keys that follow are refused.
  @Test func aPairingThatFailsAfterEncryptionFailsItsRequests() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    device.terms.hasSecureConnections = false
    device.terms.secrets.longTermKey.value = .zero
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.hasFailed)
    #expect(stage.bonded.isEmpty && stage.failures.count == 1)
    #expect(stage.disconnected == [0x40])
    #expect(stage.pairing.security(of: 0x40) == .none)
  }

  /// With early keys, the same step contains the encryption and the failure.
  @Test func theEncryptionOfAPairingIsNotItsSuccess() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    device.terms.hasSecureConnections = false
    var isFirst = true
    device.relay = { pdu in
      // Its key arrives before the event of the encryption.
      guard case .pairingRandom = pdu, isFirst else { return [pdu] }
      isFirst = false
      return [pdu, .encryptionInformation(.zero)]
    }
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.hasFailed)
    #expect(stage.disconnected == [0x40])
  }

  @Test func theIdentityOfADeviceOnAnotherLinkIsRefused() throws {
    let stage = try PairingStage()
    let owner = stage.connect(PairingStage.phone, 0x40)
    _ = stage.raise(owner)
    try stage.settle()
    let bonds = stage.bonds.all
    let claimant = stage.connect(hidden, 0x41)
    claimant.terms.identity = PairingStage.phone
    claimant.terms.identityResolvingKey = Key128(7)
    let outcome = stage.raise(claimant)
    try stage.settle()
    #expect(outcome.hasFailed)
    #expect(stage.bonds.all == bonds)
    #expect(stage.disconnected == [0x41])
    #expect(claimant.received.last == .pairingFailed(.keyRejected))
    #expect(!stage.pairing.isLink(claimant, to: PairingStage.phone))
  }

  /// Any device can show any address.
  @Test func aDeviceThatHasNotPairedKeepsNoIdentityFromOthers() throws {
    let stage = try PairingStage()
    _ = stage.connect(PairingStage.phone, 0x40)
    let owner = stage.connect(hidden, 0x41)
    owner.terms.identity = PairingStage.phone
    owner.terms.identityResolvingKey = Key128(7)
    let outcome = stage.raise(owner)
    try stage.settle()
    #expect(outcome.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [PairingStage.phone])
  }

  @Test("a weaker bond is replaced on request, as central or peripheral; it stays if that fails")
  func weakerBond() throws {
    for role in [LinkRole.central, .peripheral] {
      let stage = try PairingStage()
      let device = stage.connect(PairingStage.lamp, 0x40, as: role)
      stage.pairing.settings.acceptsDevices = true
      let first = stage.raise(device)
      try stage.settle()
      #expect(first.hasSucceeded && stage.bonded.map { $0.security?.level } == [2])
      let plain = stage.raise(device, to: 3, .keyboard)
      try stage.settle()
      #expect(plain.error?.message.contains("do not reach this level") == true)

      // The device has no means.
      let failed = stage.raise(device, to: 3, .keyboard, replacesBond: true)
      try stage.settle()
      #expect(failed.hasFailed && stage.bonds.all.map { $0.security?.level } == [2])
      #expect(stage.pairing.security(of: 0x40).level == 2 && stage.disconnected.isEmpty)

      stage.scheduler.advance(by: .seconds(10))
      device.terms.capability = .display
      let outcome = stage.raise(device, to: 3, .keyboard, replacesBond: true)
      try stage.settle()
      for case .question(let id, .passkey) in stage.events.map(\.event) {
        stage.pairing.answer(id, .passkey(device.terms.secrets.passkey))
      }
      try stage.settle()
      #expect(outcome.hasSucceeded)
      #expect(stage.bonds.all.map { $0.security?.level } == [4])
    }
  }

  @Test func theEndOfALinkEndsItsRequests() throws {
    let stage = try PairingStage()
    let device = stage.connect(PairingStage.lamp, 0x40)
    let outcome = stage.raise(device)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    try stage.settle()
    #expect(outcome.error == GAPError.disconnected.error("gone"))
    stage.scheduler.advance(by: .seconds(60))
    #expect(stage.disconnected.isEmpty)
  }
}
