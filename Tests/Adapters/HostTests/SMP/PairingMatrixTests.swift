import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// Two machines pair by every method, in both roles, with and without LE Secure Connections.
@Suite struct PairingMatrixTests {
  enum Method { case works, compares, centralShows, peripheralShows, bothType }

  private static let capabilities: [PairingCapability] = [.display, .displayYesNo, .keyboard, .none, .keyboardDisplay]

  /// Table 2.8 of Vol 3, Part H: by the responder's capability the methods of the initiators, in the order above.
  private static let legacy: [[Method]] = [
    [.works, .works, .peripheralShows, .works, .peripheralShows],
    [.works, .works, .peripheralShows, .works, .peripheralShows],
    [.centralShows, .centralShows, .bothType, .works, .centralShows],
    [.works, .works, .works, .works, .works],
    [.centralShows, .centralShows, .peripheralShows, .works, .centralShows],
  ]
  private static let secure: [[Method]] = [
    [.works, .works, .peripheralShows, .works, .peripheralShows],
    [.works, .compares, .peripheralShows, .works, .compares],
    [.centralShows, .centralShows, .bothType, .works, .centralShows],
    [.works, .works, .works, .works, .works],
    [.centralShows, .compares, .peripheralShows, .works, .compares],
  ]

  @Test(arguments: [true, false], capabilities) func eachCapabilityLeadsToItsMethod(
    _ isSecure: Bool, _ central: PairingCapability
  ) throws {
    let column = try #require(Self.capabilities.firstIndex(of: central))
    for (row, peripheral) in Self.capabilities.enumerated() {
      let link = SMPLink(central, peripheral, isSecure: isSecure)
      link.raise()
      try check(link, isSecure ? Self.secure[row][column] : Self.legacy[row][column], isSecure)
    }
  }

  private func check(_ link: SMPLink, _ method: Method, _ isSecure: Bool) throws {
    let (central, peripheral) = (link.central, link.peripheral)
    try #require(central.failures.isEmpty && peripheral.failures.isEmpty)
    let first = try #require(central.bondMade)
    let second = try #require(peripheral.bondMade)
    #expect(central.paired.count == 1 && peripheral.paired.count == 1)
    #expect(first.peer == SMPLink.peripheralAddress && second.peer == SMPLink.centralAddress)
    let level = method == .works ? 2 : isSecure ? 4 : 3
    let security = LinkSecurity(level: level, keySize: 16)
    #expect(central.manager.security == security && peripheral.manager.security == security)
    #expect(first.longTermKeys.map(\.level) == Array(repeating: level, count: isSecure ? 1 : 2))
    #expect(Set(first.longTermKeys.map(\.value)) == Set(second.longTermKeys.map(\.value)))
    #expect(first.longTermKeys.allSatisfy { $0.value != Key128.zero.littleEndian })
    #expect(first.signatureKeys.map(\.value) == second.signatureKeys.reversed().map(\.value))
    #expect(!central.manager.isPairing && central.manager.deadline == nil)
    switch method {
    case .works:
      #expect(central.questions == [] && peripheral.questions == [.consent])
      #expect(central.shown == nil && peripheral.shown == nil)
    case .compares:
      let numbers = central.questions + peripheral.questions
      #expect(numbers.count == 2 && numbers[0] == numbers[1])
      guard case .comparison(let number) = numbers[0] else { throw PairingFailureReason.unspecified }
      #expect(number <= 999_999)
    case .centralShows:
      #expect(central.shown == link.central.terms.secrets.passkey && peripheral.questions == [.passkey])
      #expect(central.questions == [] && peripheral.shown == nil)
    case .peripheralShows:
      #expect(peripheral.shown == link.peripheral.terms.secrets.passkey && central.questions == [.passkey])
      #expect(peripheral.questions == [] && central.shown == nil)
    case .bothType:
      #expect(central.questions == [.passkey] && peripheral.questions == [.passkey])
      #expect(central.shown == nil && peripheral.shown == nil)
    }
  }

