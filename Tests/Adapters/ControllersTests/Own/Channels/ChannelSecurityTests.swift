import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Channels that need more protection than the link has, and a bond with the device. The names are from the SIG's test
/// suite for L2CAP (L2CAP.TS, 4.15.3).
@Suite struct ChannelSecurityTests {
  private final class Bonds: BondSource {
    let all: [Bond]

    /// A bond with the device of the stage, by LE Secure Connections.
    init(keySize: Int, isAuthenticated: Bool) {
      var bond = Bond(local: DeviceAddress(value: 0x0605_0403_0201, kind: .public), peer: HostStage.phone)
      bond.longTermKeys = [
        LongTermKey(
          value: [UInt8](repeating: 7, count: keySize) + [UInt8](repeating: 0, count: 16 - keySize), size: keySize,
          diversifier: 0, random: 0, isAuthenticated: isAuthenticated, isSecureConnections: true, role: .peripheral)
      ]
      all = [bond]
    }
  }

  private func bonded(level: Int = 1, keySize: Int = 16, isAuthenticated: Bool = false) throws -> FrameStage {
    let far = try FrameStage(level: level)
    far.stage.adapter.setBonds(Bonds(keySize: keySize, isAuthenticated: isAuthenticated))
    return far
  }

  /// The device encrypts the link with the bond's key.
  private func encrypt(_ far: FrameStage, _ status: HCIErrorCode = .success) throws {
    try far.stage.controller.tell(
      .leLongTermKeyRequest(LELongTermKeyRequest { $0.handle = FrameStage.handle }),
      HostStage.encrypted(FrameStage.handle, status))
    try far.stage.settle()
  }

  @Test("LE/CFC/BV-25, ECFC/BV-32: the link is not encrypted, and a bond's key would be enough")
  func insufficientEncryption() throws {
    let far = try bonded(level: 2)
    try far.exchange(FrameStage.requests[.leCreditBased] ?? "", "0500 15 01 0a00 0000 0000 0000 0000 0800")
    try far.exchange(FrameStage.requests[.enhanced] ?? "", "0500 18 01 0a00 0000 0000 0000 0800 0000")
    try encrypt(far)
    #expect(far.link.security.level == 2)
    try far.exchange(FrameStage.requests[.enhanced] ?? "", FrameStage.responses[.enhanced] ?? "")
  }

  @Test("LE/CFC/BV-11, ECFC/BV-11: the bond's key is not authenticated")
  func insufficientAuthentication() throws {
    let far = try bonded(level: 3)
    for isEncrypted in [false, true] {
      if isEncrypted { try encrypt(far) }
      try far.exchange(FrameStage.requests[.leCreditBased] ?? "", "0500 15 01 0a00 0000 0000 0000 0000 0500")
      try far.exchange(FrameStage.requests[.enhanced] ?? "", "0500 18 01 0a00 0000 0000 0000 0500 0000")
    }
  }

  @Test("LE/CFC/BV-15, ECFC/BV-15: the bond's key is too short", arguments: [7, 15, 16])
  func insufficientKeySize(_ keySize: Int) throws {
    let far = try bonded(level: 4, keySize: keySize, isAuthenticated: true)
    try encrypt(far)
    #expect(far.link.security == LinkSecurity(level: keySize < 16 ? 3 : 4, keySize: keySize))
    guard keySize < 16 else {
      return try far.exchange(FrameStage.requests[.enhanced] ?? "", FrameStage.responses[.enhanced] ?? "")
    }
    try far.exchange(FrameStage.requests[.leCreditBased] ?? "", "0500 15 01 0a00 0000 0000 0000 0000 0700")
    try far.exchange(FrameStage.requests[.enhanced] ?? "", "0500 18 01 0a00 0000 0000 0000 0700 0000")
  }

  @Test("a pairing that is under way is waited for")
  func pairingUnderWay() throws {
    let far = try FrameStage()
    var raised: [BluetoothError?] = []
    far.link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { raised.append($0) }
    try far.open(0x90, .enhanced)
    _ = try far.received()
    try far.exchange("0500 18 01 0a00 0000 0000 0000 0500 0000")
    #expect(raised.isEmpty && far.results.isEmpty)
    // The device does not pair.
    try far.exchange("0600 05 05")
    #expect(raised.count == 1)
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(far.results.count == 1)
  }

  @Test(
    "LE/CFC/BV-10, 24, ECFC/BV-10, 31: the link is encrypted with a bond's key, and the device asked again",
    arguments: ["0500", "0800"], [true, false])
  func weEncrypt(_ result: String, _ isEnough: Bool) throws {
    let far = try bonded()
    try far.open(0x90, .enhanced)
    try far.exchange(
      "0500 18 01 0a00 0000 0000 0000 \(result) 0000", "0500 17 01 0a00 9000 2c01 f700 1000 4000", "0600 0b 09")
    #expect(far.results.isEmpty)
    try encrypt(far)
    #expect(try far.received() == [plain("0500 17 02 0a00 9000 2c01 f700 1000 4000")])
    if isEnough {
      try far.exchange("0500 18 02 0a00 c800 4000 0300 0000 4100")
      #expect(try far.results[0].get().sendMTU == 200)
    } else {
      // No bond gives more.
      try far.exchange("0500 18 02 0a00 0000 0000 0000 \(result) 0000")
      #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    }
    #expect(far.results.count == 1)
  }

  @Test("a later link with the handle of the one that was encrypted is not asked for the channel")
  func anotherLink() throws {
    let far = try bonded()
    try far.open(0x90, .enhanced)
    try far.send("0500 18 01 0a00 0000 0000 0000 0800 0000")
    _ = try far.received()
    try far.stage.controller.tell(
      .leLongTermKeyRequest(LELongTermKeyRequest { $0.handle = FrameStage.handle }),
      HostStage.encrypted(FrameStage.handle), HostStage.disconnected(FrameStage.handle),
      HostStage.connected(FrameStage.handle))
    try far.stage.settle()
    #expect(far.stage.links.count == 2)
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(try far.received() == [] && far.results.count == 1)
  }

  @Test("the end of the link while it is being encrypted ends the request for a channel")
  func theLinkEnds() throws {
    let far = try bonded()
    try far.open(0x90, .leCreditBased)
    try far.send("0500 15 01 0a00 0000 0000 0000 0000 0500")
    #expect(far.results.isEmpty)
    try far.stage.controller.tell(HostStage.disconnected(FrameStage.handle))
    try far.stage.settle()
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(far.results.count == 1)
  }
}
