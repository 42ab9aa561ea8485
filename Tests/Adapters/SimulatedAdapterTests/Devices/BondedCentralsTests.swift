import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Simulated devices that keep, with a bond, a central's subscription to Service Changed.
@Suite(.onBothAirs) struct BondedCentralsTests {
  private let world: AdapterStage

  init() throws {
    world = try AdapterStage.on(
      """
      { devices: [{ name: "lamp", address: "C0:DE:00:00:00:01", addressType: "random", pairing: {},
          services: [{ uuid: "180F", characteristics: [{ uuid: "2A19", value: "32" }] }] }] }
      """)
  }

  private func change(_ service: String) throws {
    try world.air.command(
      "lamp", change: #"{ services: [{ uuid: "\#(service)", characteristics: [{ uuid: "2A19", value: "32" }] }] }"#)
  }

  private func connect() throws -> Client { Client(try #require(world.connect(1)), world) }

  private func secure(_ client: Client) {
    var isDone = false
    client.link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { error in isDone = error == nil }
    world.scheduler.run(for: .seconds(60)) { isDone }
    #expect(isDone)
  }

  private func subscribe(_ client: Client) throws {
    try client.subscribe(try #require(try client.find(0x2A05)), .indication)
  }

  /// The changes that were indicated within a second.
  private func changes(_ client: Client) -> [[UInt8]] {
    world.scheduler.advance(by: .seconds(1))
    return client.values.map(\.value)
  }

  private func end(_ client: Client) {
    client.link.disconnect()
    world.scheduler.advance(by: .seconds(1))
  }

  @Test("a central learns of a change that it missed when it encrypts its next link, once")
  func missed() throws {
    for pairsFirst in [true, false] {
      let first = try connect()
      if pairsFirst { secure(first) }
      try subscribe(first)
      secure(first)
      end(first)
      try change(pairsFirst ? "1810" : "1811")
      let second = try connect()
      #expect(changes(second).isEmpty, "anyone can show its address")
      secure(second)
      #expect(changes(second) == [[1, 0, 0xFF, 0xFF]])
      end(second)
      let third = try connect()
      secure(third)
      #expect(changes(third).isEmpty)
      end(third)
      world.loseKeys(device: "lamp")
      world.unpair(AdapterStage.address(1))
    }
  }

  @Test("a change that was indicated, and not confirmed before the link's end, is indicated again")
  func unconfirmed() throws {
    let first = try connect()
    secure(first)
    try subscribe(first)
    try change("1810")
    first.link.disconnect()
    world.scheduler.advance(by: .seconds(1))
    let second = try connect()
    secure(second)
    #expect(changes(second).count == 1)
  }

  @Test("without a subscription, a bond or a change nothing is indicated")
  func nothing() throws {
    let first = try connect()
    try subscribe(first)
    end(first)
    try change("1810")
    let second = try connect()
    secure(second)
    #expect(changes(second).isEmpty)
    end(second)
    try change("1811")
    let third = try connect()
    secure(third)
    #expect(changes(third).isEmpty)
    try subscribe(third)
    end(third)
    let fourth = try connect()
    secure(fourth)
    #expect(changes(fourth).isEmpty)
  }

  @Test("a device that lost its keys, or its central, knows nothing of an earlier bond")
  func lostKeys() throws {
    let first = try connect()
    secure(first)
    try subscribe(first)
    end(first)
    world.loseKeys(device: "lamp")
    world.unpair(AdapterStage.address(1))
    try change("1810")
    let second = try connect()
    secure(second)
    #expect(changes(second).isEmpty)
  }
}
