import Adapter
import Bluetooth
import GATT
import Testing

@testable import Scenarios
@testable import VirtualDevices

/// The keys and bonds of devices on virtual controllers.
@Suite struct VirtualBondTests {
  private static func lamp(_ members: String = "", scenario: String = "") -> String {
    """
    { \(scenario) devices: [{ name: "lamp", address: "C0:DE:00:00:00:01", addressType: "random",
        pairing: { capability: "displayYesNo" }, \(members)
        services: [{ uuid: "180F", characteristics: [{ uuid: "2A19", value: "32", security: "encrypted" }] }] }] }
    """
  }

  private func end(_ client: Client, _ stage: VirtualStage) {
    client.link.disconnect()
    stage.scheduler.advance(by: .seconds(1))
  }

  @Test("A central with private addresses learns of a change that it missed under another one")
  func missedChange() throws {
    let stage = try VirtualStage(Self.lamp())
    stage.adapter.host.setPrivacy(
      PrivacySettings(root: [UInt8](repeating: 7, count: 16), rotation: .seconds(60)))
    stage.adapter.host.setPower(false) { _ in }
    stage.scheduler.advance(by: .seconds(5))
    stage.adapter.host.setPower(true) { _ in }
    stage.scheduler.advance(by: .seconds(5))
    let first = try #require(stage.connect(1))
    #expect(first.raise(to: 2) == nil)
    let changed = try #require(try first.find(0x2A05))
    _ = try first.run(.subscribe(descriptor: changed.valueHandle + 1, .indication))
    end(first, stage)
    let address = stage.adapter.host.information.privateAddress
    stage.scheduler.advance(by: .seconds(120))
    #expect(stage.adapter.host.information.privateAddress != address && address != nil)
    try stage.air.command(
      "lamp", change: "{ services: [{ uuid: '180A', characteristics: [{ uuid: '2A29', value: '32' }] }] }")
    let second = try #require(stage.connect(1))
    #expect(second.raise(to: 2) == nil)
    stage.scheduler.advance(by: .seconds(1))
    #expect(second.values == [[1, 0, 0xFF, 0xFF]])
  }

  /// The number compared and the key of a pairing.
  private func pair(_ stage: VirtualStage) throws -> (number: UInt32, key: [UInt8]) {
    let client = try #require(stage.connect(1))
    var outcome: BluetoothError??
    client.link.raiseSecurity(to: 3, as: .displayYesNo, usesOwnData: false) { outcome = .some($0) }
    stage.scheduler.run(for: .seconds(20)) { stage.pairings.last.map { "\($0)".contains("comparison") } == true }
    guard case .question(let id, .comparison(let number))? = stage.pairings.last else {
      throw GAPError.timeout.error("\(stage.pairings)")
    }
    stage.adapter.host.answer(id, .accept)
    stage.scheduler.run(for: .seconds(20)) { outcome != nil }
    #expect(outcome == .some(nil))
    end(client, stage)
    return (number, try #require(stage.bonds.all.first?.longTermKeys.first?.value))
  }

  @Test("Numbers and keys of pairings follow from the seed")
  func seed() throws {
    let (one, same, other) = (
      try pair(try VirtualStage(Self.lamp(), seed: 3)), try pair(try VirtualStage(Self.lamp(), seed: 3)),
      try pair(try VirtualStage(Self.lamp(), seed: 4))
    )
    #expect(one == same && one.number != other.number && one.key != other.key)
  }

  @Test("A device of a simulation that was restarted has its keys, unless the scenario's seed is another")
  func restart() throws {
    for members in ["", "privateAddress: 60,"] {
      let first = try VirtualStage(Self.lamp(members))
      _ = try pairAnywhere(first)
      let bonds = first.bonds
      // With another seed the private addresses are those of another device.
      for (seed, isKnown) in [("", true), ("seed: 9,", false)] where isKnown || members.isEmpty {
        let again = try VirtualStage(Self.lamp(members, scenario: seed), seed: 5, bonds: bonds)
        let client = try #require(connectAnywhere(again))
        #expect((client.raise(to: 2) == nil) == isKnown, "\(members) \(seed)")
        #expect(again.pairings.contains { "\($0)".contains("keysLost") } != isKnown)
      }
    }
  }

  /// A client on a link to the only device, whatever its address.
  private func connectAnywhere(_ stage: VirtualStage) -> Client? {
    stage.scan()
    guard let address = stage.reports.first?.address else { return nil }
    let count = stage.links.count
    stage.adapter.host.connect(to: address, ConnectionParameters())
    stage.scheduler.run(for: .seconds(60)) { stage.links.count > count }
    return stage.links.count > count ? Client(stage.links[count], stage.scheduler) : nil
  }

  private func pairAnywhere(_ stage: VirtualStage) throws {
    let client = try #require(connectAnywhere(stage))
    #expect(client.raise(to: 2) == nil)
    end(client, stage)
    #expect(stage.bonds.all.count == 1)
  }

  @Test("The person at a device types the passkey that the adapter shows, another one in each pairing")
  func passkeys() throws {
    let stage = try VirtualStage(
      """
      { devices: [{ name: "keys", address: "C0:DE:00:00:00:01", addressType: "random",
          pairing: { capability: "keyboard" } }] }
      """)
    var shown: [UInt32] = []
    for _ in 0..<2 {
      let client = try #require(stage.connect(1))
      var outcome: BluetoothError??
      client.link.raiseSecurity(to: 3, as: .display, usesOwnData: false) { outcome = .some($0) }
      stage.scheduler.run(for: .seconds(20)) { outcome != nil }
      #expect(outcome == .some(nil) && client.link.security.level == 4)
      shown += stage.pairings.compactMap { if case .showPasskey(let passkey, 0) = $0 { passkey } else { nil } }
      end(client, stage)
      stage.forgetPairings()
      stage.bonds.all = []
    }
    #expect(Set(shown).count == 2)
  }
}
