import Bluetooth
import HCI
import TestSupport
import Testing

@testable import Controllers

/// Links of a controller with reports of transmitted packets that wake nothing while they are not needed. It has room
/// for one packet.
@Suite struct WithheldReportTests {
  private let stage: HostStage

  init() throws {
    let kernel = UserChannelKernel()
    kernel.withholdsCompletions = true
    stage = try HostStage(of: kernel) { $0.returned[0x2002] = [27, 0, 1] }
    try stage.controller.tell(HostStage.connected(0x40))
    try stage.settle()
  }

  /// A link of the handle 0x41.
  private func connectAnother() throws {
    let watch = DeviceAddress(value: 0xC011_2233_4466, kind: .random)
    try stage.controller.tell(HostStage.connected(0x41, to: watch))
    try stage.settle()
    try #require(stage.links.count == 2)
  }

  /// The octets of the packets that the controller has received.
  private var sent: [UInt8] { stage.controller.data.compactMap(\.data.last) }

  private func send(_ octet: UInt8) throws {
    try #require(stage.links.last).send([0x1B, 3, 0, octet])
    try stage.settle()
  }

  private func transmitted(_ handle: ConnectionHandle = 0x40) throws {
    let link = NumberOfCompletedPackets.Link {
      $0.handle = handle
      $0.packets = 1
    }
    try stage.controller.tell(.numberOfCompletedPackets(NumberOfCompletedPackets { $0.links = [link] }))
    try stage.settle()
  }

  @Test func theNextPacketFindsTheRoomThatWasReported() throws {
    for octet in UInt8(1)...3 {
      try send(octet)
      #expect(sent == Array(1...octet))
      try transmitted()
    }
  }

  @Test func aPacketThatWaitsLeavesWithTheReport() throws {
    for octet in UInt8(1)...4 { try send(octet) }
    #expect(sent == [1])
    for octet in UInt8(2)...4 {
      try transmitted()
      #expect(sent == Array(1...octet))
    }
    try transmitted()
    try send(5)
    #expect(sent == [1, 2, 3, 4, 5])
  }

  /// More of them than packets are with the controller.
  @Test func aReportBehindStrangeOnesIsFound() throws {
    try send(1)
    for _ in 0..<3 { try transmitted(0x99) }
    try transmitted()
    try send(2)
    #expect(sent == [1, 2])
  }

  /// Its packet has left with the report of another link, and its own report is awaited.
  @Test func aLinkThatWaitedForAnotherOneIsToldOfRoom() throws {
    try connectAnother()
    var writable = 0
    stage.links[1].onEvent = { if case .writable = $0 { writable += 1 } }
    for link in stage.links { link.send([0x1B, 3, 0, link === stage.links[0] ? 1 : 2]) }
    try stage.settle()
    #expect(sent == [1] && !stage.links[1].isWritable)
    try transmitted(0x40)
    #expect(sent == [1, 2])
    try transmitted(0x41)
    #expect(writable == 1 && stage.links[1].isWritable)
  }

  /// The other one is notified too, if the link for whose packet it waited ends.
  @Test func aLinkThatWaitedForOneThatEndedIsToldOfRoom() throws {
    try connectAnother()
    for link in stage.links { link.send([0x1B, 3, 0, link === stage.links[0] ? 1 : 2]) }
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    #expect(sent == [1, 2])
    try transmitted(0x41)
    #expect(stage.links[1].isWritable)
  }

  @Test func aLinkThatIsDisconnectedEndsWithTheReport() throws {
    let opcode = Disconnect.opcode
    try send(1)
    try #require(stage.links.last).disconnect()
    try stage.settle()
    #expect(!stage.controller.commands.contains { $0.opcode == opcode })
    try transmitted()
    #expect(stage.controller.commands.contains { $0.opcode == opcode })
  }

  @Test func aReportThatCameBeforeIsEnough() throws {
    try send(1)
    try transmitted()
    try #require(stage.links.last).disconnect()
    try stage.settle()
    #expect(stage.controller.commands.contains { $0.opcode == Disconnect.opcode })
  }

  /// The report is about an ended link of the same handle.
  @Test func aLaterLinkOwesNothing() throws {
    try send(1)
    try transmitted()
    try stage.controller.tell(HostStage.disconnected(0x40))
    try stage.settle()
    try stage.controller.tell(HostStage.connected(0x40))
    try stage.settle()
    try send(2)
    try send(3)
    #expect(sent == [1, 2])
  }

  /// The end of that link was not reported: another one has its handle.
  @Test func aLinkThatTakesTheHandleOwesNothing() throws {
    try send(1)
    try transmitted()
    try stage.controller.tell(HostStage.connected(0x40))
    try stage.settle()
    try #require(stage.links.count == 2)
    try send(2)
    try send(3)
    #expect(sent == [1, 2])
  }

  @Test func aLinkWhoseReportsWereNotLookedForIsNotStalled() throws {
    try send(1)
    try transmitted()
    try stage.wait(.seconds(60))
    #expect(!stage.controller.commands.contains { $0.opcode == Disconnect.opcode })
  }
}