  @Test(arguments: [true, false]) func aWrongPasskeyFailsOnBothSides(_ isSecure: Bool) {
    for (central, peripheral) in [(PairingCapability.keyboard, PairingCapability.display), (.display, .keyboard)] {
      let link = SMPLink(central, peripheral, isSecure: isSecure)
      link.central.terms.secrets.passkey = 111_111
      link.peripheral.terms.secrets.passkey = 111_111
      link.central.answer = { _ in .passkey(111_110) }
      link.peripheral.answer = { _ in .passkey(111_110) }
      link.raise()
      let failures = link.central.failures + link.peripheral.failures
      #expect(Set(failures) == [.ours(.confirmValueFailed), .theirs(.confirmValueFailed)])
      #expect(link.central.paired.isEmpty && link.peripheral.paired.isEmpty)
      #expect(link.central.manager.security == .none)
    }
  }

  @Test func aPasskeyTakesTwentyRoundsWithNewNonces() {
    let link = SMPLink(.keyboard, .display)
    link.raise()
    let randoms = (link.central.sent + link.peripheral.sent).filter { $0.code == .pairingRandom }
    #expect(randoms.count == 40 && Set(randoms).count == 40)
  }

  @Test(arguments: [
    (PairingCapability.displayYesNo, PairingFailureReason.numericComparisonFailed),
    (.none, .pairingNotSupported), (.keyboard, .passkeyEntryFailed),
  ])
  func aRefusalEndsIt(_ capability: PairingCapability, _ reason: PairingFailureReason) {
    let link = SMPLink(capability == .keyboard ? .display : capability, capability)
    link.peripheral.answer = { _ in .refuse }
    link.raise()
    #expect(link.peripheral.failures == [.ours(reason)])
    #expect(link.central.failures == [.theirs(reason)])
    #expect(link.central.manager.security == .none)
  }

  @Test(arguments: [7, 10, 16]) func theShorterKeySizeHolds(_ size: Int) throws {
    for isSecure in [true, false] {
      let link = SMPLink(isSecure: isSecure)
      link.peripheral.terms.maximumKeySize = size
      link.raise()
      let bond = try #require(link.central.bondMade)
      for key in bond.longTermKeys {
        #expect(key.size == size)
        #expect(key.value.dropFirst(size).allSatisfy { $0 == 0 })
      }
      #expect(link.central.manager.security == LinkSecurity(level: 2, keySize: size))
      guard
        case .encrypt(let key) = link.central.actions.first(where: { if case .encrypt = $0 { true } else { false } })
      else { throw PairingFailureReason.unspecified }
      #expect(key.value.truncated(to: size) == key.value)
    }
  }

  @Test func keysBelowTheMinimumAreRefused() {
    let link = SMPLink()
    link.central.terms.maximumKeySize = 9
    link.peripheral.terms.minimumKeySize = 10
    link.raise()
    #expect(link.peripheral.failures == [.ours(.encryptionKeySize)])
    #expect(link.central.failures == [.theirs(.encryptionKeySize)])
  }

  @Test func aLevelThatTheMethodCannotGiveIsNotPairedFor() {
    for (level, central, peripheral, isSecure) in [
      (3, PairingCapability.displayYesNo, PairingCapability.none, true),
      (4, .displayYesNo, .keyboard, false), (4, .none, .none, true),
    ] {
      let link = SMPLink(central, peripheral, isSecure: isSecure)
      link.central.terms.level = level
      link.raise()
      #expect(link.central.failures == [.ours(.authenticationRequirements)])
      #expect(link.peripheral.failures == [.theirs(.authenticationRequirements)])
    }
    let link = SMPLink(.displayYesNo, .displayYesNo)
    link.central.terms.level = 4
    link.peripheral.terms.maximumKeySize = 15
    link.raise()
    #expect(link.central.failures == [.ours(.encryptionKeySize)])
  }

  @Test func aDeviceThatKeepsNothingPairsForTheLink() {
    for isSecure in [true, false] {
      let link = SMPLink(isSecure: isSecure)
      link.peripheral.terms.bonds = false
      link.raise()
      #expect(link.central.paired == [nil] && link.peripheral.paired == [nil])
      #expect(link.central.manager.security.level == 2 && link.peripheral.manager.security.level == 2)
    }
  }
}
