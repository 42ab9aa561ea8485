import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Controllers that report impossible links, or refuse commands that they have.
@Suite struct ControllerFaultTests {
  /// A packet of a frame of ATT.
  private func packet(_ handle: ConnectionHandle) -> HCIPacket {
    .acl(
      ACLDataPacket {
        $0.handle = handle
        $0.boundary = 2
        $0.data = L2CAPFrame(channel: L2CAPFrame.Fixed.attribute, payload: [0x1B, 3, 0, 1]).octets()[...]
      })
  }

  private func link(_ handle: ConnectionHandle, type: AddressType) -> HCIEvent {
    .leConnectionComplete(
      LEConnectionComplete {
        $0.handle = handle
        $0.role = 1
        $0.peer = HCIAddress(HostStage.phone)
        $0.peer.type = type
        ($0.interval, $0.supervisionTimeout) = (24, 400)
      })
  }

  @Test("Octets that a controller sends before its answer to Reset do not swallow it")
  func strayOctets() throws {
    // Data of 65,535 octets begin.
    let stage = try HostStage { $0.stray = [0x02, 0x40, 0x20, 0xFF, 0xFF] }
    #expect(stage.adapter.state == .on && stage.controller.connections == 1)
  }

  @Test func aLineWithoutAnAnswerAmongItsOctetsMayHaveAnotherSpeed() throws {
    let stage = try HostStage {
      $0.stray = [0x5F, 0xE0, 0x84, 0xFF]
      $0.unanswered = [0x0C03]
    }
    try stage.wait(.seconds(10))
    guard case .failed(let problem) = stage.adapter.state else { return #expect(Bool(false), "\(stage.adapter.state)") }
    #expect(problem.message.contains("it does not respond, though it sends octets"))
    // The next attempt knows nothing of that.
    stage.controller.unanswered = []
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .on)
  }

  @Test func aControllerWithAnImpossibleLinkHasFailed() throws {
    let stage = try HostStage()
    try stage.controller.tell(HostStage.connected(0x40), HostStage.connected(0x0F00))
    try stage.settle()
    guard case .failed(let problem) = stage.adapter.state else { return #expect(Bool(false), "\(stage.adapter.state)") }
    #expect(problem.message.contains("the invalid handle 0xf00"))
    #expect(stage.ends.count == 1)
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .on)
  }

  @Test func aControllerWithAnyNumberOfLinksHasFailed() throws {
    let stage = try HostStage()
    for handle in 0...256 { try stage.controller.tell(HostStage.connected(ConnectionHandle(handle))) }
    try stage.settle()
    guard case .failed(let problem) = stage.adapter.state else { return #expect(Bool(false), "\(stage.adapter.state)") }
    #expect(problem.message.contains("more than 256 links"))
    #expect(stage.ends.count == 256)
  }

  @Test func aLinkToNoDeviceIsDisconnectedWithItsData() throws {
    let stage = try HostStage()
    try stage.controller.tell(link(0x40, type: AddressType(rawValue: 0xFE)))
    try stage.controller.send([packet(0x40)])
    try stage.settle()
    let command = try Disconnect(decoding: try #require(stage.controller.commands.last))
    #expect(command.handle == 0x40 && stage.links.isEmpty)
    // No data of that link is delivered to the next one.
    try stage.controller.tell(HostStage.disconnected(0x40), HostStage.connected(0x40))
    try stage.settle()
    var received = 0
    try #require(stage.links.first).onEvent = { if case .received = $0 { received += 1 } }
    try stage.settle()
    #expect(received == 0)
    try stage.controller.send([packet(0x40)])
    try stage.settle()
    #expect(received == 1)
  }

  /// The controller is Zephyr's, and has flow control to the host.
  @Test func dataOfNoLinkKeepNoRoomForLong() throws {
    let stage = try HostStage {
      $0.returned[0x1001] = [13, 0, 0, 13, 0xF1, 0x05, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 10) + [0xE0] + [UInt8](repeating: 0, count: 53)
    }
    func told() -> Int {
      stage.controller.commands.count {
        $0.opcode == HostNumberOfCompletedPackets.opcode && $0.parameters == [1, 0x41, 0, 1, 0]
      }
    }
    try stage.controller.send(Array(repeating: packet(0x41), count: 9))
    try stage.settle()
    #expect(told() == 1)
    try stage.wait(.seconds(1))
    try stage.controller.send([packet(0x42)])
    try stage.settle()
    #expect(told() == 9)
    try stage.controller.send(Array(repeating: packet(0x41), count: 2))
    try stage.settle()
    try stage.wait(.seconds(1))
    try stage.controller.tell(HostStage.connected(0x43))
    try stage.settle()
    #expect(told() == 11)
  }

  /// A controller with a kernel quirk: its extended scan is silent, which nothing would reveal on the user channel.
  @Test func aControllerWithAKnownFaultGetsNoExtendedCommands() throws {
    let kernel = UserChannelKernel()
    kernel.modalias = "pci:v000014E4d00005FA0sv0000106Bsd00005FA0bc02sc80i00"
    let stage = try HostStage(of: kernel) {
      $0.returned[0x2003] = [0, 0x10, 0, 0, 0, 0, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 37) + [0xE0] + [UInt8](repeating: 0, count: 26)
    }
    stage.adapter.setScan(ScanParameters())
    stage.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6]))
    try stage.settle()
    let opcodes = Set(stage.controller.commands.map(\.opcode.rawValue))
    #expect(opcodes.isSuperset(of: [0x200A, 0x200C]) && opcodes.isDisjoint(with: [0x2036, 0x2039, 0x2041, 0x2042]))
  }

  /// A controller may disallow the commands of one family after one of the other (Core 5.4, Vol 4, Part E, 3.1.1).
  @Test func aControllerWithoutOneExtendedCommandGetsNoneOfThem() throws {
    let stage = try HostStage {
      $0.returned[0x2003] = [0, 0x10, 0, 0, 0, 0, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 37) + [0xE0] + [UInt8](repeating: 0, count: 26)
      $0.returned[0x203B] = [4]
      $0.refused[0x2043] = .unknownHCICommand
    }
    stage.adapter.setScan(ScanParameters())
    stage.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6]))
    try stage.settle()
    let extended: Set<UInt16> = [0x2036, 0x2037, 0x2039, 0x203A, 0x203B, 0x203C, 0x203D, 0x2041, 0x2042, 0x2043]
    #expect(!extended.isDisjoint(with: stage.controller.commands.map(\.opcode.rawValue)))
    let before = stage.controller.commands.count
    stage.adapter.connect(to: HostStage.phone, ConnectionParameters())
    try stage.settle()
    guard case .failed = stage.adapter.state else { return #expect(Bool(false), "\(stage.adapter.state)") }
    try stage.wait(.milliseconds(250))
    #expect(stage.adapter.state == .on)
    let opcodes = stage.controller.commands.dropFirst(before).map(\.opcode.rawValue).drop { $0 != 0x0C03 }
    #expect(extended.isDisjoint(with: opcodes))
    #expect(Set(opcodes).isSuperset(of: [0x200A, 0x200C, 0x200D]))
  }
}
