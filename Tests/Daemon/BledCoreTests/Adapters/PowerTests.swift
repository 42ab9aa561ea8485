import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// `adapter.power`: one switch after the other, each answered when it was made.
@Suite struct PowerTests {
  private let world = World()
  private let client: TestClient

  init() { client = world.client() }

  @Test("off, on, off asked for at once: each is done, and answered with the state after it")
  func inTurn() throws {
    let calls = try [false, true, false].map { try client.call(AdapterPower.self, .init(on: $0)) }
    for (call, (on, state)) in zip(calls, [(false, "off"), (true, "on"), (false, "off")]) {
      #expect(world.adapter.wantedPower == [on])
      #expect(try client.answer(to: call, AdapterPower.self) == nil)
      world.adapter.switchPower()
      #expect(try #require(try client.answer(to: call, AdapterPower.self)).get().state.text == state)
    }
    #expect(world.adapter.wantedPower.isEmpty)
  }

  @Test("one that fails ends with its error, and the next has its turn")
  func failure() throws {
    let off = try client.call(AdapterPower.self, .init(on: false))
    try world.client().call(AdapterPower.self, .init(on: true))
    world.adapter.switchPower(GAPError.adapterFailed.error("it does not respond"))
    #expect(try client.error(of: off, AdapterPower.self)?.data?.name == "adapterFailed")
    #expect(world.adapter.wantedPower == [true])
  }

  @Test("a refusal because an adapter is off says how to switch it on")
  func remedy() throws {
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
    second.change(to: .off)
    let error = try client.error(AdvertisingStart.self, .init(adapter: "hci1", name: "x"))
    #expect(error?.data?.name == "adapterOff")
    #expect(error?.message.contains("bleshell power on --adapter hci1") == true, "\(error?.message ?? "none")")
  }

  @Test("what waits of a session that has ended is not done")
  func ended() throws {
    let other = world.client()
    for on in [false, true, false, true] { try client.call(AdapterPower.self, .init(on: on)) }
    let last = try other.call(AdapterPower.self, .init(on: false))
    client.die()
    world.adapter.switchPower()
    #expect(world.adapter.wantedPower == [false])
    world.adapter.switchPower()
    #expect(try #require(try other.answer(to: last, AdapterPower.self)).get().state == "off")
    #expect(world.adapter.wantedPower.isEmpty)
  }
}
