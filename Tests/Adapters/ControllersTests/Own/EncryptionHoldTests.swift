import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Frames of a bonded device that arrive before the event that its link is encrypted.
@Suite struct EncryptionHoldTests {
  /// A link on which we are peripheral, with a bond with its device, and a listener that needs encryption.
  private final class Stage {
    let far: FrameStage
    /// The level of the link at each event, and the packet's last octet; nil for a change of the level.
    private(set) var events: [(level: Int, number: UInt8?)] = []
    private(set) var ends = 0
    private let bonds = StoredBonds()

    init() throws {
      far = try FrameStage(level: 2)
      var bond = Bond(local: far.stage.adapter.information.address, peer: HostStage.phone)
      bond.add(
        LongTermKey(
          value: [UInt8](repeating: 7, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
          isSecureConnections: true, role: .peripheral))
      bonds.all = [bond]
      far.stage.adapter.setBonds(bonds)
      let link = far.link
      link.onEvent = { [unowned self, unowned link] event in
        switch event {
        case .received(let packet): events.append((link.security.level, packet.last))
        case .securityChanged: events.append((link.security.level, nil))
        case .ended: ends += 1
        default: break
        }
      }
    }

    var levels: [Int] { events.map(\.level) }
    var numbers: [UInt8?] { events.map(\.number) }

    /// The device requests encryption, and the key exists.
    func request() throws {
      try far.stage.controller.tell(.leLongTermKeyRequest(LELongTermKeyRequest { $0.handle = FrameStage.handle }))
      try far.stage.settle()
      #expect(far.stage.controller.commands.last?.opcode == 0x201A)
    }

    /// The time in which frames may still have been sent before the request.
    func pass() throws { try far.stage.wait(EncryptionHold.delay) }

    func change(_ status: HCIErrorCode = .success) throws {
      try far.stage.controller.tell(HostStage.encrypted(FrameStage.handle, status))
      try far.stage.settle()
    }

    /// Write Commands arrive.
    func write(_ numbers: ClosedRange<UInt8>) throws {
      for number in numbers { try far.send([4, 0, 0x52, 3, 0, number]) }
    }
  }

  @Test func framesThatOvertakeTheEventAreThoseOfAnEncryptedLink() throws {
    let stage = try Stage()
    try stage.write(0...0)
    #expect(stage.levels == [1])
    try stage.request()
    // Plain text, which the request has overtaken.
    try stage.write(9...9)
    #expect(stage.levels == [1, 1])
    try stage.pass()
    try stage.write(1...3)
    try stage.far.send(FrameStage.requests[.leCreditBased] ?? "")
    try stage.write(4...4)
    #expect(stage.events.count == 2)
    #expect(try stage.far.received() == [])
    try stage.change()
    #expect(stage.levels == [1, 1, 2, 2, 2, 2, 2])
    #expect(stage.numbers == [0, 9, nil, 1, 2, 3, 4])
    #expect(try stage.far.received() == [plain(FrameStage.responses[.leCreditBased] ?? "")])
    // Nothing is held from now on.
    try stage.write(5...5)
    #expect(stage.numbers.last == 5)
  }

  @Test func framesOfALinkThatCouldNotBeEncryptedAreDelivered() throws {
    let stage = try Stage()
    try stage.request()
    try stage.pass()
    try stage.write(1...2)
    #expect(stage.events.isEmpty)
    try stage.change(.unspecifiedError)
    #expect(stage.levels == [1, 1] && stage.numbers == [1, 2])
  }

  @Test func framesAreHeldForASecondAtMost() throws {
    let stage = try Stage()
    try stage.request()
    try stage.far.stage.wait(.milliseconds(500))
    // Another request changes nothing.
    try stage.request()
    try stage.write(1...2)
    try stage.far.stage.wait(.milliseconds(499))
    #expect(stage.events.isEmpty)
    try stage.far.stage.wait(.milliseconds(1))
    #expect(stage.levels == [1, 1] && stage.numbers == [1, 2])
    try stage.write(3...3)
    #expect(stage.numbers == [1, 2, 3])
  }

  @Test func eightFramesAreHeldAtMost() throws {
    let stage = try Stage()
    try stage.request()
    try stage.pass()
    try stage.write(1...8)
    #expect(stage.events.isEmpty)
    try stage.write(9...10)
    #expect(stage.numbers == Array(1...10))
    #expect(Set(stage.levels) == [1])
  }

  @Test func framesComeBeforeTheEndOfTheLink() throws {
    let stage = try Stage()
    try stage.request()
    try stage.pass()
    try stage.write(1...2)
    try stage.far.stage.controller.tell(HostStage.disconnected(FrameStage.handle))
    try stage.far.stage.settle()
    #expect(stage.numbers == [1, 2] && stage.ends == 1)
  }

  /// As central: until its controller has answered, a peripheral sends in plain text.
  @Test func framesOfAPeripheralAreNotHeld() throws {
    let stage = try HostStage()
    let bonds = StoredBonds()
    var bond = Bond(local: stage.adapter.information.address, peer: HostStage.phone)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 7, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    bonds.all = [bond]
    stage.adapter.setBonds(bonds)
    stage.adapter.connect(to: HostStage.phone, ConnectionParameters())
    try stage.settle()
    try stage.controller.tell(HostStage.connected(0x40, as: .central))
    try stage.settle()
    try stage.wait(.seconds(5))
    let link = try #require(stage.links.first)
    var levels: [Int] = []
    link.onEvent = { [unowned link] in if case .received = $0 { levels.append(link.security.level) } }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { _ in }
    try stage.settle()
    #expect(stage.controller.commands.last?.opcode == LEEnableEncryption.opcode)
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = 0x40
          $0.boundary = 2
          $0.data = L2CAPFrame(channel: L2CAPFrame.Fixed.attribute, payload: [0x52, 3, 0, 1]).octets()[...]
        })
    ])
    try stage.settle()
    #expect(levels == [1])
  }
}
