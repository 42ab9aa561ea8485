import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Phones that pair with the adapter's services.
@Suite(.onBothAirs) struct PhonePairingTests {
  private let protected = ServiceDefinition(
    uuid: 0xFFF0,
    characteristics: [
      CharacteristicDefinition(
        uuid: 0xFFF1, properties: .read, permissions: AttributePermissions(read: .encrypted), value: .owner)
    ])

  private func world(_ pairing: String, more: String = "", file: String = "", accepts: Bool = true) throws
    -> AdapterStage
  {
    let world = try AdapterStage.on(
      """
      { \(file) phones: [{ name: "Phone", address: "C0:DE:00:00:01:01", addressType: "random", pairing: \(pairing), \(more)
        script: [{ do: "read" }], stay: 2, returnAfter: 10 }] }
      """)
    world.setPairing(PairingSettings(acceptsDevices: accepts))
    return world
  }

  private func serve(_ world: AdapterStage) -> Server {
    let server = Server(world, [protected])
    world.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: []))
    return server
  }

  /// Answers the questions of the adapter, and counts them and the bonds.
  private final class Person {
    var questions = 0
    var bonds: [Bond] = []

    init(_ world: AdapterStage, _ answer: PairingAnswer = .accept) {
      let note = world.adapter.onEvent
      world.adapter.onEvent = { [unowned self] event in
        note?(event)
        switch event {
        case .pairing(_, .question(let question, _)):
          questions += 1
          world.adapter.answer(question, answer)
        case .pairing(_, .bonded(let bond)): bonds.append(bond)
        default: break
        }
      }
    }
  }

  @Test("a phone that is refused a value pairs, reads it, and encrypts at its next visit", arguments: [false, true])
  func pairs(isPrivate: Bool) throws {
    let world = try world("{}", more: isPrivate ? "privateAddress: 5," : "")
    let person = Person(world)
    let server = serve(world)
    world.scheduler.run(for: .seconds(60)) { server.trace.filter { $0 == "read FFF1" }.count == 2 }
    #expect(server.trace.filter { $0 == "read FFF1" }.count == 2)
    #expect(person.questions == 1)
    #expect(person.bonds.map(\.peer) == [AdapterStage.address(0x101)])
    #expect((person.bonds.first?.identityResolvingKey != nil) == isPrivate)
    #expect(Set(world.links.map(\.peer)).count == (isPrivate ? 2 : 1))
  }

  @Test("P20: a phone that may not pair, or is refused, does not read", arguments: [true, false])
  func refused(accepts: Bool) throws {
    let world = try world("{}", accepts: accepts)
    let person = Person(world, .refuse)
    let server = serve(world)
    world.scheduler.run(for: .seconds(60)) { server.hasEnded }
    #expect(server.hasEnded && !server.trace.contains("read FFF1"))
    #expect(person.questions == (accepts ? 1 : 0))
    #expect(person.bonds.isEmpty)
  }

  @Test("P22: a phone whose keys we lost cannot use the link until it has forgotten us, too")
  func lostKeys() throws {
    let world = try world("{}", file: "events: [{ at: 100, action: \"loseKeys\", device: \"Phone\" }],")
    let person = Person(world)
    let server = serve(world)
    world.scheduler.run(for: .seconds(60)) { server.trace.contains("read FFF1") }
    #expect(person.bonds.count == 1)
    world.unpair(AdapterStage.address(0x101))
    let count = server.trace.filter { $0 == "read FFF1" }.count
    let links = world.links.count
    world.scheduler.advance(by: .seconds(60))
    #expect(world.links.count > links)
    #expect(person.bonds.count == 1)
    #expect(server.trace.filter { $0 == "read FFF1" }.count == count)
    world.scheduler.advance(by: .seconds(100))
    #expect(person.bonds.count == 2)
    #expect(server.trace.filter { $0 == "read FFF1" }.count > count)
  }

  @Test("two adapters on one air pair with each other")
  func twoAdapters() throws {
    let scheduler = VirtualScheduler()
    let air = Airs.make(scheduler: scheduler, seed: 1)
    let one = try AdapterStage("{}", id: "simulated", air: air, scheduler: scheduler)
    let two = try AdapterStage("{}", id: "simulated1", air: air, scheduler: scheduler)
    for world in [one, two] {
      world.setPairing(PairingSettings(capability: .displayYesNo, acceptsDevices: true))
      world.adapter.start()
    }
    scheduler.run { one.adapter.state == .on && two.adapter.state == .on }
    let (first, second) = (Person(one), Person(two))
    two.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: []))
    one.adapter.connect(to: two.adapter.information.address, ConnectionParameters())
    scheduler.run(for: .seconds(10)) { !one.links.isEmpty && !two.links.isEmpty }
    let link = try #require(one.links.first)
    var isDone = false
    link.raiseSecurity(to: 4, as: .displayYesNo, usesOwnData: false) { error in
      #expect(error == nil)
      isDone = true
    }
    scheduler.run(for: .seconds(10)) { isDone }
    scheduler.advance(by: .seconds(1))
    #expect(isDone && link.security.level == 4 && two.links.first?.security.level == 4)
    #expect(first.questions == 1 && second.questions == 1)
    #expect(first.bonds.first?.longTermKeys.map(\.value) == second.bonds.first?.longTermKeys.map(\.value))
    #expect(first.bonds.first?.peer == second.bonds.first?.local)
  }
}
