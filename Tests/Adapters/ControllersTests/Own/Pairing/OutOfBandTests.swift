import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Testing

@testable import Controllers
@testable import Host

/// Pairings with data that went by another way than the air.
@Suite struct OutOfBandTests {
  @Test func aDeviceThatGotOurDataPairsWithoutAPerson() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    _ = stage.pairing.makeOutOfBand()
    let data = try #require(stage.pairing.makeOutOfBand())
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    device.terms.outOfBand = data.secure
    device.terms.level = 4
    try stage.begin(device)
    #expect(stage.failures.isEmpty && stage.bonded.map(\.peer) == [PairingStage.phone])
    #expect(!stage.events.contains { if case .question = $0.event { true } else { false } })
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 4, keySize: 16))
  }

  @Test func earlierDataOfOursDoNotCount() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let data = try #require(stage.pairing.makeOutOfBand())
    _ = stage.pairing.makeOutOfBand()
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    device.terms.outOfBand = data.secure
    try stage.begin(device)
    #expect(stage.bonded.isEmpty && stage.failures.count == 1)
  }

  @Test(arguments: [true, false])
  func aDeviceWithoutSecureConnectionsPairsWithOurTemporaryKey(_ isCurrent: Bool) throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let data = try #require(stage.pairing.makeOutOfBand())
    if !isCurrent { _ = stage.pairing.makeOutOfBand() }
    let device = stage.connect(PairingStage.phone, 0x40, as: .peripheral)
    device.terms.hasSecureConnections = false
    device.terms.temporaryKey = data.temporaryKey.flatMap { Key128(littleEndian: $0) }
    device.terms.level = 3
    try stage.begin(device)
    #expect(
      stage.bonded.map(\.peer) == (isCurrent ? [PairingStage.phone] : []) && stage.failures.count == (isCurrent ? 0 : 1)
    )
    #expect(!stage.events.contains { if case .question = $0.event { true } else { false } })
    #expect(stage.bonded.allSatisfy { $0.security == LinkSecurity(level: 3, keySize: 16) })
  }

  /// The first one could decrypt the pairing of the other.
  @Test func ourTemporaryKeyIsForOneDevice() throws {
    let stage = try PairingStage()
    stage.pairing.settings.acceptsDevices = true
    let data = try #require(stage.pairing.makeOutOfBand())
    for (handle, address) in [(0x40, PairingStage.phone), (0x41, PairingStage.lamp)]
      as [(ConnectionHandle, DeviceAddress)]
    {
      let device = stage.connect(address, handle, as: .peripheral)
      device.terms.hasSecureConnections = false
      device.terms.temporaryKey = data.temporaryKey.flatMap { Key128(littleEndian: $0) }
      try stage.begin(device)
    }
    #expect(stage.bonded.map(\.peer) == [PairingStage.phone] && stage.failures.count == 1)
  }

  @Test(arguments: [LinkRole.central, .peripheral])
  func theTemporaryKeyOfADeviceAuthenticatesIt(_ role: LinkRole) throws {
    let stage = try PairingStage()
    let octets = (1...16).map { UInt8($0) }
    stage.pairing.outOfBand[PairingStage.lamp] = OutOfBandData(temporaryKey: octets)
    let device = stage.connect(PairingStage.lamp, 0x40, as: role)
    device.terms.hasSecureConnections = false
    device.terms.temporaryKey = Key128(littleEndian: octets)
    let outcome = stage.raise(device, to: 3, usesOwnData: false)
    try stage.settle()
    #expect(outcome.hasSucceeded && stage.bonded.map(\.peer) == [PairingStage.lamp])
    #expect(stage.pairing.security(of: 0x40) == LinkSecurity(level: 3, keySize: 16))
  }

  /// A program of another user has read them.
  @Test func ownDataThatDoNotCountAreNotUsed() throws {
    let stage = try PairingStage()
    let data = try #require(stage.pairing.makeOutOfBand())
    let device = stage.connect(PairingStage.lamp, 0x40)
    device.terms.outOfBand = data.secure
    let outcome = stage.raise(device, usesOwnData: false)
    try stage.settle()
    #expect(outcome.hasFailed && device.received.last == .pairingFailed(.outOfBandNotAvailable))
  }
}
