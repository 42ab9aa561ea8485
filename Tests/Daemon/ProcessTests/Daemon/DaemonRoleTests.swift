import BledRPC
import Bluetooth
import Glibc
import Testing

/// Every method of the socket on the simulated adapter, in both roles.
@Suite(.serialized) struct DaemonRoleTests {
  private static let echo = BluetoothUUID("B1ED0002-5EED-4B1E-8D00-000000000000")

  private func connect(_ client: SocketClient, name: String) throws -> PeripheralConnect.Result {
    try client.call(ScanStart.self, .init(name: name))
    let report = try client.next(ScanReport.self) { $0.name == name }
    try client.call(ScanStop.self, .init())
    return try client.call(PeripheralConnect.self, .init(peripheral: report.peripheral, timeout: 300))
  }

  @Test func centralRole() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    try client.call(SessionOpen.self, .init(name: "central"))
    try client.call(ScanStart.self, .init(services: [0x180D]))
    let report = try client.next(ScanReport.self)
    #expect(report.name == "Heart Belt" && report.services == [0x180D] && report.appearance == 833)
    try client.call(ScanStop.self, .init())
    let link = try client.call(PeripheralConnect.self, .init(peripheral: report.peripheral, timeout: 300))
    #expect(link.mtu > 23)
    let services = try client.call(GATTDiscover.self, .init(peripheral: link.peripheral)).services
    let heart = try #require(services.first { $0.uuid == 0x180D })
    let rate = try #require(heart.characteristics?.first { $0.uuid == 0x2A37 })
    let place = try #require(heart.characteristics?.first { $0.uuid == 0x2A38 })
    #expect(
      try client.call(GATTRead.self, .init(peripheral: link.peripheral, handle: place.handle)).value.octets == [1])
    try client.call(GATTSubscribe.self, .init(peripheral: link.peripheral, handle: rate.handle))
    for _ in 0..<3 {
      #expect(try client.next(GATTValue.self) { $0.handle == rate.handle }.value.octets.first == 0x06)
    }
    try client.call(GATTUnsubscribe.self, .init(peripheral: link.peripheral, handle: rate.handle))
    #expect(try client.call(PeripheralRSSI.self, .init(peripheral: link.peripheral)).rssi < 0)
    #expect(
      try client.call(PeripheralList.self, Empty()).peripherals.first { $0.peripheral == link.peripheral }?.state
        == "connected")
    try client.call(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
    #expect(try client.next(PeripheralDisconnected.self).reason == nil)
  }

  @Test("One value is read with three calls: connect by name, read by UUID, disconnect")
  func threeCalls() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let link = try client.call(PeripheralConnect.self, .init(name: "Heart Belt", timeout: 300))
    let read = try client.call(
      GATTRead.self, .init(peripheral: link.peripheral, attribute: .characteristic(0x2A38, of: 0x180D)))
    #expect(read.value.octets == [1] && read.uuid == 0x2A38 && read.handle != nil)
    let multiple = GATTReadMultiple.Params(
      peripheral: link.peripheral, attributes: [.characteristic(0x2A00), .characteristic(0x2A38)], variable: true)
    #expect(
      try client.call(GATTReadMultiple.self, multiple).values?.map(\.value.octets) == [Array("Heart Belt".utf8), [1]])
    let found = try client.call(GATTReadUsingUUID.self, .init(peripheral: link.peripheral, uuid: 0x2A38)).values
    #expect(found.map(\.handle) == [read.handle])
    try client.call(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
    let echo = try client.call(PeripheralConnect.self, .init(namePrefix: "Ech", timeout: 300)).peripheral
    let path = AttributePath.characteristic(try #require(Self.echo))
    let writes = [GATTWriteReliably.Write(path, value: HexBytes(Array("bled".utf8)))]
    #expect(
      try client.call(GATTWriteReliably.self, .init(peripheral: echo, writes: writes)).written.map(\.uuid)
        == [Self.echo])
    try client.call(
      GATTWrite.self, .init(peripheral: echo, attribute: path, value: HexBytes(Array("u".utf8)), offset: 2))
    let value = try client.call(GATTRead.self, .init(peripheral: echo, attribute: path)).value.octets
    #expect(value.starts(with: Array("blu".utf8)), "\(value)")
  }

  @Test func stepwiseDiscoveryLongValuesAndWrites() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let peripheral = try connect(client, name: "Echo").peripheral
    let wanted = BluetoothUUID("B1ED0001-5EED-4B1E-8D00-000000000000").map { [$0] }
    let service = try #require(
      try client.call(GATTDiscoverServices.self, .init(peripheral: peripheral, services: wanted)).services.first)
    let scope = GATTScope(peripheral: peripheral, handle: service.handle)
    #expect(try client.call(GATTDiscoverIncludedServices.self, scope).services.isEmpty)
    let characteristics = try client.call(GATTDiscoverCharacteristics.self, scope).characteristics
    let echo = try #require(characteristics.first { $0.uuid == Self.echo })
    let long = try #require(characteristics.last)
    let descriptors = try client.call(
      GATTDiscoverDescriptors.self, .init(peripheral: peripheral, handle: echo.handle)
    ).descriptors
    #expect(descriptors.contains { $0.uuid == 0x2901 })
    #expect(
      try client.call(GATTRead.self, .init(peripheral: peripheral, handle: long.handle)).value.octets.count == 512)
    let value = HexBytes(Array("bled".utf8))
    try client.call(GATTWrite.self, .init(peripheral: peripheral, handle: echo.handle, value: value))
    #expect(try client.call(GATTRead.self, .init(peripheral: peripheral, handle: echo.handle)).value == value)
    let command = HexBytes(Array("command".utf8))
    try client.call(
      GATTWrite.self, .init(peripheral: peripheral, handle: echo.handle, value: command, response: false))
    #expect(try client.call(GATTRead.self, .init(peripheral: peripheral, handle: echo.handle)).value == command)
  }

  @Test func peripheralRole() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let service = try client.call(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x180D,
          characteristics: [
            .init(uuid: 0x2A37, properties: ["notify"]), .init(uuid: 0x2A39, properties: ["read", "write"]),
          ]))
    ).service
    let advertising = try client.call(AdvertisingStart.self, .init(name: "bled", services: [0x180D]))
    #expect(advertising.adapter == daemon.adapter(0) && advertising.interval > 0)
    let read = try client.nextCall(ServerRead.self)
    #expect(read.params.handle == service.characteristics?[1].handle)
    try client.answer(read.id, ServerRead.Result(value: HexBytes([42])))
    let write = try client.nextCall(ServerWrite.self)
    #expect(write.params.writes.first?.value.octets == Array("Hello from the phone".utf8))
    try client.answer(write.id, Empty())
    let subscriber = try client.next(ServerSubscribed.self)
    #expect(subscriber.central == read.params.central && subscriber.maximumLength >= 20)
    #expect(try client.call(ServerNotify.self, .init(handle: subscriber.handle, value: HexBytes([6, 60]))).sent)
    #expect(try client.next(ServerUnsubscribed.self).central == subscriber.central)
    try client.call(AdvertisingStop.self, .init(advertising: advertising.advertising))
    try client.call(ServiceRemove.self, .init(handle: service.handle))
  }

  @Test("A client that has shut down its sending side and waits keeps what it holds until it dies")
  func deathOfAHalfClosedClient() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    try client.call(ScanStart.self, .init())
    _ = try client.start(PeripheralConnect.self, .init(address: "C0:FF:EE:00:00:01", addressType: "random"))
    shutdown(client.descriptor, CInt(SHUT_WR))
    let other = try daemon.client()
    try client.next(ScanReport.self)
    #expect(try other.call(AdapterList.self, Empty()).adapters.first?.scanning == true)
    client.close()
    var rounds = 0
    while try other.call(AdapterList.self, Empty()).adapters.first?.scanning != false, rounds < 10_000 { rounds += 1 }
    #expect(rounds < 10_000)
  }

  @Test func twoClientsShareALinkAndADeadOneGivesBackEverything() throws {
    let daemon = try DaemonProcess()
    let first = try daemon.client()
    let second = try daemon.client()
    let link = try connect(first, name: "Echo")
    let shared = try second.call(PeripheralConnect.self, .init(address: link.address, timeout: 300))
    #expect(shared.peripheral == link.peripheral)
    #expect(try first.call(AdapterList.self, Empty()).adapters.first?.links == 1)
    try first.call(ScanStart.self, .init())
    try first.call(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    let advertising = AdvertisingStart.Params(name: "first", connectable: false)
    try first.call(AdvertisingStart.self, advertising)
    try first.call(GATTDiscover.self, .init(peripheral: link.peripheral))
    first.close()
    // The daemon notices the death before this client's next call, or soon after.
    var adapter = try second.call(AdapterList.self, Empty()).adapters.first
    var rounds = 0
    while adapter?.advertising != 0 || adapter?.scanning != false, rounds < 10_000 {
      adapter = try second.call(AdapterList.self, Empty()).adapters.first
      rounds += 1
    }
    #expect(adapter?.advertising == 0 && adapter?.scanning == false && adapter?.links == 1)
    let services = try second.call(GATTDiscover.self, .init(peripheral: link.peripheral)).services
    #expect(!services.isEmpty)
    second.close()
    let third = try daemon.client()
    repeat {
      adapter = try third.call(AdapterList.self, Empty()).adapters.first
      rounds += 1
    } while adapter?.links != 0 && rounds < 20_000
    #expect(adapter?.links == 0)
  }
}
