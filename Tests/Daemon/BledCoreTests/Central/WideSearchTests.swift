import Bluetooth
import BledRPC
import GATT
import Testing

@testable import BledCore

/// The number of requests for the services of a device, each of which costs a connection interval or two.
@Suite struct WideSearchTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
  }

  /// Discovers everything on a new link.
  /// - Returns: the services, and the opcodes of the requests between the connection and the answer.
  private func discover() throws -> (services: [ServiceDescription], requests: [UInt8]) {
    let id = try world.connect(client, peer).peripheral
    peer.forget()
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscover.self)) != nil }
    let requests = peer.received.map { $0[0] }
    world.settle()
    return (try #require(try client.answer(to: call, GATTDiscover.self)).get().services, requests)
  }

  @Test("Four services take ten requests: what they include and what is in them is searched at once")
  func count() throws {
    let found = try discover()
    // The hash; services, includes and characteristics until there are no more; the descriptors of three.
    #expect(found.requests == [0x08, 0x10, 0x10, 0x08, 0x08, 0x08, 0x08, 0x04, 0x04, 0x04])
    #expect(found.services.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
    #expect(found.services.map { $0.includes?.map(\.uuid) ?? [] } == [[], [], [], [0x180D]])
    #expect(found.services.map { $0.characteristics?.count } == [2, 2, 2, 1])
    let descriptors = found.services.flatMap { $0.characteristics ?? [] }.map { $0.descriptors?.map(\.uuid) ?? [] }
    #expect(descriptors == [[], [], [0x2902], [], [0x2902], [], [0x2902]])
  }

  @Test(
    "A device that answers searches for one service only is searched service by service",
    arguments: [0x01, 0x06, 0x0A, 0x80])
  func oneByOne(_ error: UInt8) throws {
    let all = try discover().services
    try #require(peer.database.services.count == 4)
    let ranges = peer.database.services.map(\.range)
    let link = try #require(world.daemon.links.links.first)
    link.disconnect()
    world.settle()
    peer.refusing = { packet in
      guard packet[0] == 0x08, packet.suffix(2) == [0x03, 0x28] else { return nil }
      let end = UInt16(packet[3]) | UInt16(packet[4]) << 8
      let start = UInt16(packet[1]) | UInt16(packet[2]) << 8
      return ranges.contains { $0.contains(start) && $0.upperBound == end } ? nil : error
    }
    #expect(try discover().services == all)
  }

  private let heart: ClosedRange<UInt16> = 6...9
  private func known() -> KnownAttributes {
    var known = KnownAttributes()
    known.add(1...5, 0x1800, isPrimary: true)
    known.add(heart, 0x180D, isPrimary: true)
    // Nothing is in this one.
    known.add(10...10, 0x1802, isPrimary: true)
    known.add(11...0xFFFF, 0x180F, isPrimary: true)
    known.addedAllPrimaries()
    return known
  }

  private func characteristic(_ handle: UInt16, to end: UInt16) -> DiscoveredCharacteristic {
    DiscoveredCharacteristic(
      handle: handle, valueHandle: handle + 1, endHandle: end, properties: .read, uuid: 0x2A00)
  }

  @Test("An irregular answer to a search for several services is not taken: each is searched by itself")
  func irregular() throws {
    var known = known()
    var machine = DiscoveryMachine(.everything)
    #expect(try range(of: machine.next(known, isVerified: true, hasCache: false)) == 1...0xFFFF)
    #expect(machine.isWide(known))
    try machine.receive(.includedServices([]), &known)
    #expect(try range(of: machine.next(known, isVerified: true, hasCache: false)) == 1...0xFFFF)
    try machine.receive(GATTResult.unexpected(), &known)
    for service in [1...5, heart, 11...0xFFFF] as [ClosedRange<UInt16>] {
      #expect(try range(of: machine.next(known, isVerified: true, hasCache: false)) == service)
      #expect(!machine.isWide(known))
      try machine.receive(.characteristics([]), &known)
    }
    #expect(try machine.next(known, isVerified: true, hasCache: false) == nil)
    var alone = DiscoveryMachine(.characteristics(99))
    known.add(99...120, 0x1803, isPrimary: true)
    _ = try alone.next(known, isVerified: true, hasCache: false)
    #expect(throws: BluetoothError.self) { try alone.receive(GATTResult.unexpected(), &known) }
  }

  @Test("Characteristics end with their service, and belong to the one that both their handles are in")
  func distribution() throws {
    var known = known()
    for service in known.services { known.add([DiscoveredInclude](), of: service.range.lowerBound) }
    var machine = DiscoveryMachine(.everything)
    _ = try machine.next(known, isVerified: true, hasCache: false)
    try machine.receive(
      .characteristics([characteristic(2, to: 6), characteristic(9, to: 11), characteristic(12, to: 0xFFFF)]), &known)
    #expect(known.service(ifKnown: 1)?.characteristics == [characteristic(2, to: 5)])
    #expect(known.service(ifKnown: 11)?.characteristics == [characteristic(12, to: 0xFFFF)])
    // A value in another service: this service's attributes are read again.
    #expect(known.service(ifKnown: 6)?.characteristics == nil)
    #expect(known.missingCharacteristics().map { try? range(of: $0) } == .some(heart))
  }

  @Test("Others have their turn within the discovery of many services")
  func many() throws {
    var known = KnownAttributes()
    for index in 0..<40 as Range<UInt16> { known.add(index * 10 + 1...index * 10 + 9, 0x180D, isPrimary: true) }
    known.addedAllPrimaries()
    var machine = DiscoveryMachine(.everything)
    var ranges: [ClosedRange<UInt16>] = []
    for _ in 0..<3 {
      ranges.append(try range(of: machine.next(known, isVerified: true, hasCache: false)))
      try machine.receive(.includedServices([]), &known)
    }
    #expect(ranges == [1...159, 161...319, 321...399])
  }

  private func range(of procedure: GATTProcedure?) throws -> ClosedRange<UInt16> {
    switch try #require(procedure) {
    case .findIncludedServices(let range), .discoverCharacteristics(let range): range
    case let other:
      Issue.record("\(other)")
      throw GATTResult.unexpected()
    }
  }
}
