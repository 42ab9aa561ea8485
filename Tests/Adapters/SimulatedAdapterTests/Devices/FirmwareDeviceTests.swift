import Bluetooth
import MCUmgr
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Devices with MCUmgr: what they do not accept, and their restarts.
@Suite(.onBothAirs) struct FirmwareDeviceTests {
  private static let reset = ManagementRequest.reset.frame(sequence: 3).encoded
  private static let long = ManagementRequest.echo(String(repeating: "a", count: 300)).frame(sequence: 4).encoded

  private static func world(_ firmware: String) throws -> AdapterStage {
    try AdapterStage.on(
      """
      { devices: [
        { name: "unit", address: "C0:DE:00:00:00:01", addressType: "random", mtu: 247, firmware: { \(firmware) } } ] }
      """)
  }

  /// The server of a device.
  private static func host(_ firmware: String, _ world: AdapterStage) throws -> FirmwareHost {
    let text = #"{ devices: [{ name: "host", address: "C0:DE:00:00:00:09", firmware: { \#(firmware) } }] }"#
    let description = try #require(try Scenario(json: text).devices[0].firmware)
    return FirmwareHost(description, of: AdapterStage.address(9), in: world.context)
  }

  /// The answers to packets.
  private static func answers(_ firmware: String, _ packets: [[UInt8]]) throws -> [ManagementFrame] {
    let world = try world("")
    let host = try host(firmware, world)
    var assembly = FrameAssembly()
    var answers: [ManagementFrame] = []
    host.send = { packet in
      answers += assembly.receive(packet)
      return true
    }
    packets.forEach(host.received)
    world.scheduler.advance(by: .seconds(1))
    return answers
  }

  @Test("a frame that is longer than a buffer is dropped")
  func buffers() throws {
    let short = ManagementRequest.echo("a").frame(sequence: 5).encoded
    #expect(try Self.answers("bufferSize: 256", [Self.long, short]).map(\.sequence) == [5])
    #expect(try Self.answers("bufferSize: 512", [Self.long, short]).map(\.sequence) == [4, 5])
  }

  @Test("a frame in parts is corrupt to a device that does not join them")
  func parts() throws {
    let parts = [Array(Self.long[..<200]), Array(Self.long[200...])]
    let answers = try Self.answers("joins: false", parts)
    #expect(answers.map(\.sequence) == [4] && answers.first?.command == 0)
    #expect(answers.first.flatMap { ManagementError($0) } == ManagementError(group: nil, code: 9))
    #expect(try Self.answers("joins: false", [Self.long]).compactMap { ManagementError($0) }.isEmpty)
  }

  @Test("two resets in a row restart it once")
  func resets() throws {
    let world = try Self.world("")
    let host = try Self.host("", world)
    var count = 0
    host.restart = { _ in count += 1 }
    for _ in 1...2 { host.received(Self.reset) }
    world.scheduler.advance(by: .seconds(1))
    #expect(count == 1)
    host.received(Self.reset)
    world.scheduler.advance(by: .seconds(1))
    #expect(count == 2)
  }

  @Test("a device comes back after a restart, unless it is removed meanwhile", arguments: [true, false])
  func removal(isRemoved: Bool) throws {
    let world = try Self.world("restartTime: 5")
    let client = Client(try #require(world.connect(1)), world)
    let service = try #require(try client.find(ManagementService.characteristic))
    client.start(.writeWithoutResponse(service.valueHandle, Self.reset))
    world.scheduler.advance(by: .seconds(2))
    #expect(client.reason != nil)
    if isRemoved { try world.air.command("unit", isPresent: false) }
    #expect((world.connect(1) == nil) == isRemoved)
  }
}
