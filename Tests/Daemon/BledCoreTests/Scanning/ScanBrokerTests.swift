import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Scans as subscriptions: P8, P9, P10, P26.
@Suite struct ScanBrokerTests {
  private let world = World()
  private let belt = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
  private let beltData = Octets.flags + Octets.services(0x180D) + Octets.name("Belt")

  @Test("The adapter scans while a session wants it; start and stop can be repeated, and the end stops it (P8, P9)")
  func theAdapterScansWhileSomebodyWantsIt() throws {
    let first = world.client()
    let second = world.client()
    _ = try first.result(ScanStart.self, .init(active: false))
    _ = try second.result(ScanStart.self, .init())
    #expect(world.adapter.scans.map { $0?.isActive } == [false, true])
    _ = try second.result(ScanStop.self, .init())
    _ = try second.result(ScanStop.self, .init())
    first.die()
    #expect(world.adapter.scan == nil)
    #expect(world.adapter.scans.count == 4)
  }

  @Test("Each client has its own filter in the one scan (P9)")
  func eachClientHasItsFilter() throws {
    let byService = world.client()
    let bySolicitation = world.client()
    let byName = world.client()
    let byAddress = world.client()
    let byStrength = world.client()
    _ = try byService.result(ScanStart.self, .init(services: [0x180D]))
    _ = try bySolicitation.result(ScanStart.self, .init(services: [0x1809], solicitedServices: [0x180D]))
    _ = try byName.result(ScanStart.self, .init(name: "Be"))
    _ = try byAddress.result(ScanStart.self, .init(address: "c0:00:00:00:00:02"))
    _ = try byStrength.result(ScanStart.self, .init(rssi: -60))
    world.adapter.hear(belt, beltData, rssi: -70)
    world.adapter.hear(DeviceAddress(value: 0xC000_0000_0002, kind: .random), Octets.name("Lamp"), rssi: -50)
    // An advertisement that solicits 180D, and one that offers 1809.
    let seeker = DeviceAddress(value: 0xC000_0000_0003, kind: .random)
    world.adapter.hear(seeker, Octets.name("Seeker") + [3, 0x14, 0x0D, 0x18], rssi: -70)
    world.adapter.hear(seeker, Octets.name("Thermometer") + Octets.services(0x1809), rssi: -70)
    #expect(try byService.notifications(ScanReport.self).map(\.name) == ["Belt"])
    #expect(try bySolicitation.notifications(ScanReport.self).map(\.name) == ["Seeker", "Thermometer"])
    #expect(try byName.notifications(ScanReport.self).map(\.name) == ["Belt"])
    #expect(try byAddress.notifications(ScanReport.self).map(\.name) == ["Lamp"])
    #expect(try byStrength.notifications(ScanReport.self).map(\.name) == ["Lamp"])
  }

  @Test("An adapter that is added joins the scans that name none, and only those")
  func anAdapterThatIsAddedJoinsIn() throws {
    let everywhere = world.client()
    let here = world.client()
    _ = try everywhere.result(ScanStart.self, .init(active: false))
    _ = try here.result(ScanStart.self, .init(adapter: "hci0"))
    let later = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(later)
    #expect(later.scan == ScanParameters(isActive: false))
    later.hear(belt, beltData)
    #expect(try everywhere.notifications(ScanReport.self).map(\.adapter) == ["hci1"])
    #expect(try here.notifications(ScanReport.self).isEmpty)
    _ = try everywhere.result(ScanStop.self, .init())
    #expect(later.scan == nil)
  }

  @Test("P10: a report is a duplicate only if address and bytes are equal")
  func duplicates() throws {
    let once = world.client()
    let always = world.client()
    _ = try once.result(ScanStart.self, .init())
    _ = try always.result(ScanStart.self, .init(duplicates: true))
    for rssi in [-50, -51] { world.adapter.hear(belt, beltData, rssi: rssi) }
    world.adapter.hear(belt, Octets.name("Belt 2"))
    #expect(try once.notifications(ScanReport.self).map(\.name) == ["Belt", "Belt 2"])
    #expect(try always.notifications(ScanReport.self).map(\.rssi) == [-50, -51, -50])
  }

