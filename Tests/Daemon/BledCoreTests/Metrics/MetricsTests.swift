import BledRPC
import Testing

@testable import BledCore

/// The figures that the daemon counts.
@Suite struct MetricsTests {
  private let world = World()

  private func sample(_ name: String, _ labels: [String: String] = [:]) -> Metric.Sample? {
    world.daemon.metrics.first { $0.name == name }?.samples.first { $0.labels == labels }
  }

  @Test("calls are counted by method, their times measured, and what users cost outlasts their sessions")
  func counting() throws {
    let client = world.client(user: 1000)
    let peer = world.peer()
    try peer.furnish()
    let link = try world.connect(client, peer)
    let read = try client.call(
      GATTRead.self, .init(peripheral: link.peripheral, attribute: .handle(peer.handle(of: 0x2A38))))
    world.settle()
    _ = try #require(try client.answer(to: read, GATTRead.self)).get()
    _ = try client.error(GATTRead.self, .init(peripheral: "nobody", attribute: .handle(1)))
    _ = try client.error(AdapterPower.self, .init(on: false))
    #expect(sample("bled_calls_total", ["method": "gatt.read"])?.value == 2)
    // A call that is not permitted does not count for the method.
    #expect(sample("bled_calls_total", ["method": "adapter.power"]) == nil)
    #expect(sample("bled_calls_failed_total")?.value == 2)
    let reads = try #require(sample("bled_read_duration_seconds")?.buckets)
    #expect(reads.last?.count == 1 && reads.first?.most == 0.0001 && reads.last?.most == nil)
    #expect(zip(reads, reads.dropFirst()).allSatisfy { $0.count <= $1.count })
    #expect(sample("bled_adapter_links", ["adapter": "hci0"])?.value == 1)
    let before = try #require(sample("bled_user_calls_total", ["user": "1000"])?.value)
    client.die()
    #expect(before == 4 && sample("bled_user_calls_total", ["user": "1000"])?.value == before)
    #expect(sample("bled_sessions")?.value == 0 && sample("bled_sessions_opened_total")?.value == 1)
  }

  @Test("so many users come that some are told together")
  func manyUsers() {
    for user in 0..<100 as Range<UInt32> { world.client(user: 2000 + user).die() }
    let users = world.daemon.metrics.first { $0.name == "bled_user_calls_total" }?.samples ?? []
    #expect(users.count == 65 && users.contains { $0.labels["user"] == "others" })
  }

  @Test("the costs of other users never fall, even as sessions end")
  func manyUsersEnd() throws {
    for user in 0..<63 as Range<UInt32> { world.client(user: 2000 + user).die() }
    let (first, second) = (world.client(user: 3000), world.client(user: 3001))
    _ = try first.result(AdapterList.self, Empty())
    for _ in 0..<5 { _ = try second.result(AdapterList.self, Empty()) }
    let before = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    second.die()
    let between = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    first.die()
    let after = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    #expect(before == 5 && between == 5 && after == 5)
  }
}
