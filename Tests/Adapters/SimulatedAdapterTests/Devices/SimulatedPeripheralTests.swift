import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Reading, writing and subscribing to simulated devices, through ATT packets and the real client.
@Suite(.onBothAirs) struct SimulatedPeripheralTests {
  private func client(of number: UInt64, _ world: AdapterStage) throws -> Client {
    let link = try #require(world.connect(number))
    return Client(link, world)
  }

  @Test func theBeltNotifiesOnceASecond() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 1, world)
    #expect(try client.run(.exchangeMTU) == .mtu(247))
    let location = try #require(try client.find(0x2A38))
    #expect(try client.run(.read(location.valueHandle)) == .value([1]))
    let beats = try #require(try client.find(0x2A37))
    try client.subscribe(beats, .notification)
    world.scheduler.advance(by: .milliseconds(10_500))
    #expect(client.values.count == 10)
    #expect(client.values.allSatisfy { $0.handle == beats.valueHandle && $0.value[0] == 6 && $0.value.count == 2 })
    #expect(client.values.allSatisfy { (55...160).contains($0.value[1]) && !$0.isIndication })
    let gaps = zip(client.values, client.values.dropFirst()).map { $0.time.duration(to: $1.time) }
    #expect(gaps.allSatisfy { abs($0.inSeconds - 1) < 0.05 })
    try client.subscribe(beats, [])
    let count = client.values.count
    world.scheduler.advance(by: .seconds(5))
    #expect(client.values.count == count)
  }

  @Test("a link that is not read keeps the device waiting, and nothing is lost")
  func heldBack() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 4, world)
    let uuid = try #require(BluetoothUUID("B1ED0002-5EED-4B1E-8D00-000000000000"))
    let echo = try #require(try client.find(uuid))
    try client.subscribe(echo, .notification)
    client.link.isReading = false
    for number in 0..<3 as Range<UInt8> { client.start(.writeWithoutResponse(echo.valueHandle, [number])) }
    world.scheduler.advance(by: .seconds(30))
    #expect(client.values.isEmpty)
    client.link.isReading = true
    #expect(client.values.isEmpty)
    world.scheduler.advance(by: .seconds(1))
    #expect(client.values.map(\.value) == [[0], [1], [2]])
  }

  @Test func theThermometerIndicates() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 2, world)
    let temperature = try #require(try client.find(0x2A1C))
    try client.subscribe(temperature, .indication)
    world.scheduler.advance(by: .seconds(9))
    #expect(client.values.count == 4)
    for value in client.values {
      #expect(value.isIndication)
      #expect(value.value.count == 5)
      #expect(value.value[4] == 0xFF)
      let tenths = Int(value.value[1]) | Int(value.value[2]) << 8
      #expect((364...372).contains(tenths))
    }
  }

  @Test func aValueThatMovesIsReadAsItIsNow() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 3, world)
    let level = try #require(try client.find(0x2A19))
    guard case .value(let early) = try client.run(.read(level.valueHandle)) else { return }
    world.scheduler.advance(by: .seconds(1800))
    guard case .value(let late) = try client.run(.read(level.valueHandle)) else { return }
    #expect(early == [100])
    #expect((49...50).contains(late[0]))
  }

  @Test func whatIsWrittenIsReadBackAndNotified() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 4, world)
    #expect(try client.run(.exchangeMTU) == .mtu(517))
    let uuid = try #require(BluetoothUUID("B1ED0002-5EED-4B1E-8D00-000000000000"))
    let echo = try #require(try client.find(uuid))
    try client.subscribe(echo, .notification)
    #expect(try client.run(.write(echo.valueHandle, [1, 2, 3])) == .done)
    world.scheduler.advance(by: .seconds(1))
    #expect(client.values.map(\.value) == [[1, 2, 3]])
    #expect(try client.run(.read(echo.valueHandle)) == .value([1, 2, 3]))
    #expect(try client.run(.writeWithoutResponse(echo.valueHandle, [4])) == .done)
    world.scheduler.advance(by: .seconds(1))
    #expect(client.values.map(\.value) == [[1, 2, 3], [4]])
    // The value outlasts the link.
    client.link.disconnect()
    world.scheduler.advance(by: .seconds(1))
    let again = try self.client(of: 4, world)
    #expect(try again.run(.read(echo.valueHandle)) == .value([4]))
  }

  @Test func aValueOf512OctetsIsReadInPieces() throws {
    let world = try AdapterStage.on()
    let client = try client(of: 4, world)
    let uuid = try #require(BluetoothUUID("B1ED0003-5EED-4B1E-8D00-000000000000"))
    let long = try #require(try client.find(uuid))
    let whole = Array(String(repeating: "0123456789abcdef", count: 32).utf8)
    #expect(try client.run(.readLong(long.valueHandle)) == .value(whole))
    #expect(throws: GATTError.att(.writeNotPermitted, handle: long.valueHandle)) {
      try client.run(.write(long.valueHandle, [1]))
    }
  }

  @Test func servicesAreIncludedAndWritesEchoedElsewhere() throws {
    let world = try AdapterStage.on(
      """
      { devices: [{ name: "Uart", address: "C0:DE:00:00:00:01", addressType: "random", mtu: 23, responseDelay: [0.1, 0.3], services: [
        { uuid: "180F", primary: false, characteristics: [{ uuid: "2A19", value: "32" }] },
        { uuid: "FFF0", includes: ["180F"], characteristics: [
          { uuid: "FFF1", properties: ["write"] },
          { uuid: "FFF2", properties: ["notify"], rule: { kind: "echo", of: "FFF1" } } ] } ] }] }
      """)
    let client = try client(of: 1, world)
    #expect(try client.run(.exchangeMTU) == .mtu(23))
    guard case .services(let services) = try client.run(.discoverServices(.primary)) else { return }
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0xFFF0])
    guard case .includedServices(let included) = try client.run(.findIncludedServices(in: services[2].range)) else {
      return
    }
    #expect(included.map(\.uuid) == [0x180F])
    let transmit = try #require(try client.find(0xFFF2))
    let receive = try #require(try client.find(0xFFF1))
    try client.subscribe(transmit, .notification)
    let before = world.scheduler.now
    #expect(try client.run(.write(receive.valueHandle, [7])) == .done)
    #expect(before.duration(to: world.scheduler.now) >= .milliseconds(100))
    world.scheduler.advance(by: .seconds(1))
    #expect(client.values.map(\.handle) == [transmit.valueHandle])
    #expect(client.values.map(\.value) == [[7]])
  }
}
