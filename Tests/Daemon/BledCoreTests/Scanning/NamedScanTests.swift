import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Scans for the presence of devices: `presence`, `scan.found` and `scan.lost`.
@Suite struct NamedScanTests {
  private let world = World()
  private let belt = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
  private let lamp = DeviceAddress(value: 0x0000_0000_0002, kind: .public)
  private let beltData = Octets.flags + Octets.name("Belt")

  private func params(_ addresses: DeviceAddress..., rssi: Int? = nil, lost: Double = 10, scan: Int? = nil)
    -> ScanStart.Params
  {
    .init(addresses: addresses.map { "\($0)" }, presence: true, rssi: rssi, lost: lost, scan: scan)
  }

  private func events(_ client: TestClient) throws -> [String] {
    let found = try client.notifications(ScanFound.self).map { ($0.time, "found \($0.address)") }
    let lost = try client.notifications(ScanLost.self).map { ($0.lastHeard + 0.5, "lost") }
    return (found + lost).sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func watches(_ isOn: Bool) { world.adapter.onEvent?(.watching(isOn)) }

  @Test("One event of a device that comes, however many packets it sends, and one when it goes")
  func reports() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, params(belt))
    #expect(world.adapter.scan?.isActive == false)
    for _ in 0..<100 {
      world.adapter.hear(belt, beltData, rssi: -57)
      world.adapter.hear(lamp, Octets.name("Lamp"))
      world.settle()
    }
    let found = try client.notifications(ScanFound.self)
    #expect(found.map(\.name) == ["Belt"] && found.map(\.rssi) == [-57] && found.map(\.adapter) == ["hci0"])
    #expect(found.map(\.addressType) == ["random"])
    #expect(try client.notifications(ScanReport.self).isEmpty && client.notifications(ScanLost.self).isEmpty)
    world.scheduler.advance(by: .seconds(10))
    let lost = try client.notifications(ScanLost.self)
    #expect(lost.map(\.peripheral) == found.map(\.peripheral))
    world.adapter.hear(belt, beltData)
    #expect(try events(client) == ["found \(belt)", "lost", "found \(belt)"])
  }

  @Test("The controller may watch for devices of known and unknown types of address")
  func watched() throws {
    let client = world.client()
    world.adapter.hear(belt, beltData)
    _ = try client.result(ScanStart.self, params(belt, lamp, lost: 9.1))
    let both = [lamp, DeviceAddress(value: lamp.value, kind: .random)]
    #expect(world.adapter.scan?.watched?.timeouts == [belt: 10, both[0]: 10, both[1]: 10])
    watches(true)
    world.adapter.hear(belt, beltData)
    world.scheduler.advance(by: .seconds(1000))
    #expect(try events(client) == ["found \(belt)"])
    world.adapter.onEvent?(.presence(belt, false))
    world.adapter.onEvent?(.presence(both[1], false))
    #expect(try events(client) == ["found \(belt)", "lost"])
    world.scheduler.advance(by: .seconds(10))
    world.adapter.onEvent?(.presence(lamp, true))
    #expect(try events(client).suffix(1) == ["found \(lamp)"])
    #expect(try client.notifications(ScanFound.self).last?.rssi == nil)
    // The controller was removed: it monitors nothing.
    world.adapter.change(to: .absent)
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.notifications(ScanLost.self).count == 2)
  }

  @Test("Another scan, another condition or another time for a device needs the reports")
  func needsReports() throws {
    let client = world.client()
    let other = world.client()
    func isWatched() -> Bool { world.adapter.scan?.watched != nil }
    _ = try client.result(ScanStart.self, params(belt))
    #expect(isWatched())
    for params in [
      ScanStart.Params(), params(belt, lost: 5), params(lamp, rssi: -70), params(lamp, lost: 256),
      .init(name: "Lamp", addresses: ["\(lamp)"], presence: true, lost: 10),
    ] {
      _ = try other.result(ScanStart.self, params)
      #expect(!isWatched(), "\(params)")
    }
    // The later number makes the controller report the present devices again.
    let first = try #require(world.adapter.scans.first??.watched)
    _ = try other.result(ScanStart.self, params(belt))
    let second = try #require(world.adapter.scan?.watched)
    #expect(second.timeouts == first.timeouts && second.number > first.number)
    _ = try other.result(ScanStart.self, params(lamp, lost: 5))
    #expect(world.adapter.scan?.watched?.timeouts.count == 4)
    // A second adapter could hear them as well.
    let later = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(later)
    #expect(!isWatched() && later.scan?.watched == nil && later.scan != nil)
    _ = try other.result(ScanStop.self, .init())
    var here = params(belt)
    here.adapter = "hci0"
    _ = try client.result(ScanStart.self, here)
    #expect(isWatched() && later.scan == nil)
  }

  @Test("What comes before the controller watches, or after it does, is told as ever")
  func changing() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, params(belt))
    world.adapter.hear(belt, beltData)
    watches(true)
    // Not reported again: it was lost meanwhile.
    world.scheduler.advance(by: .seconds(10))
    #expect(try events(client) == ["found \(belt)", "lost"])
    world.adapter.hear(belt, beltData)
    world.scheduler.advance(by: .seconds(100))
    watches(false)
    world.scheduler.advance(by: .seconds(9))
    world.adapter.hear(belt, beltData)
    #expect(try events(client).count == 3)
    world.scheduler.advance(by: .seconds(10))
    #expect(try events(client).count == 4)
  }

  @Test("A scan that was suspended makes the controller report anew, also beside an equal one")
  func resumed() throws {
    func program() throws -> TestClient {
      let client = world.client()
      _ = try client.result(SessionOpen.self, .init(restore: "gateway"))
      return client
    }
    let gateway = try program()
    _ = try gateway.result(ScanStart.self, params(belt))
    let other = world.client()
    _ = try other.result(ScanStart.self, params(belt))
    let before = try #require(world.adapter.scan?.watched)
    gateway.die()
    _ = try program()
    let after = try #require(world.adapter.scan?.watched)
    #expect(after.timeouts == before.timeouts && after.number > before.number)
    _ = try other.result(ScanStop.self, .init())
  }

  @Test("A device is watched for under the address under which it was heard, and one that was not heard under either")
  func typeOfAddress() throws {
    let client = world.client()
    let other = DeviceAddress(value: lamp.value, kind: .random)
    _ = try client.call(PeripheralConnect.self, .init(address: "\(lamp)", addressType: "public"))
    _ = try client.result(ScanStart.self, params(lamp))
    #expect(world.adapter.scan?.watched?.timeouts == [lamp: 10, other: 10])
    world.adapter.hear(lamp, beltData)
    _ = try client.result(ScanStart.self, params(lamp))
    #expect(world.adapter.scan?.watched?.timeouts == [lamp: 10])
    watches(true)
    world.adapter.hear(other, beltData)
    #expect(world.adapter.scan?.watched?.timeouts == [lamp: 10, other: 10])
    // The controller reports nothing before the scan has restarted.
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.notifications(ScanLost.self).count == 1)
  }

  @Test("An event names the adapter that has heard the device, not the one that heard it last")
  func adapterOfEvent() throws {
    let client = world.client()
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
    world.adapter.hear(belt, beltData)
    var there = params(belt)
    there.adapter = "hci1"
    _ = try client.result(ScanStart.self, there)
    second.onEvent?(.watching(true))
    second.onEvent?(.presence(belt, true))
    #expect(try client.notifications(ScanFound.self).map(\.adapter) == ["hci1"])
  }

  @Test("A scan with a number, and a session that ends")
  func numbered() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, params(belt, scan: 7))
    world.adapter.hear(belt, beltData)
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.notifications(ScanFound.self).map(\.scan) == [7])
    #expect(try client.notifications(ScanLost.self).map(\.scan) == [7])
    world.adapter.hear(belt, beltData)
    let peripheral = try #require(world.daemon.directory.known(at: belt))
    #expect(peripheral.references == 1)
    _ = try client.result(ScanStop.self, .init(scan: 7))
    #expect(peripheral.references == 0 && world.adapter.scan == nil)
  }

  @Test("A device that is forgotten is lost, and is found as another one when it is heard, or watched, again")
  func forgotten() throws {
    let (client, other) = (world.client(), world.client())
    _ = try client.result(ScanStart.self, params(belt))
    world.adapter.hear(belt, beltData)
    let first = try #require(try client.notifications(ScanFound.self).first?.peripheral)
    _ = try other.result(PeripheralForget.self, .init(peripheral: first))
    #expect(try client.notifications(ScanLost.self).map(\.peripheral) == [first])
    world.adapter.hear(belt, beltData)
    let second = try #require(try client.notifications(ScanFound.self).last?.peripheral)
    #expect(second != first)
    // The monitoring controller must report it again.
    watches(true)
    let watched = try #require(world.adapter.scan?.watched)
    world.adapter.hear(belt, beltData)
    _ = try other.result(PeripheralForget.self, .init(peripheral: second))
    let later = try #require(world.adapter.scan?.watched)
    #expect(later.number > watched.number)
    world.adapter.onEvent?(.presence(belt, true))
    #expect(try client.notifications(ScanFound.self).count == 3)
    #expect(try client.notifications(ScanLost.self).map(\.peripheral) == [first, second])
  }

  @Test("A device that is connected cannot be forgotten, and stays there for scans for presence")
  func connected() throws {
    let (client, other) = (world.client(), world.client())
    _ = try client.result(ScanStart.self, params(belt))
    world.adapter.hear(belt, beltData)
    let device = try #require(try client.notifications(ScanFound.self).first?.peripheral)
    _ = try other.call(PeripheralConnect.self, .init(peripheral: device))
    #expect(try other.error(PeripheralForget.self, .init(peripheral: device))?.data?.name == "notPermitted")
    #expect(try client.notifications(ScanLost.self).isEmpty)
  }

  @Test func aProgramThatDoesNotReadIsToldWhenItHasRoom() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true, scan: 1))
    _ = try client.result(ScanStart.self, params(belt))
    client.reads = false
    let session = try #require(client.session)
    var number: UInt64 = 16
    while session.outbox.droppedReports == 0 {
      number += 1
      world.adapter.hear(DeviceAddress(value: number, kind: .random), Octets.name("N"))
    }
    world.adapter.hear(belt, beltData)
    world.catchUp(client)
    #expect(try client.notifications(ScanFound.self).map(\.address) == ["\(belt)"])
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.notifications(ScanLost.self).count == 1)
  }

  @Test func whatCannotBeMeantIsRefused() throws {
    let client = world.client()
    let address = "\(belt)"
    let wrong: [(ScanStart.Params, String)] = [
      (.init(presence: true, lost: 5), "\"presence\" requires"),
      (.init(addresses: [address], presence: true), "\"presence\" requires"),
      (.init(addresses: [], presence: true, lost: 5), "1 to 64"),
      (.init(addresses: Array(repeating: address, count: 65)), "1 to 64"),
      (.init(addresses: [address, "54-48"]), "\"54-48\" of \"addresses\" is not an address"),
      (.init(address: address, presence: true, duplicates: true, lost: 5), "\"duplicates\""),
      (.init(address: address, presence: true, anonymous: true, lost: 5), "\"anonymous\""),
      (.init(address: address, presence: true, lost: 5, decode: true), "\"decode\""),
    ]
    for (params, message) in wrong {
      let error = try client.error(ScanStart.self, params)
      #expect(error?.data?.name == "invalidParameter" && error?.message.contains(message) == true, "\(error as Any)")
    }
    #expect(world.adapter.scans.isEmpty)
  }

  @Test("Without presence the addresses are a filter like others")
  func filter() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(address: "\(lamp)", addresses: ["\(belt)"]))
    for address in [belt, lamp, DeviceAddress(value: 3, kind: .public)] { world.adapter.hear(address, beltData) }
    #expect(try client.notifications(ScanReport.self).map(\.address) == ["\(belt)", "\(lamp)"])
    #expect(world.adapter.scan?.watched == nil && world.adapter.scan?.isActive == true)
  }
}
