import Adapter
import Bluetooth
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Channels on the simulated air.
@Suite(.onBothAirs) struct SimulatedChannelTests {
  private static let device = """
    { devices: [{ name: 'Echo', address: 'C0:DE:00:00:00:01', addressType: 'random', connectDelay: 0, echoPSM: 200 }] }
    """

  private func open(_ world: AdapterStage, _ link: any Link, _ psm: UInt16) throws -> Result<
    any Channel, BluetoothError
  > {
    var outcome: Result<any Channel, BluetoothError>?
    link.openChannel(to: psm, ChannelParameters(receiveMTU: 100)) { outcome = $0 }
    #expect(outcome == nil, "it was told from inside the call")
    world.scheduler.advance(by: .seconds(1))
    return try #require(outcome)
  }

  @Test(
    "What goes to an echoing device comes back, and only as fast as it is read",
    .onSimulatedAir("more packets are on their way"))
  func echo() throws {
    let world = try AdapterStage.on(Self.device)
    let link = try #require(world.connect(1))
    let channel = try open(world, link, 200).get()
    var received: [[UInt8]] = []
    var ends = 0
    channel.onEvent = { event in
      switch event {
      case .received(let packet): received.append(packet)
      case .writable: break
      case .ended: ends += 1
      }
    }
    var sent = 0
    for number in 0..<1000 where channel.isWritable {
      channel.send([UInt8(truncatingIfNeeded: number)])
      sent += 1
      world.scheduler.advance(by: .milliseconds(100))
    }
    // A receiver that does not read stops the sender: the queue has a bound.
    #expect(sent < 40 && received.isEmpty)
    channel.isReading = true
    world.scheduler.advance(by: .seconds(5))
    #expect(received == (0..<sent).map { [UInt8($0)] } && channel.isWritable)
    channel.send([UInt8](repeating: 7, count: 250))
    world.scheduler.advance(by: .seconds(1))
    #expect(received.suffix(3).map(\.count) == [100, 100, 50])
    link.disconnect()
    world.scheduler.advance(by: .seconds(1))
    #expect(ends == 1)
  }

  @Test("A channel has the mode that was asked for", .onSimulatedAir("the sizes of packets are the host's"))
  func modes() throws {
    let world = try AdapterStage.on(Self.device)
    let link = try #require(world.connect(1))
    var modes: [ChannelMode] = []
    var pieces: [ChannelPieces?] = []
    for mode in [nil, ChannelMode.leCreditBased, .enhanced] {
      link.openChannel(to: 200, ChannelParameters(mode: mode)) { result in
        guard case .success(let channel) = result else { return }
        modes.append(channel.mode)
        pieces.append(channel.pieces)
      }
    }
    world.scheduler.advance(by: .seconds(1))
    #expect(modes == [.leCreditBased, .leCreditBased, .enhanced])
    // The pieces into which the default of 8192 octets is cut for packets of 251.
    #expect(pieces == [ChannelPieces?](repeating: ChannelPieces(receive: 247, send: 247), count: 3))
    #expect(try open(world, link, 200).get().pieces == ChannelPieces(receive: 100, send: 247))
  }

  @Test("A number that the device does not have is refused, one that we have cannot be had twice")
  func numbers() throws {
    let world = try AdapterStage.on(Self.device)
    let link = try #require(world.connect(1))
    let refused = Airs.isVirtual ? "the device refused the channel: it does not" : "the device does not"
    #expect(throws: GAPError.connectionFailed.error("\(refused) listen on PSM 201")) {
      _ = try open(world, link, 201).get()
    }
    #expect(try world.adapter.publishChannel(nil, ChannelParameters()) == (Airs.isVirtual ? 0x80 : 0xFF))
    #expect(try world.adapter.publishChannel(0xFE, ChannelParameters()) == 0xFE)
    #expect(try world.adapter.publishChannel(nil, ChannelParameters()) == (Airs.isVirtual ? 0x81 : 0xFD))
    let error = try #require(throws: BluetoothError.self) {
      _ = try world.adapter.publishChannel(0xFE, ChannelParameters())
    }
    #expect(error.name == "alreadyInProgress")
  }
}