  @Test func whatIsAskedForIsBounded() throws {
    let client = world.client()
    let services = (0..<65).map { BluetoothUUID(UInt16($0)) }
    _ = try client.result(ScanStart.self, .init(services: Array(services.dropLast())))
    #expect(try client.error(ScanStart.self, .init(services: services))?.data?.name == "invalidParameter")
    let name = String(repeating: "n", count: 248)
    _ = try client.result(ScanStart.self, .init(name: name))
    #expect(try client.error(ScanStart.self, .init(name: name + "n"))?.data?.name == "invalidParameter")
  }

  @Test("G2: advertisement and scan response are one event")
  func merged() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(services: [0x180D]))
    world.adapter.hear(belt, Octets.services(0x180D), isScannable: true)
    #expect(try client.notifications(ScanReport.self).isEmpty)
    world.adapter.hear(belt, Octets.name("Belt"), isScanResponse: true)
    let reports = try client.notifications(ScanReport.self)
    #expect(reports.count == 1)
    #expect(reports.first?.name == "Belt")
    #expect(reports.first?.services == [0x180D])
    #expect(reports.first?.scanResponse?.octets == Octets.name("Belt"))
    world.settle()
    #expect(try client.notifications(ScanReport.self).count == 1)
  }

  @Test func emptyScanResponsesAreLeftOutAndTruncatedDataIsFlagged() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    world.adapter.hear(belt, beltData, isScannable: true, isTruncated: true)
    world.adapter.hear(belt, [], isScanResponse: true)
    world.adapter.hear(belt, beltData, isScannable: true)
    world.settle()
    let reports = try client.notifications(ScanReport.self)
    #expect(reports.map(\.truncated) == [true, nil])
    #expect(reports.map(\.scanResponse) == [nil, nil])
  }

  @Test("A scan response counts as long as the device can be asked for one, and not beyond the scan that got it")
  func scanResponsesOfOldAreForgotten() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    func hear(isScannable: Bool) throws -> HexBytes? {
      world.adapter.hear(belt, beltData, isScannable: isScannable)
      world.scheduler.advance(by: .milliseconds(30))
      return try client.notifications(ScanReport.self).last?.scanResponse
    }
    world.adapter.hear(belt, Octets.name("Answer"), isScanResponse: true)
    let answer = HexBytes(Octets.name("Answer"))
    #expect(try hear(isScannable: true) == answer)
    world.scheduler.advance(by: .seconds(60))
    #expect(try hear(isScannable: true) == answer, "this one was not answered")
    // A device may advertise in two ways in turns.
    #expect(try hear(isScannable: false) == answer)
    world.scheduler.advance(by: .seconds(4))
    #expect(try hear(isScannable: false) == nil, "it changed how it advertises")
    world.adapter.hear(belt, Octets.name("Answer"), isScanResponse: true)
    #expect(try hear(isScannable: true) == answer)
    _ = try client.result(ScanStop.self, .init())
    _ = try client.result(ScanStart.self, .init())
    #expect(try hear(isScannable: true) == nil, "it may say something else today")
  }

  @Test("A name that was heard stays until another one is, in passive scans as well")
  func namesStay() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    world.adapter.hear(belt, Octets.services(0x180D), isScannable: true)
    world.adapter.hear(belt, Octets.name("Heart Belt"), isScanResponse: true)
    _ = try client.result(ScanStop.self, .init())
    _ = try client.result(ScanStart.self, .init(active: false))
    func name(in data: [UInt8]) throws -> String? {
      world.adapter.hear(belt, data)
      return try client.notifications(ScanReport.self).last?.name
    }
    #expect(try name(in: Octets.services(0x180F)) == "Heart Belt")
    // Shortened, it is no other name.
    #expect(try name(in: [6, 0x08] + Array("Heart".utf8)) == "Heart Belt")
    #expect(try name(in: [6, 0x08] + Array("Heard".utf8)) == "Heard")
    world.scheduler.advance(by: .seconds(90))
    let known = try client.result(PeripheralList.self, Empty()).peripherals
    #expect(known.map(\.name) == ["Heard"] && known.map(\.sinceReport) == [90])
    _ = try client.result(ScanStart.self, .init(name: "Hea", active: false))
    #expect(try name(in: Octets.services(0x1810)) == "Heard", "filters know it as well")
  }

  @Test func aScannableDeviceThatDoesNotAnswerIsReportedAllTheSame() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    world.adapter.hear(belt, beltData, isScannable: true)
    world.scheduler.advance(by: .milliseconds(29))
    #expect(try client.notifications(ScanReport.self).isEmpty)
    world.scheduler.advance(by: .milliseconds(1))
    #expect(try client.notifications(ScanReport.self).count == 1)
  }

  @Test("With duplicates there is one report an advertising event, with the data of both packets")
  func oneReportAnEvent() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    for rssi in [-50, -51, -52] {
      world.adapter.hear(belt, beltData, isScannable: true, rssi: rssi)
      world.adapter.hear(belt, Octets.name("Answer"), isScanResponse: true, rssi: rssi)
      world.scheduler.advance(by: .milliseconds(200))
    }
    let reports = try client.notifications(ScanReport.self)
    #expect(reports.map(\.rssi) == [-50, -51, -52])
    #expect(reports.allSatisfy { $0.scanResponse?.octets == Octets.name("Answer") && $0.data.octets == beltData })
  }

  @Test("The event before is told as it was, when the next advertisement comes before its scan response")
  func eventsWithoutScanResponse() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    world.adapter.hear(belt, Octets.name("One"), isScannable: true, rssi: -50)
    world.scheduler.advance(by: .milliseconds(20))
    world.adapter.hear(belt, Octets.name("Two"), isScannable: true, rssi: -60)
    #expect(try client.notifications(ScanReport.self).map(\.name) == ["One"])
    world.scheduler.advance(by: .milliseconds(30))
    #expect(try client.notifications(ScanReport.self).map(\.name) == ["One", "Two"])
    // A late one.
    world.adapter.hear(belt, Octets.services(0x180D), isScanResponse: true)
    #expect(try client.notifications(ScanReport.self).map(\.services) == [nil, nil, [0x180D]])
  }

  @Test("A passive scan waits for nothing, and a report says when its advertisement came")
  func passive() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(active: false))
    world.adapter.hear(belt, beltData, isScannable: true)
    #expect(try client.notifications(ScanReport.self).count == 1)
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    let before = world.scheduler.secondsSinceEpoch
    world.adapter.hear(belt, beltData, isScannable: true)
    world.scheduler.advance(by: .seconds(1))
    #expect(try client.notifications(ScanReport.self).last?.time == before)
  }

  @Test func howAnAdvertisementWasSentIsReported() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    var report = AdvertisingReport(
      address: belt, isScannable: false, isDirected: true, primaryPHY: .leCoded, secondaryPHY: .le2M, sid: 9,
      txPower: -7, rssi: -60, data: beltData, time: world.scheduler.now)
    world.adapter.hear(report)
    // The data takes precedence over the header, and changes are reported.
    (report.data, report.sid) = (beltData + [2, 0x0A, 4], 3)
    world.adapter.hear(report)
    (report.isDirected, report.primaryPHY, report.secondaryPHY, report.sid) = (false, nil, nil, nil)
    (report.data, report.txPower, report.isConnectable) = (beltData, nil, false)
    world.adapter.hear(report)
    let reports = try client.notifications(ScanReport.self)
    #expect(reports.map(\.directed) == [true, true, nil])
    #expect(reports.map(\.primaryPHY) == ["coded", "coded", nil])
    #expect(reports.map(\.secondaryPHY) == ["2M", "2M", nil])
    #expect(reports.map(\.sid) == [9, 3, nil])
    #expect(reports.map(\.txPower) == [-7, 4, nil])
    #expect(reports.map(\.connectable) == [true, true, false])
  }

  @Test("Anonymous advertisements go to scans that ask for them, through their filters, once unless all are wanted")
  func anonymous() throws {
    let clients = [
      ScanStart.Params(), .init(anonymous: true), .init(duplicates: true, anonymous: true),
      .init(services: [0x180F], anonymous: true), .init(services: [0x180D], anonymous: true),
      .init(address: "C0:00:00:00:00:01", anonymous: true), .init(rssi: -50, anonymous: true),
    ].map { params in
      let client = world.client()
      #expect(throws: Never.self) { try client.result(ScanStart.self, params) }
      return client
    }
    let report = AdvertisingReport(
      address: nil, isConnectable: false, isScannable: false, primaryPHY: .le1M, secondaryPHY: .le2M, sid: 1,
      rssi: -60, data: Octets.services(0x180D) + Octets.name("Nobody"), time: world.scheduler.now)
    for _ in 0..<2 { world.adapter.hear(report) }
    let heard = try clients.map { try $0.notifications(ScanAnonymousReport.self) }
    #expect(heard.map(\.count) == [0, 1, 2, 0, 1, 0, 0])
    let first = try #require(heard[1].first)
    #expect((first.name, first.sid, first.primaryPHY, first.secondaryPHY) == ("Nobody", 1, "1M", "2M"))
    #expect(first.services == [0x180D] && first.data.octets == report.data && first.adapter == "hci0")
    for client in clients { #expect(try client.notifications(ScanReport.self).isEmpty) }
    #expect(try clients[0].result(PeripheralList.self, Empty()).peripherals.isEmpty)
  }

  @Test("Rule 7: one event, one encoding")
  func sharedEncoding() throws {
    let clients = [world.client(), world.client()]
    for client in clients { _ = try client.result(ScanStart.self, .init()) }
    for client in clients { client.forget() }
    world.adapter.hear(belt, beltData)
    for client in clients { client.drain() }
    #expect(clients[0].lines == clients[1].lines)
    #expect(clients[0].lines.count == 1)
  }

  @Test("P24: a scan survives an adapter that comes and goes; without any it is refused with the remedy")
  func adapterAway() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    world.adapter.change(to: .absent)
    let error = try world.client().error(ScanStart.self, .init())
    #expect(error?.data?.name == "adapterAbsent")
    world.adapter.change(to: .on)
    world.adapter.hear(belt, beltData)
    #expect(try client.notifications(ScanReport.self).count == 1)
    #expect(try client.notifications(AdapterChanged.self).map(\.state) == ["absent", "on"])
  }

  @Test("P26: the table of devices is bounded")
  func boundedDirectory() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init())
    let capacity = world.daemon.directory.limits.peripherals
    for number in 0..<(capacity + 100) {
      world.scheduler.advance(by: .milliseconds(1))
      world.adapter.hear(DeviceAddress(value: UInt64(number), kind: .random), Octets.name("N"))
      client.drain()
    }
    let list = try client.result(PeripheralList.self, Empty()).peripherals
    #expect(list.count <= capacity)
    #expect(world.daemon.directory.counters.forgotten >= 100)
    #expect(list.first?.address == "\(DeviceAddress(value: UInt64(capacity + 99), kind: .random))")
  }

  @Test("Rule 6: reports to a client that does not read are coalesced, then dropped and counted; others do not notice")
  func clientThatDoesNotRead() throws {
    let lazy = world.client()
    let eager = world.client()
    for client in [lazy, eager] { _ = try client.result(ScanStart.self, .init(duplicates: true)) }
    lazy.reads = false
    var heard = 0
    for round in 0..<40 {
      for device in 0..<100 {
        world.adapter.hear(DeviceAddress(value: UInt64(device), kind: .random), Octets.name("\(round)"))
        heard += 1
      }
      eager.drain()
    }
    #expect(try eager.notifications(ScanReport.self).count == heard)
    let outbox = try #require(lazy.session?.outbox)
    #expect(outbox.waiting <= Outbox.Limits().reports)
    #expect(outbox.coalescedReports > 0)
  }
}

/// Advertising data structures by hand.
enum Octets {
  static let flags: [UInt8] = [2, 0x01, 0x06]
  static func services(_ uuid: UInt16) -> [UInt8] { [3, 0x03, UInt8(uuid & 0xFF), UInt8(uuid >> 8)] }
  static func name(_ text: String) -> [UInt8] { [UInt8(text.utf8.count + 1), 0x09] + Array(text.utf8) }
}
