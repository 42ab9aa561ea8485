import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// Links of bonded devices on a scripted kernel: which keys encrypt them, and which side begins.
struct BondedLinkEncryptionTests {
  private let phone = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  private var bond: Bond {
    var bond = Bond(local: ScriptedKernel.address, peer: phone)
    bond.add(
      LongTermKey(
        value: key(5), size: 10, diversifier: 0, random: 0, isAuthenticated: false, isSecureConnections: true,
        role: .central))
    return bond
  }

  private func key(_ octet: UInt8, size: Int = 16) -> [UInt8] {
    [UInt8](repeating: octet, count: size) + [UInt8](repeating: 0, count: 16 - size)
  }

  private func stage(hasBond: Bool = true) throws -> KernelStage {
    let stage = try KernelStage()
    stage.kernel.works = [LEReadFilterAcceptListSize.opcode]
    if hasBond { stage.bonds.all = [bond] }
    stage.adapter.start()
    try stage.settle()
    return stage
  }

  private func connected(_ stage: KernelStage) throws -> any Link {
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    return try #require(stage.links.last)
  }

  private func replies(_ key: [UInt8], to handle: UInt16 = 0x40) -> CommandPacket {
    CommandPacket(
      LELongTermKeyRequestReply {
        $0.handle = handle
        $0.longTermKey = key
      })
  }

  private func toldOtherKeys(_ stage: KernelStage) -> Int {
    stage.events.count { if case .pairing(phone, .encryptedOtherwise) = $0 { true } else { false } }
  }

  @Test("a key that is not the bond's is told before the link counts as encrypted")
  func otherKey() throws {
    let stage = try stage()
    _ = try connected(stage)
    try stage.kernel.tell(command: replies(key(5, size: 10)))
    try stage.settle()
    #expect(toldOtherKeys(stage) == 0, "that is the bond's")
    try stage.kernel.tell(command: replies(key(6)))
    try stage.settle()
    #expect(toldOtherKeys(stage) == 1)
    try stage.kernel.tell(
      command: CommandPacket(
        LEEnableEncryption {
          $0.handle = 0x40
          $0.longTermKey = key(7)
        }))
    try stage.settle()
    #expect(toldOtherKeys(stage) == 2)
  }

  @Test("… also if the device encrypts before its link has its socket; a link without a bond may have any key")
  func beforeTheSocket() throws {
    let stage = try stage()
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.tell(command: replies(key(6)))
    try stage.settle()
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    let told = stage.events.compactMap { event -> String? in
      switch event {
      case .connected: "link"
      case .pairing(phone, .encryptedOtherwise): "key"
      default: nil
      }
    }
    #expect(told == ["link", "key"])
    // The next link of that handle has another key.
    try stage.kernel.disconnected(0x40, 0x13)
    try stage.wait(.seconds(2))
    _ = try connected(stage)
    #expect(toldOtherKeys(stage) == 1)
    let stranger = try self.stage(hasBond: false)
    _ = try connected(stranger)
    try stranger.kernel.tell(command: replies(key(6)))
    try stranger.settle()
    #expect(toldOtherKeys(stranger) == 0)
  }

  @Test("a device that has connected encrypts by itself: the kernel, which would hold our server up, is not asked")
  func waitsForTheDevice() throws {
    let stage = try stage()
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    link.encrypt(to: 2) { errors.append($0) }
    try stage.wait(.seconds(34))
    #expect(errors.isEmpty && link.isWritable)
    try stage.wait(.seconds(2))
    #expect(errors.count == 1 && errors.first??.message.contains("did not encrypt the link") == true)
    // A program that wants to pair causes a request; this kernel's socket cannot.
    link.encrypt(to: 2) { errors.append($0) }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(errors.dropFirst().allSatisfy { $0?.message.contains("the kernel does not encrypt") == true })
    #expect(errors.count == 3)
  }

  @Test("a key that is heard in a call of the user is told after the call")
  func keyDuringCall() throws {
    let stage = try stage()
    let link = try connected(stage)
    try stage.kernel.tell(command: replies(key(6)))
    link.encrypt(to: 2) { _ in }
    #expect(toldOtherKeys(stage) == 0)
    try stage.settle()
    #expect(toldOtherKeys(stage) == 1)
  }

  @Test("each call has the whole time to wait for a device that has connected")
  func waitsForEachCall() throws {
    let stage = try stage()
    let link = try connected(stage)
    var errors: [BluetoothError?] = []
    link.encrypt(to: 2) { errors.append($0) }
    try stage.wait(.seconds(30))
    link.encrypt(to: 2) { errors.append($0) }
    try stage.wait(.seconds(34))
    #expect(errors.isEmpty)
    try stage.wait(.seconds(2))
    #expect(errors.map { $0?.name } == ["timeout", "timeout"])
  }

  @Test("where the kernel lacks the keys of a bond it would pair: it is not asked to encrypt")
  func keysThatTheKernelLacks() throws {
    let stage = try stage(hasBond: false)
    let link = try connected(stage)
    stage.bonds.all = [bond]
    stage.adapter.bondsAdded()
    var errors: [BluetoothError?] = []
    link.encrypt(to: 2) { errors.append($0) }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { errors.append($0) }
    try stage.settle()
    #expect(errors.count == 2)
    #expect(
      errors.allSatisfy { $0?.name == "connectionFailed" && $0?.message.contains("the kernel gets the keys") == true })
    #expect(!stage.kernel.commands.map(\.code).contains(PairDevice.opcode))
    // The kernel receives them when the link has ended.
    try stage.kernel.disconnected(0x40, 0x13)
    try stage.wait(.seconds(2))
    let next = try connected(stage)
    next.encrypt(to: 2) { errors.append($0) }
    try stage.settle()
    #expect(errors.count == 2, "the device is waited for")
  }
}
