import Bluetooth
import GATT
import Testing

/// Handles at run time.
struct AttributeDatabaseTests {
  private let service = ServiceDefinition(
    uuid: 0x1234, characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: .read, value: .stored([7]))])
  private let other = ServiceDefinition(uuid: 0x4321)

  @Test func handlesOfARemovedServiceStayFree() throws {
    var database = AttributeDatabase()
    #expect(try database.add(service).range == 1...3)
    #expect(try database.add(other).range == 4...4)
    #expect(database.remove(service: 2) == nil)
    #expect(database.remove(service: 1) == 1...3)
    #expect(database.attribute(1) == nil && database.service(containing: 3) == nil)
    #expect(database.attribute(4)?.type == 0x2800)
    // A stranger does not get them, the same service does.
    #expect(try database.add(other).range == 5...5)
    #expect(try database.add(service).range == 1...3)
    #expect(try database.add(service).range == 6...8)
    #expect(database.services.map(\.range) == [1...3, 4...4, 5...5, 6...8])
  }

  @Test("an audience sees its own services and those of all")
  func audiences() throws {
    var database = AttributeDatabase { _ in [UInt8](repeating: 0, count: 16) }
    _ = try database.add(service)
    _ = try database.add(service, audience: Audience(1))
    _ = try database.add(other, audience: Audience(2))
    #expect(throws: DatabaseError.hiddenInclude(4)) {
      try database.add(ServiceDefinition(uuid: 0x1111, includes: [4]), audience: Audience(2))
    }
    database.viewer = Audience(1)
    #expect(database.attribute(5) != nil && database.attribute(7) == nil && database.service(containing: 7) == nil)
    #expect(database.hashMessage.count == 2 * (4 + 2 + 4 + 5))
    database.viewer = Audience(2)
    #expect(database.attribute(5) == nil && database.attribute(7) != nil)
    database.viewer = nil
    #expect(database.services.map(\.audience) == [nil, Audience(1), Audience(2)])
    #expect(database.attribute(5) != nil && database.attribute(7) != nil)
  }

  @Test func gapsAreUsedWhenNothingElseIsLeft() throws {
    var database = AttributeDatabase()
    for _ in 0..<0xFFFF / 3 { _ = try database.add(service) }
    #expect(throws: DatabaseError.noHandlesLeft) { try database.add(other) }
    database.remove(service: 4)
    #expect(throws: DatabaseError.noHandlesLeft) {
      try database.add(
        ServiceDefinition(uuid: 0x1234, characteristics: service.characteristics + service.characteristics))
    }
    #expect(try database.add(other).range == 4...4)
    #expect(database.service(containing: 0xFFFF)?.range == 0xFFFD...0xFFFF)
  }

  /// A service of three handles.
  private func service(_ uuid: BluetoothUUID) -> ServiceDefinition {
    ServiceDefinition(
      uuid: uuid, characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: .read, value: .stored([]))])
  }

  @Test("A service gets the handles that its publisher had for it, also in a later database; nobody else does (P13)")
  func handlesComeBack() throws {
    var first = AttributeDatabase()
    for (uuid, publisher): (BluetoothUUID, UInt32) in [(0x1111, 1), (0x1111, 1), (0x2222, 1), (0x1111, 2)] {
      _ = try first.add(service(uuid), publisher: publisher)
    }
    var next = AttributeDatabase(places: first.places)
    func add(_ uuid: BluetoothUUID, _ publisher: UInt32) throws -> UInt16 {
      try next.add(service(uuid), publisher: publisher).range.lowerBound
    }
    #expect(try add(0x1111, 2) == 10)
    #expect(try add(0x2222, 1) == 7)
    #expect(try add(0x1111, 1) == 1)
    #expect(try add(0x3333, 1) == 13, "what others had is not given away")
    #expect(try add(0x1111, 1) == 4, "the second one alike")
    #expect(try add(0x1111, 1) == 16)
    next.remove(service: 7)
    #expect(try add(0x2222, 1) == 7)
    #expect(AttributeDatabase(places: next.places).places == next.places)
  }

  @Test("Places are bounded, and whoever has most of them loses one")
  func placesAreBounded() throws {
    var database = AttributeDatabase()
    _ = try database.add(service(0x1111), publisher: 1)
    database.remove(service: 1)
    for number in 0...UInt16(ServicePlaces.maximum) {
      let added = try database.add(service(BluetoothUUID(0x3000 + number)), publisher: 2)
      database.remove(service: added.range.lowerBound)
    }
    #expect(database.formerPlaces.all.count == ServicePlaces.maximum)
    #expect(try database.add(service(0x1111), publisher: 1).range.lowerBound == 1)
  }

  @Test("When handles run out, those of services that are gone are given away, the last resort")
  func placesGiveWay() throws {
    let old: [ServicePlaces.Place] = [
      .init(publisher: 1, tree: [1], range: 1...3), .init(publisher: 1, tree: [2], range: 2...4),
      .init(publisher: 1, tree: [3], range: 10...0xFFFE),
    ]
    var database = AttributeDatabase(places: old)
    #expect(database.places.map(\.tree) == [[1], [3]], "they do not overlap")
    #expect(try database.add(service(0x1111)).range == 4...6)
    #expect(try database.add(service(0x2222)).range == 7...9)
    #expect(try database.add(service(0x3333)).range == 1...3)
    #expect(database.places.map(\.range) == [10...0xFFFE, 1...3, 4...6, 7...9])
    #expect(try database.add(service(0x4444)).range == 10...12)
  }

  @Test func whatCannotBeAServiceIsRefused() throws {
    var database = AttributeDatabase()
    let declaration = Attribute(handle: 5, type: 0x2800, source: .stored([0x34, 0x12]))
    #expect(throws: DatabaseError.invalidDeclaration) { try database.insert([], range: 5...5, owner: .local) }
    #expect(throws: DatabaseError.invalidHandles) { try database.insert([declaration], range: 4...5, owner: .local) }
    try database.insert([declaration], range: 5...9, owner: .local)
    #expect(throws: DatabaseError.invalidHandles) {
      try database.insert(
        [Attribute(handle: 9, type: 0x2800, source: .stored([0, 0x18]))], range: 9...9, owner: .local)
    }
    let value = Attribute(handle: 11, type: 0x2AF0, source: .stored([]))
    let start = Attribute(handle: 10, type: 0x2800, source: .stored([0, 0x18]))
    #expect(throws: DatabaseError.invalidDeclaration) {
      try database.insert([start, value], range: 10...11, owner: .local)
    }
    #expect(throws: DatabaseError.invalidHandles) {
      try database.insert([start, start], range: 10...11, owner: .local)
    }
    for uuid: BluetoothUUID in [0x2800, 0x2803] {
      #expect(throws: DatabaseError.invalidDeclaration) {
        try database.add(
          ServiceDefinition(
            uuid: 1, characteristics: [CharacteristicDefinition(uuid: uuid, properties: .read, value: .stored([]))]))
      }
    }
    #expect(throws: DatabaseError.valueTooLong) {
      try database.add(
        ServiceDefinition(
          uuid: 1,
          characteristics: [
            CharacteristicDefinition(uuid: 2, properties: .read, value: .stored([1, 2]), maximumLength: 1)
          ]))
    }
    #expect(database.services.count == 1)
  }

  @Test func genericServices() throws {
    var database = AttributeDatabase()
    let preferred = PreferredConnectionParameters(interval: 24...40, latency: 0, timeout: 400)
    let access = try database.add(
      .genericAccess(name: String(repeating: "ä", count: 200), appearance: 0x0340, preferredParameters: preferred))
    #expect(database.value(of: access.characteristics[0].valueHandle)?.count == 248)
    #expect(database.value(of: access.characteristics[1].valueHandle) == [0x40, 0x03])
    #expect(database.value(of: access.characteristics[2].valueHandle) == [24, 0, 40, 0, 0, 0, 0x90, 0x01])
    let attribute = try database.add(.genericAttribute(hasHash: false))
    #expect(attribute.characteristics.map(\.uuid) == [0x2A05, 0x2B29])
    #expect(attribute.characteristics[0].descriptors.contains { $0.uuid == 0x2902 })
  }

  /// The message of Core 5.4, Vol 3, Part G, Appendix B, is too long to repeat; this is its first service.
  @Test func hashMessage() throws {
    var database = AttributeDatabase()
    _ = try database.add(
      ServiceDefinition(
        uuid: 0x1800,
        characteristics: [
          CharacteristicDefinition(uuid: 0x2A00, properties: [.read, .write], value: .stored([])),
          CharacteristicDefinition(uuid: 0x2A01, properties: .read, value: .stored([])),
        ]))
    #expect(Hex.encode(database.hashMessage) == "0100002800180200032" + "80a0300002a04000328020500012a")
    #expect(database.hash() == nil)
  }

  @Test func tenThousandAttributes() throws {
    var database = AttributeDatabase()
    for index in 0..<2500 {
      _ = try database.add(
        ServiceDefinition(
          uuid: BluetoothUUID(UInt16(0x3000 + index)),
          characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: .notify, value: .stored([1]))]))
    }
    var pair = Pair(server: database, maximumMTU: 517)
    pair.start(.exchangeMTU)
    pair.start(.discoverServices(.primary))
    pair.start(.discoverCharacteristics(in: 1...0xFFFF))
    pair.start(.discoverDescriptors(in: 1...0xFFFF))
    pair.settle()
    guard case .success(.services(let services)) = pair.results[1],
      case .success(.characteristics(let found)) = pair.results[2],
      case .success(.descriptors(let descriptors)) = pair.results[3]
    else {
      Issue.record("discovery failed")
      return
    }
    #expect(services.count == 2500 && found.count == 2500 && descriptors.count == 10_000)
  }
}
