import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import TestSupport
import Testing

@testable import BledCore

/// `decoded` in reports: the sessions that get it, and encrypted data with keys.
@Suite struct ScanDecodingTests {
  private let log = LogLines()
  private let world: World
  private let address = DeviceAddress(value: 0x5448_E68F_80A5, kind: .public)
  private let other = DeviceAddress(value: 0x5448_E68F_80A6, kind: .public)
  private let key = "231d39c1d7cc1ab1aee224cd096db932"
  /// A temperature of 25.06 °C, plain, and with a humidity of 50.55 %, encrypted.
  private let plain = Octets.flags + [0x07, 0x16, 0xD2, 0xFC, 0x40, 0x02, 0xCA, 0x09]
  private let sealed: [UInt8]

  init() {
    world = World(log: log)
    let data = Hex.decode("41a47266c95f730011223378237214") ?? []
    sealed = Octets.flags + [UInt8(data.count + 3), 0x16, 0xD2, 0xFC] + data
  }

  private func keys(_ hex: String, of address: String = "54:48:e6:8f:80:a5") throws -> [ScanStart.Key] {
    [.init(address: address, key: HexBytes(try #require(Hex.decode(hex))))]
  }

  private func isDecoded(_ address: DeviceAddress) throws -> Bool {
    let device = try #require(world.daemon.directory.known(at: address))
    return world.daemon.scans.reports.decoded(device) != nil
  }

  private func decoded(_ client: TestClient) throws -> [DecodedData] {
    try client.notifications(ScanReport.self).flatMap { $0.decoded ?? [] }
  }

  @Test("Only scans that ask get it, and what says nothing has none")
  func onlyWhoAsks() throws {
    let asking = world.client()
    let second = world.client()
    let silent = world.client()
    _ = try asking.result(ScanStart.self, .init(duplicates: true, decode: true))
    _ = try second.result(ScanStart.self, .init(decode: true))
    _ = try silent.result(ScanStart.self, .init())
    for _ in 0..<2 { world.adapter.hear(address, plain) }
    world.adapter.hear(other, Octets.name("Lamp"))
    #expect(try decoded(asking).map { $0["temperature"] } == [.number(25.06), .number(25.06)])
    #expect(try decoded(asking).map(\.kind) == ["bthome", "bthome"])
    #expect(try decoded(second).count == 1)
    #expect(try silent.notifications(ScanReport.self).map(\.decoded) == [nil, nil])
    #expect(try asking.notifications(ScanReport.self).map { $0.decoded == nil } == [false, false, true])
    #expect(try isDecoded(address))
  }

  @Test("Nothing is decoded for scans that do not ask")
  func lazily() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    world.adapter.hear(address, plain)
    #expect(try client.notifications(ScanReport.self).count == 1)
    #expect(try !isDecoded(address))
  }

  @Test("Data that changes is decoded again")
  func changes() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(decode: true))
    world.adapter.hear(address, plain)
    var warmer = plain
    warmer[warmer.count - 2] = 0xCF
    world.adapter.hear(address, warmer)
    #expect(try decoded(client).map { $0["temperature"] } == [.number(25.06), .number(25.11)])
  }

  @Test("A key opens what its device sends, for its own scan only")
  func keysOpen() throws {
    let owner = world.client()
    let guest = world.client()
    let wrong = world.client()
    _ = try owner.result(ScanStart.self, .init(decode: true, keys: try keys(key)))
    _ = try guest.result(ScanStart.self, .init(decode: true))
    _ = try wrong.result(
      ScanStart.self, .init(decode: true, keys: try keys("00000000000000000000000000000000")))
    world.adapter.hear(address, sealed)
    // The same octets from another device: neither its key nor its nonce.
    world.adapter.hear(other, sealed)
    let own = try decoded(owner)
    #expect(own.map { $0["temperature"] } == [.number(25.06), nil])
    #expect(own.map { $0["humidity"] } == [.number(50.55), nil])
    #expect(own.map { $0["key"] } == [nil, .text("missing")])
    #expect(own.map { $0["encrypted"] } == [.flag(true), .flag(true)])
    #expect(own.first?["counter"] == .integer(0x3322_1100))
    #expect(try decoded(guest).map { $0["key"] } == [.text("missing"), .text("missing")])
    #expect(try decoded(guest).map { $0["temperature"] } == [nil, nil])
    #expect(try decoded(wrong).map { $0["key"] } == [.text("wrong"), .text("missing")])
  }

