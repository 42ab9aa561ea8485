import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Data received before the event of their link, or after the event of its end.
@Suite struct EarlyDataTests {
  private let handle: ConnectionHandle = 0x40

  /// The controller is Zephyr's, and has flow control to the host.
  private func stage() throws -> HostStage {
    try HostStage {
      $0.returned[0x1001] = [13, 0, 0, 13, 0xF1, 0x05, 0, 0]
      $0.returned[0x1002] = [UInt8](repeating: 0, count: 10) + [0xE0] + [UInt8](repeating: 0, count: 53)
    }
  }

  /// A device requests a channel; the number of its request is in the answer.
  private func request(_ number: UInt8, _ stage: HostStage) throws {
    let payload = [0x14, number] + (try octets("0a00 8000 4100 c800 4000 0300"))
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = handle
          $0.boundary = 2
          $0.data = L2CAPFrame(channel: L2CAPFrame.Fixed.signalling, payload: payload).octets()[...]
        })
    ])
    try stage.settle()
  }

  private func tell(_ event: HCIEvent, _ stage: HostStage) throws {
    try stage.controller.tell(event)
    try stage.settle()
  }

  private func answers(_ stage: HostStage) -> [UInt8?] { stage.controller.data.map { $0.data.dropFirst(5).first } }

  /// The packets with room that was returned to the controller.
  private func told(_ stage: HostStage) -> [[UInt8]] {
    stage.controller.commands.filter { $0.opcode == HostNumberOfCompletedPackets.opcode }.map(\.parameters)
  }

  @Test func dataBehindTheEndOfTheirLinkAreNotThoseOfTheNext() throws {
    let stage = try stage()
    try tell(HostStage.connected(handle), stage)
    try tell(HostStage.disconnected(handle), stage)
    try stage.wait(.milliseconds(9))
    try request(1, stage)
    #expect(told(stage) == [[1, 0x40, 0, 1, 0]])
    try tell(HostStage.connected(handle), stage)
    #expect(stage.links.count == 2 && answers(stage) == [])
    try request(2, stage)
    #expect(answers(stage) == [2])
  }

  @Test func laterDataAreThoseOfTheNextLink() throws {
    let stage = try stage()
    try tell(HostStage.connected(handle), stage)
    try tell(HostStage.disconnected(handle), stage)
    // A device that connects at once, with the handle of the last link.
    try stage.wait(.milliseconds(10))
    try request(1, stage)
    #expect(told(stage) == [])
    try tell(HostStage.connected(handle), stage)
    #expect(answers(stage) == [1])
  }

  @Test func dataOfNoLinkGiveUpTheirRoomInTime() throws {
    let stage = try stage()
    try request(1, stage)
    try stage.wait(.milliseconds(500))
    try request(2, stage)
    try stage.wait(.milliseconds(499))
    #expect(told(stage) == [])
    try stage.wait(.milliseconds(1))
    #expect(told(stage) == [[1, 0x40, 0, 1, 0], [1, 0x40, 0, 1, 0]])
    try tell(HostStage.connected(handle), stage)
    #expect(stage.links.count == 1 && answers(stage) == [])
  }

  @Test func dataOfAControllerThatIsGoneAreForgotten() throws {
    let stage = try stage()
    try request(1, stage)
    stage.controller.hangUp()
    try stage.settle()
    // The next one is not set up when they would give up their room.
    stage.controller.unanswered = [0x0C03]
    try stage.wait(.milliseconds(250))
    #expect(stage.controller.connections == 2)
    try stage.wait(.milliseconds(750))
    #expect(told(stage) == [])
  }
}
