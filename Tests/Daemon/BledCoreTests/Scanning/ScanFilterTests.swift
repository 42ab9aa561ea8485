import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// The filters of `scan.start`, which are applied before a report is made.
@Suite struct ScanFilterTests {
  private let world = World()

  /// A device with its own address for each kind, and its advertisement.
  private struct Device {
    var address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    var isConnectable = true
    var data: [UInt8]
    var scanResponse: [UInt8]?
  }

  private static func structure(_ type: UInt8, _ data: [UInt8]) -> [UInt8] { [UInt8(data.count + 1), type] + data }

  private static let beacon = structure(0xFF, [0x4C, 0x00, 0x02, 0x15, 0xAA, 0xBB])
  private static let eddystone = structure(0x16, [0xAA, 0xFE, 0x10, 0xEB])
  /// The UUID in its longest form.
  private static let longEddystone = structure(
    0x21, [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xAA, 0xFE, 0, 0, 0x10])

  /// True if a scan with these filters reports the device.
  private func hears(_ device: Device, _ filters: [ScanStart.Filter], services: [BluetoothUUID]? = nil) throws -> Bool {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(services: services, filters: filters))
    world.adapter.hear(
      AdvertisingReport(
        address: device.address, isConnectable: device.isConnectable, isScannable: device.scanResponse != nil,
        rssi: -50, data: device.data, time: world.scheduler.now))
    if let scanResponse = device.scanResponse { world.adapter.hear(device.address, scanResponse, isScanResponse: true) }
    let count = try client.notifications(ScanReport.self).count
    client.die()
    return count == 1
  }

  @Test("Manufacturer: the company, the beginning of its data, and only the bits of the mask")
  func manufacturer() throws {
    let device = Device(data: Self.structure(0xFF, [0x59, 0x00, 1]) + Self.beacon)
    func matches(_ company: UInt16, _ data: [UInt8]? = nil, mask: [UInt8]? = nil) throws -> Bool {
      try hears(
        device,
        [.init(manufacturer: .init(company: company, data: data.map(HexBytes.init), mask: mask.map(HexBytes.init)))])
    }
    #expect(try matches(0x004C) && matches(0x0059))
    #expect(try !matches(0x4C00))
    #expect(try matches(0x004C, [0x02, 0x15, 0xAA, 0xBB]))
    #expect(try !matches(0x004C, [0x02, 0x15, 0xAA, 0xBB, 0x00]), "longer than what is advertised")
    #expect(try !matches(0x0059, [0x02, 0x15]), "the data of the other company")
    #expect(try !matches(0x004C, [0x02, 0x15, 0xAF]))
    #expect(try matches(0x004C, [0x02, 0x15, 0xAF], mask: [0xFF, 0x00, 0xF0]))
  }

  @Test("Service data: UUIDs of each width")
  func serviceData() throws {
    for data in [Self.eddystone, Self.longEddystone] {
      #expect(try hears(Device(data: data), [.init(serviceData: .init(uuid: 0xFEAA))]))
      #expect(try hears(Device(data: data), [.init(serviceData: .init(uuid: 0xFEAA, data: HexBytes([0x10])))]))
      #expect(try !hears(Device(data: data), [.init(serviceData: .init(uuid: 0xFEAA, data: HexBytes([0x20])))]))
      let masked = ScanStart.ServiceData(uuid: 0xFEAA, data: HexBytes([0x1F]), mask: HexBytes([0xF0]))
      #expect(try hears(Device(data: data), [.init(serviceData: masked)]))
      #expect(try !hears(Device(data: data), [.init(serviceData: .init(uuid: 0xFEAB))]))
    }
    // Too short for its UUID.
    #expect(try !hears(Device(data: [2, 0x16, 0xAA]), [.init(serviceData: .init(uuid: 0xFEAA))]))
  }

  @Test("A pattern lies at its offset in one structure of its type")
  func pattern() throws {
    func matches(_ type: Int, _ offset: Int?, _ data: [UInt8]) throws -> Bool {
      try hears(
        Device(data: Octets.flags + Self.beacon),
        [.init(pattern: .init(type: type, offset: offset, data: HexBytes(data)))])
    }
    #expect(try matches(0xFF, 2, [0x02, 0x15]) && matches(0xFF, nil, [0x4C]) && matches(0x01, 0, [0x06]))
    #expect(try matches(0xFF, 5, [0xBB]))
    #expect(try !matches(0xFF, 5, [0xBB, 0x00]) && !matches(0xFF, 6, [0x00]) && !matches(0xFF, 250, [0x00]))
    #expect(try !matches(0xFF, 1, [0x02, 0x15]) && !matches(0x16, 2, [0x02, 0x15]))
  }

  @Test("A name is a prefix or whole, with its case or without")
  func name() throws {
    func matches(_ name: String, whole: Bool = false, ignoresCase: Bool = false) throws -> Bool {
      try hears(
        Device(data: Octets.name("Größe ÉA")), [.init(name: name, wholeName: whole, ignoreCase: ignoresCase)])
    }
    // Later its name is remembered.
    #expect(try !hears(Device(data: Octets.flags), [.init(name: "")]), "a device without a name")
    #expect(try matches("Größe") && !matches("größe") && matches("Größe ÉA", whole: true))
    #expect(try !matches("Größe É", whole: true) && !matches("Größe ÉAB", whole: true))
    #expect(try matches("grÖSSE".replacing("SS", with: "ß"), ignoresCase: true))
    #expect(try matches("GRÖßE éa", whole: true, ignoresCase: true))
    #expect(try !matches("GRÖSSE", ignoresCase: true), "compared scalar by scalar")
    #expect(try !matches("größe é", whole: true, ignoresCase: true) && matches("größe é", ignoresCase: true))
    #expect(try !matches("größe éab", ignoresCase: true))
    #expect(try !matches("Gro\u{308}ße"), "the same characters, other octets")
  }

  @Test("The lower case of a letter can be two scalars; a prefix may end between them")
  func lowerCase() {
    #expect(NamePattern("i", ignoresCase: true).matches("\u{130}x"))
    #expect(!NamePattern("i", isWhole: true, ignoresCase: true).matches("\u{130}"))
    #expect(NamePattern("\u{130}", isWhole: true, ignoresCase: true).matches("i\u{307}"))
    #expect(NamePattern("", ignoresCase: true).matches("x") && !NamePattern("", isWhole: true).matches("x"))
  }

  @Test("The kind of an address is what its type and its top bits say")
  func addressKinds() throws {
    let addresses: [ScanStart.AddressKind: DeviceAddress] = [
      .public: DeviceAddress(value: 0xC000_0000_0001, kind: .public),
      .randomStatic: DeviceAddress(value: 0xC000_0000_0001, kind: .random),
      .resolvable: DeviceAddress(value: 0x4000_0000_0001, kind: .random),
      .nonResolvable: DeviceAddress(value: 0x0000_0000_0001, kind: .random),
    ]
    for (kind, address) in addresses {
      let device = Device(address: address, data: Octets.flags)
      for other in ScanStart.AddressKind.allCases {
        #expect(try hears(device, [.init(addressKinds: [Word(other)])]) == (other == kind), "\(address) as \(other)")
      }
      #expect(try hears(device, [.init(addressKinds: [Word(kind), "public"])]))
    }
    // 10 is reserved.
    let reserved = Device(address: DeviceAddress(value: 0x8000_0000_0001, kind: .random), data: Octets.flags)
    #expect(try !hears(reserved, [.init(addressKinds: ScanStart.AddressKind.allCases.words())]))
  }

  @Test func connectableOnly() throws {
    #expect(try hears(Device(data: Octets.flags), [.init(connectable: true)]))
    #expect(try !hears(Device(isConnectable: false, data: Octets.flags), [.init(connectable: true)]))
  }

  @Test("The members of a filter are combined with and, filters with or, and all of them with the rest of the scan")
  func combined() throws {
    let filters: [ScanStart.Filter] = [
      .init(name: "Bea", manufacturer: .init(company: 0x004C)), .init(serviceData: .init(uuid: 0xFEAA)),
      .init(services: [0x180F, 0x180D]),
    ]
    #expect(try !hears(Device(data: Self.beacon), filters))
    #expect(try hears(Device(data: Self.beacon + Octets.name("Beacon")), filters))
    #expect(try hears(Device(data: Self.beacon, scanResponse: Octets.name("Beacon")), filters), "in the scan response")
    #expect(try hears(Device(data: Self.eddystone), filters))
    #expect(try hears(Device(data: Octets.services(0x180D)), filters))
    #expect(try !hears(Device(data: Octets.name("Beacon")), filters))
    #expect(try !hears(Device(data: Self.eddystone), filters, services: [0x180F]))
    #expect(try hears(Device(data: Self.eddystone + Octets.services(0x180F)), filters, services: [0x180F]))
  }

  @Test("Anonymous advertisements pass the same filters; they have no address of any kind")
  func anonymous() throws {
    func counts(_ filter: ScanStart.Filter) throws -> Int {
      let client = world.client()
      defer { client.die() }
      _ = try client.result(ScanStart.self, .init(anonymous: true, filters: [filter]))
      world.adapter.hear(
        AdvertisingReport(
          address: nil, isConnectable: false, isScannable: false, rssi: -60, data: Self.beacon,
          time: world.scheduler.now))
      return try client.notifications(ScanAnonymousReport.self).count
    }
    #expect(try counts(.init(manufacturer: .init(company: 0x004C))) == 1)
    #expect(try counts(.init(manufacturer: .init(company: 0x004D))) == 0)
    #expect(try counts(.init(addressKinds: ScanStart.AddressKind.allCases.words())) == 0)
  }

  @Test("What cannot be meant is refused, with the place and the remedy")
  func refusals() throws {
    let client = world.client()
    let octets = { (count: Int) in HexBytes([UInt8](repeating: 1, count: count)) }
    let refused: [(ScanStart.Params, String)] = [
      (.init(filters: []), "\"filters\" has 0 elements: give 1 to 16"),
      (.init(filters: Array(repeating: .init(connectable: true), count: 17)), "give 1 to 16"),
      (.init(filters: [.init(connectable: true), .init()]), "\"filters[1]\" lets everything through"),
      (.init(filters: [.init(connectable: false)]), "lets everything through"),
      (.init(filters: [.init(services: [])]), "\"filters[0].services\" has 0 elements: give 1 to 16"),
      (.init(filters: [.init(services: Array(repeating: 0x180D, count: 17))]), "give 1 to 16"),
      (.init(filters: [.init(addressKinds: [])]), "\"filters[0].addressKinds\" has 0 elements: give 1 to 4"),
      (.init(filters: [.init(wholeName: true)]), "add \"name\""),
      (.init(filters: [.init(name: String(repeating: "n", count: 249))]), "at most 248 octets"),
      (.init(filters: [.init(manufacturer: .init(company: 1, data: octets(65)))]), "at most the first 64"),
      (.init(filters: [.init(manufacturer: .init(company: 1, mask: octets(1)))]), "give both the same length"),
      (
        .init(filters: [.init(serviceData: .init(uuid: 1, data: octets(2), mask: octets(3)))]),
        "\"filters[0].serviceData.mask\" has 3 octets"
      ),
      (.init(filters: [.init(pattern: .init(type: 256, data: octets(1)))]), "0 to 255"),
      (.init(filters: [.init(pattern: .init(type: -1, data: octets(1)))]), "0 to 255"),
      (.init(filters: [.init(pattern: .init(type: 1, data: octets(0)))]), "give 1 to 64 octets"),
      (
        .init(filters: [.init(pattern: .init(type: 1, offset: 254, data: octets(1)))]), "must be 0 to 253 with 1 octets"
      ),
      (.init(filters: [.init(pattern: .init(type: 1, offset: -1, data: octets(1)))]), "must be 0 to 253"),
    ]
    for (params, words) in refused {
      let error = try #require(try client.error(ScanStart.self, params), "\(params) was not refused")
      #expect(error.data?.name == "invalidParameter" && error.message.contains(words), "\(error.message)")
    }
    #expect(world.adapter.scans.isEmpty)
    for params in [
      ScanStart.Params(filters: [.init(pattern: .init(type: 255, offset: 253, data: octets(1)))]),
      .init(filters: [.init(manufacturer: .init(company: 65535, data: octets(64), mask: octets(64)))]),
      .init(filters: Array(repeating: .init(services: Array(repeating: 0x180D, count: 16)), count: 16)),
    ] {
      _ = try client.result(ScanStart.self, params)
    }
    client.send(
      #"{"jsonrpc":"2.0","id":"k","method":"scan.start","params":{"filters":[{"addressKinds":["static"]}]}}"#)
    client.drain()
    guard case .failure(_, let error)? = client.messages.last?.kind else { return #expect(Bool(false)) }
    #expect(
      error.message == #""filters[0].addressKinds": "static" is not one of "public", "randomStatic", "#
        + #""resolvable", "nonResolvable""#)
  }

  @Test("The longest filters of 50 sessions fit into one answer of session.list")
  func longestList() throws {
    let name = String(repeating: "\u{1}", count: 248)
    let octets = HexBytes([UInt8](repeating: 255, count: 64))
    let filter = ScanStart.Filter(
      services: Array(repeating: BluetoothUUID(high: 1, low: 2), count: 16), name: name, wholeName: true,
      ignoreCase: true, manufacturer: .init(company: 65535, data: octets, mask: octets),
      serviceData: .init(uuid: BluetoothUUID(high: 1, low: 2), data: octets, mask: octets),
      pattern: .init(type: 255, offset: 190, data: octets), addressKinds: ScanStart.AddressKind.allCases.words(),
      connectable: true)
    let clients = (0..<50).map { _ in world.client() }
    for client in clients {
      _ = try client.result(ScanStart.self, .init(filters: Array(repeating: filter, count: 16)))
    }
    #expect(try clients[0].result(SessionList.self, .init()).sessions.count == 50)
    #expect(!clients[0].isClosed)
  }
}