  @Test("The key of a MiBeacon device opens what it sends; other keys do not")
  func miBeacon() throws {
    let data = try #require(Hex.decode("58585b0550f4830238c1a495ef58763c26000097e2abb5"))
    let packet = [UInt8(data.count + 3), 0x16, 0x95, 0xFE] + data
    let device = DeviceAddress(value: 0xA4C1_3802_83F4, kind: .public)
    let (owner, wrong) = (world.client(), world.client())
    let name = "A4:C1:38:02:83:F4"
    _ = try owner.result(
      ScanStart.self, .init(decode: true, keys: try keys("e9ea895fac7cca6d30532432a516f3a8", of: name)))
    _ = try wrong.result(ScanStart.self, .init(decode: true, keys: try keys(key, of: name)))
    world.adapter.hear(device, packet)
    #expect(try decoded(owner).map { $0["humidity"] } == [.number(46.7)])
    #expect(try decoded(owner).map { $0["key"] } == [nil])
    #expect(try decoded(wrong).map { $0["key"] } == [.text("wrong")])
    #expect(try decoded(wrong).map { $0["humidity"] } == [nil])
  }

  @Test("Keys are not shown in lists of sessions, and not logged; errors do not quote them")
  func keysAreSecret() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(decode: true, keys: try keys(key)))
    let listed = try client.result(SessionList.self, .init()).sessions
    #expect(listed.map { $0.scan?.decode } == [true])
    #expect(listed.map { $0.scan?.keys == nil } == [true])
    let error = try client.error(ScanStart.self, .init(decode: true, keys: try keys(String(key.dropLast(2)))))
    #expect(error?.data?.name == "invalidParameter")
    #expect(error?.message.contains("has 15 octets") == true && error?.message.contains("32 hex digits") == true)
    #expect(error?.message.contains("54:48:E6:8F:80:A5") == true && error?.message.contains("231d") == false)
    #expect(!log.all.contains { $0.contains("231d") })
  }

  @Test("Keys that cannot be ones get an error that says what would do")
  func badKeys() throws {
    let client = world.client()
    func message(_ params: ScanStart.Params) throws -> String? { try client.error(ScanStart.self, params)?.message }
    #expect(try message(.init(keys: try keys(key)))?.contains("\"decode\": true") == true)
    #expect(try message(.init(decode: false, keys: try keys(key)))?.contains("\"decode\": true") == true)
    #expect(
      try message(.init(decode: true, keys: try keys(key, of: "54-48")))?.contains("six pairs of hex digits") == true)
    let many = (0..<65 as Range<UInt64>).map {
      ScanStart.Key(
        address: "\(DeviceAddress(value: $0, kind: .public))", key: HexBytes(Array(repeating: 1, count: 16)))
    }
    #expect(try message(.init(decode: true, keys: many))?.contains("at most 64") == true)
    _ = try client.result(ScanStart.self, .init(decode: true, keys: Array(many.dropLast())))
  }

  @Test("Anonymous advertisements are decoded, too")
  func anonymous() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(anonymous: true, decode: true))
    let silent = world.client()
    _ = try silent.result(ScanStart.self, .init(anonymous: true))
    world.adapter.hear(
      AdvertisingReport(
        address: nil, isConnectable: false, isScannable: false, sid: 1, rssi: -50, data: plain,
        time: world.scheduler.now))
    #expect(
      try client.notifications(ScanAnonymousReport.self).map { $0.decoded?.first?["temperature"] } == [.number(25.06)])
    #expect(try silent.notifications(ScanAnonymousReport.self).map { $0.decoded == nil } == [true])
  }
}
