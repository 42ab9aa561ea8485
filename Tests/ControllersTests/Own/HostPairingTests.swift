import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Host
@testable import Controllers

/// The pairings of a controller, with devices at the ends of its links.
@Suite struct HostPairingTests {
  private let lamp = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
  private let phone = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
  private let hidden = DeviceAddress(value: 0x4A12_3456_789A, kind: .random)
  private let accepting = PairingSettings(acceptsDevices: true)

  /// The user of the adapter allows each pairing that a device begins.
  private func consent(_ stage: PairingStage) throws {
    try stage.settle()
    for case .question(let id, .consent) in stage.events.map(\.event) { stage.pairing.answer(id, .accept) }
    try stage.settle()
  }

  /// The event of the advertising set, which has another address, comes later.
  @Test func anAddressThatTheControllerMadeIsThatOfTheLink() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    stage.pairing.receive(
      .leEnhancedConnectionComplete(
        LEEnhancedConnectionComplete {
          ($0.handle, $0.role) = (0x40, 1)
          $0.peer = HCIAddress(phone)
          $0.localResolvablePrivateAddress = hidden.value
        }))
    let device = stage.connect(phone, 0x40, as: .peripheral, knows: hidden)
    stage.pairing.connected(0x40, to: PairingStage.local)
    try stage.begin(device)
    try consent(stage)
    #expect(stage.failures.isEmpty && stage.bonded.map(\.peer) == [phone])
  }

  @Test func requestsOfALinkEndWithItsPairing() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    let first = stage.raise(device)
    let second = stage.raise(device)
    try stage.settle()
    #expect(first.hasSucceeded && second.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [lamp])
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 2, keySize: 16))
  }

  @Test(arguments: [LinkRole.central, .peripheral], [true, false])
  func aPrivateAddressIsThatOfTheConnectionAndTheIdentityIsHandedOut(_ role: LinkRole, _ isSecure: Bool) throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    (stage.pairing.addressOnAir, stage.pairing.identityResolvingKey) = (hidden, Key128(77))
    let device = stage.connect(lamp, 0x40, as: role)
    // The next address of ours is not that of this link.
    stage.pairing.addressOnAir = DeviceAddress(value: 0x4A00_0000_0001, kind: .random)
    device.terms.hasSecureConnections = isSecure
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [lamp] && stage.bonded.map(\.local) == [PairingStage.local])
    #expect(device.bond?.peer == PairingStage.local)
    #expect(device.bond?.identityResolvingKey == Key128(77).littleEndian)
  }

  @Test func aDeviceThatConnectedToASetWithAnAddressOfItsOwnPairsWithThatOne() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let set = DeviceAddress(value: 0xC0AA_BBCC_DDEE, kind: .random)
    let device = stage.connect(phone, 0x40, as: .peripheral, knows: set)
    stage.pairing.connected(0x40, to: set)
    try stage.begin(device)
    try consent(stage)
    #expect(stage.failures.isEmpty)
    #expect(stage.bonded.map(\.id) == [Bond.ID(local: PairingStage.local, peer: phone)])
    #expect(device.bond != nil)
  }

  @Test func aDeviceThatGotOurDataPairsWithoutAPerson() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    _ = stage.pairing.makeOutOfBand()
    let data = try #require(stage.pairing.makeOutOfBand())
    let device = stage.connect(phone, 0x40, as: .peripheral)
    device.terms.outOfBand = data.secure
    device.terms.level = 4
    try stage.begin(device)
    #expect(stage.failures.isEmpty && stage.bonded.map(\.peer) == [phone])
    #expect(!stage.events.contains { if case .question = $0.event { true } else { false } })
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 4, keySize: 16))
  }

  @Test func earlierDataOfOursDoNotCount() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let data = try #require(stage.pairing.makeOutOfBand())
    _ = stage.pairing.makeOutOfBand()
    let device = stage.connect(phone, 0x40, as: .peripheral)
    device.terms.outOfBand = data.secure
    try stage.begin(device)
    #expect(stage.bonded.isEmpty && stage.failures.count == 1)
  }

  @Test(arguments: [true, false])
  func aDeviceWithoutSecureConnectionsPairsWithOurTemporaryKey(_ isCurrent: Bool) throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let data = try #require(stage.pairing.makeOutOfBand())
    if !isCurrent { _ = stage.pairing.makeOutOfBand() }
    let device = stage.connect(phone, 0x40, as: .peripheral)
    device.terms.hasSecureConnections = false
    device.terms.temporaryKey = data.temporaryKey.flatMap { Key128(littleEndian: $0) }
    device.terms.level = 3
    try stage.begin(device)
    #expect(stage.bonded.map(\.peer) == (isCurrent ? [phone] : []) && stage.failures.count == (isCurrent ? 0 : 1))
    #expect(!stage.events.contains { if case .question = $0.event { true } else { false } })
    #expect(stage.bonded.allSatisfy { $0.security == LinkSecurity(level: 3, keySize: 16) })
  }

  /// The first one could decrypt the pairing of the other.
  @Test func ourTemporaryKeyIsForOneDevice() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let data = try #require(stage.pairing.makeOutOfBand())
    for (handle, address) in [(0x40, phone), (0x41, lamp)] as [(ConnectionHandle, DeviceAddress)] {
      let device = stage.connect(address, handle, as: .peripheral)
      device.terms.hasSecureConnections = false
      device.terms.temporaryKey = data.temporaryKey.flatMap { Key128(littleEndian: $0) }
      try stage.begin(device)
    }
    #expect(stage.bonded.map(\.peer) == [phone] && stage.failures.count == 1)
  }

  @Test(arguments: [LinkRole.central, .peripheral])
  func theTemporaryKeyOfADeviceAuthenticatesIt(_ role: LinkRole) throws {
    let stage = try PairingStage()
    let octets = (1...16).map { UInt8($0) }
    stage.pairing.outOfBand[lamp] = OutOfBandData(temporaryKey: octets)
    let device = stage.connect(lamp, 0x40, as: role)
    device.terms.hasSecureConnections = false
    device.terms.temporaryKey = Key128(littleEndian: octets)
    let outcome = stage.raise(device, to: 3, usesOwnData: false)
    try stage.settle()
    #expect(outcome.hasSucceeded && stage.bonded.map(\.peer) == [lamp])
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 3, keySize: 16))
  }

  /// A program of another user has read them.
  @Test func ownDataThatDoNotCountAreNotUsed() throws {
    let stage = try PairingStage()
    let data = try #require(stage.pairing.makeOutOfBand())
    let device = stage.connect(lamp, 0x40)
    device.terms.outOfBand = data.secure
    let outcome = stage.raise(device, usesOwnData: false)
    try stage.settle()
    #expect(outcome.hasFailed && device.received.last == .pairingFailed(.outOfBandNotAvailable))
  }

  /// The link is encrypted, and the keys that follow are refused.
  @Test func aPairingThatFailsAfterEncryptionFailsItsRequests() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    device.terms.hasSecureConnections = false
    device.terms.secrets.longTermKey.value = .zero
    let outcome = stage.raise(device)
    try stage.settle()
    #expect(outcome.hasFailed)
    #expect(stage.bonded.isEmpty && stage.failures.count == 1)
    #expect(stage.disconnected == [0x40])
    #expect(stage.pairing.security(of: 0x40) == .none)
  }

  /// With early keys, the same step brings the encryption and the failure.
  @Test func theEncryptionOfAPairingIsNotItsSuccess() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    device.terms.hasSecureConnections = false
    var isFirst = true
    device.relay = { pdu in
      // Its key comes before the event of the encryption.
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
    let owner = stage.connect(phone, 0x40)
    _ = stage.raise(owner)
    try stage.settle()
    let bonds = stage.bonds.all
    let claimant = stage.connect(hidden, 0x41)
    claimant.terms.identity = phone
    claimant.terms.identityResolvingKey = Key128(7)
    let outcome = stage.raise(claimant)
    try stage.settle()
    #expect(outcome.hasFailed)
    #expect(stage.bonds.all == bonds)
    #expect(stage.disconnected == [0x41])
    #expect(claimant.received.last == .pairingFailed(.keyRejected))
    #expect(!stage.pairing.isLink(claimant, to: phone))
  }

  @Test func aDeviceThatGuessedHasToWaitAlsoForUs() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    device.terms.hasSecureConnections = false
    device.relay = { pdu in
      guard case .pairingRandom = pdu else { return [pdu] }
      return [.pairingRandom(Key128(5))]
    }
    #expect(stage.failures.isEmpty)
    _ = stage.raise(device)
    try stage.settle()
    #expect(stage.failures.count == 1)
    device.relay = { [$0] }
    let count = device.received.count
    let (first, second) = (stage.raise(device), stage.raise(device))
    try stage.settle()
    stage.scheduler.advance(by: .milliseconds(999))
    try stage.settle()
    #expect(first.all.isEmpty && device.received.count == count, "nothing is sent")
    stage.scheduler.advance(by: .milliseconds(1))
    try stage.settle()
    #expect(first.hasSucceeded && second.hasSucceeded)
    #expect(device.received.count { if case .pairingRequest = $0 { true } else { false } } == 2)
  }

  /// Each failure doubles the time until the next pairing: 1, 2, 4, 8 s.
  @Test func longWaitsAreToldAndTheEndOfALinkEndsOne() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    device.terms.hasSecureConnections = false
    device.relay = { pdu in
      guard case .pairingRandom = pdu else { return [pdu] }
      return [.pairingRandom(Key128(5))]
    }
    for failures in 1...4 {
      let outcome = stage.raise(device)
      stage.scheduler.advance(by: .seconds(4))
      try stage.settle()
      #expect(outcome.hasFailed && stage.failures.count == failures)
    }
    stage.scheduler.advance(by: .milliseconds(2500))
    let early = stage.raise(device)
    try stage.settle()
    #expect(early.error?.message.contains("try again in 6 s") == true)
    stage.scheduler.advance(by: .seconds(1))
    let waiting = stage.raise(device)
    try stage.settle()
    #expect(waiting.all.isEmpty)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    stage.scheduler.advance(by: .seconds(60))
    try stage.settle()
    #expect(waiting.error == GAPError.disconnected.error("gone") && stage.failures.count == 4)
  }

  @Test func aDeviceDoesNotWaitAfterTheAdapterWasSwitchedOff() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let device = stage.connect(phone, 0x40, as: .peripheral)
    try stage.begin(device)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    stage.pairing.switchedOff()
    try stage.begin(stage.connect(phone, 0x41, as: .peripheral))
    try consent(stage)
    #expect(stage.bonded.map(\.peer) == [phone])
  }

  /// The failure is none of the authentication: the device ends it.
  @Test func aPairingThatADeviceBeginsAndFailsCostsASecond() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let device = stage.connect(phone, 0x40, as: .peripheral)
    device.relay = { pdu in
      guard case .pairingPublicKey = pdu else { return [pdu] }
      return [.pairingFailed(.unspecified)]
    }
    try stage.begin(device)
    #expect(stage.failures.count == 1)
    device.relay = { [$0] }
    device.manager = SecurityManager(role: .central, local: phone, peer: PairingStage.local)
    try stage.begin(device)
    #expect(device.received.last == .pairingFailed(.repeatedAttempts))
    stage.scheduler.advance(by: .seconds(1))
    try stage.begin(device)
    try consent(stage)
    #expect(stage.bonded.map(\.peer) == [phone])
  }

  @Test func aLinkThatEndsDuringAPairingThatADeviceBeganCostsASecond() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let device = stage.connect(phone, 0x40, as: .peripheral)
    try stage.begin(device)
    #expect(!stage.events.isEmpty && stage.failures.isEmpty)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    let again = stage.connect(phone, 0x41, as: .peripheral)
    try stage.begin(again)
    #expect(again.received.last == .pairingFailed(.repeatedAttempts))
    stage.scheduler.advance(by: .seconds(1))
    try stage.begin(again)
    try consent(stage)
    #expect(stage.bonded.map(\.peer) == [phone])
    stage.pairing.ended(0x41, GAPError.disconnected.error("gone"))

    // One that a program here asked for costs nothing.
    _ = stage.raise(stage.connect(lamp, 0x42))
    stage.pairing.ended(0x42, GAPError.disconnected.error("gone"))
    let outcome = stage.raise(stage.connect(lamp, 0x43))
    try stage.settle()
    #expect(outcome.hasSucceeded)
  }

  /// Any device can show any address.
  @Test func aDeviceThatHasNotPairedKeepsNoIdentityFromOthers() throws {
    let stage = try PairingStage()
    _ = stage.connect(phone, 0x40)
    let owner = stage.connect(hidden, 0x41)
    owner.terms.identity = phone
    owner.terms.identityResolvingKey = Key128(7)
    let outcome = stage.raise(owner)
    try stage.settle()
    #expect(outcome.hasSucceeded)
    #expect(stage.bonded.map(\.peer) == [phone])
  }

  @Test func aPairingThatFailsAtItsFirstPacketCountsToo() throws {
    let stage = try PairingStage()
    stage.pairing.settings = accepting
    let device = stage.connect(phone, 0x40, as: .peripheral)
    device.relay = { pdu in
      guard case .pairingRequest(var features) = pdu else { return [pdu] }
      features.maximumKeySize = 6
      return [.pairingRequest(features)]
    }
    for reason in [PairingFailureReason.encryptionKeySize, .repeatedAttempts] {
      try stage.begin(device)
      #expect(device.received.last == .pairingFailed(reason))
    }
    #expect(stage.failures.count == 1)
  }

  @Test func aDeviceWithoutTheKeysOfTheBondIsToldAndItsLinkEnds() throws {
    let stage = try PairingStage()
    _ = stage.raise(stage.connect(lamp, 0x40))
    try stage.settle()
    stage.pairing.ended(0x40, GAPError.disconnected.error("the link ended"))
    let device = stage.connect(lamp, 0x41)
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
      let outcome = stage.raise(stage.connect(lamp, 0x40))
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
    _ = stage.raise(stage.connect(lamp, 0x40))
    try stage.settle()
    stage.pairing.ended(0x40, GAPError.disconnected.error("the link ended"))
    let device = stage.connect(lamp, 0x41)
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
    _ = stage.raise(stage.connect(lamp, 0x40))
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
    _ = stage.raise(stage.connect(lamp, 0x40))
    try stage.settle()
    stage.pairing.ended(0x40, GAPError.disconnected.error("the link ended"))
    let device = stage.connect(lamp, 0x41)
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
    _ = stage.raise(stage.connect(lamp, 0x40))
    try stage.settle()
    stage.pairing.ended(0x40, GAPError.disconnected.error("the link ended"))
    let device = stage.connect(lamp, 0x41)
    var bond = Bond(local: lamp, peer: PairingStage.local)
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

  @Test func theEndOfALinkEndsItsRequests() throws {
    let stage = try PairingStage()
    let device = stage.connect(lamp, 0x40)
    let outcome = stage.raise(device)
    stage.pairing.ended(0x40, GAPError.disconnected.error("gone"))
    try stage.settle()
    #expect(outcome.error == GAPError.disconnected.error("gone"))
    stage.scheduler.advance(by: .seconds(60))
    #expect(stage.disconnected.isEmpty)
  }
}
