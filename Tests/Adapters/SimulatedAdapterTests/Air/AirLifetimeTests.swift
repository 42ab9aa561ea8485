import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// The ends of links whose adapter goes.
struct AirLifetimeTests {
  /// The parts of an adapter with a link, as far as they exist.
  private struct Parts {
    weak var adapter: SimulatedAdapter?
    weak var air: Air?
    weak var pair: LinkPair?
    weak var security: SecurityManagerPair?
    weak var link: SimulatedLink?
    weak var channel: SimulatedChannel?

    var left: [String] {
      [
        adapter.map { _ in "adapter" }, air.map { _ in "air" }, pair.map { _ in "pair" },
        security.map { _ in "security" }, link.map { _ in "link" }, channel.map { _ in "channel" },
      ].compactMap { $0 }
    }
  }

  private static let device = """
    { devices: [{ name: "Echo", address: "C0:DE:00:00:00:01", addressType: "random", connectDelay: 0, echoPSM: 200,
        pairing: {}, services: [{ uuid: "180F", characteristics: [{ uuid: "2A19", value: "32" }] }] }] }
    """

  /// An adapter with a link whose packets, channel and pairing are under way.
  private func begin(_ scheduler: VirtualScheduler, stops: Bool) throws -> Parts {
    let world = try AdapterStage(Self.device, scheduler: scheduler)
    world.adapter.start()
    scheduler.run { world.adapter.state == .on }
    let link = try #require(world.connect(1) as? SimulatedLink)
    var channel: SimulatedChannel?
    link.openChannel(to: 200, ChannelParameters()) { channel = try? $0.get() as? SimulatedChannel }
    scheduler.run(for: .seconds(1)) { channel != nil }
    channel?.send([1, 2, 3])
    link.send([0x0A, 3, 0])
    link.request(ConnectionParameters()) { _ in }
    link.request(LinkPHY(.le2M)) { _ in }
    link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { _ in }
    if stops { world.adapter.stop {} }
    scheduler.run(for: .milliseconds(1)) { false }
    return Parts(
      adapter: world.adapter as? SimulatedAdapter, air: world.air as? Air, pair: link.pair,
      security: link.pair?.security, link: link,
      channel: channel)
  }

  @Test("nothing of a link, its channels and its pairing outlasts the adapter, whether it was stopped before or not")
  func links() throws {
    for stops in [false, true] {
      let scheduler = VirtualScheduler()
      let parts = try begin(scheduler, stops: stops)
      // Packets and alarms that were due are without effect.
      scheduler.advance(by: .seconds(60))
      #expect(parts.left == [])
    }
  }

  @Test("a channel that was closed goes before its link")
  func channels() throws {
    let world = try AdapterStage.on(Self.device)
    let link = try #require(world.connect(1))
    weak var closed: SimulatedChannel?
    func open() -> (any Channel)? {
      var channel: (any Channel)?
      link.openChannel(to: 200, ChannelParameters()) { channel = try? $0.get() }
      world.scheduler.run(for: .seconds(1)) { channel != nil }
      closed = channel as? SimulatedChannel
      return channel
    }
    open()?.close()
    #expect(closed != nil)
    world.scheduler.advance(by: .seconds(1))
    #expect(closed == nil && (link as? SimulatedLink)?.isOpen == true)
  }
}
