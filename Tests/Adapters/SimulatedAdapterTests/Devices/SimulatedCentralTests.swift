import Adapter
import Bluetooth
import GATT
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Phones that visit our advertisements.
@Suite(.onBothAirs) struct SimulatedCentralTests {
  private let service = ServiceDefinition(
    uuid: 0xFFF0,
    characteristics: [
      CharacteristicDefinition(uuid: 0xFFF1, properties: .read, value: .owner),
      CharacteristicDefinition(uuid: 0xFFF2, properties: [.read, .write], value: .stored([1])),
      CharacteristicDefinition(uuid: 0xFFF3, properties: .writeWithoutResponse, value: .stored([])),
      CharacteristicDefinition(uuid: 0xFFF4, properties: .notify, value: .stored([])),
      CharacteristicDefinition(uuid: 0xFFF5, properties: .indicate, value: .stored([])),
    ])

  private func advertise(_ world: AdapterStage, _ name: String = "Us", _ services: [BluetoothUUID] = [0xFFF0]) throws {
    let packed = try AdvertisingContent(name: name, serviceUUIDs: services).packed()
    world.adapter.setAdvertising(
      AdvertisingSetID(1), AdvertisingParameters(data: packed.data, scanResponse: packed.scanResponse))
  }

  @Test func theBuiltinPhoneVisitsWithinTwoSecondsAndDoesItsWholeScript() throws {
    let world = try AdapterStage.on()
    let server = Server(world, [service])
    try advertise(world)
    world.scheduler.advance(by: .seconds(2))
    #expect(server.trace.first == "connected C0:DE:00:00:01:01")
    world.scheduler.advance(by: .seconds(2))
    let greeting = Hex.encode(Array("Hello from the phone".utf8))
    #expect(
      Array(server.trace.dropFirst()) == [
        "mtu 185", "read FFF1", "write FFF2 \(greeting)", "write FFF3 \(greeting)", "subscribe FFF4 1",
        "subscribe FFF5 2",
      ])
    world.scheduler.advance(by: .seconds(7))
    #expect(server.trace.last == "ended")
    // The phone returns after a while.
    world.scheduler.advance(by: .seconds(20))
    #expect(server.trace.count { $0.hasPrefix("connected") } == 2)
    #expect(server.trace.count { $0 == "write FFF2 \(greeting)" } == 2)
  }

  private static let choosy = """
    { phones: [{ name: "p", address: "C0:DE:00:00:01:01", addressType: "random", mtu: 23,
      services: ["FFF0"], namePrefix: "U", connectDelay: 0, stay: [1, 2],
      script: [
        { do: "read", characteristic: "FFF2" }, { do: "wait", seconds: 3 },
        { do: "write", characteristic: "FFF2", value: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b" },
        { do: "subscribe", characteristic: "FFF5" }, { do: "unsubscribe", characteristic: "FFF5" },
        { do: "read", characteristic: "ABCD" }, { do: "write", characteristic: "FFF1", value: "00" } ] }] }
    """

  @Test func aPhoneVisitsOnlyWhatItLooksFor() throws {
    let world = try AdapterStage.on(Self.choosy)
    let server = Server(world, [service])
    try advertise(world, "Them")
    world.scheduler.advance(by: .seconds(30))
    try advertise(world, "Us", [0x180D])
    world.scheduler.advance(by: .seconds(30))
    #expect(server.trace.isEmpty)
    try advertise(world)
    world.scheduler.advance(by: .seconds(2))
    #expect(server.trace == ["connected C0:DE:00:00:01:01"])
    world.scheduler.advance(by: .seconds(10))
    let value = Hex.encode(Array(0...27))
    #expect(
      server.trace.dropFirst()
        == ["write FFF2 \(value)", "subscribe FFF5 2", "subscribe FFF5 0", "ended"])
    // A phone without a return time visits once.
    world.scheduler.advance(by: .seconds(600))
    #expect(server.trace.count == 5)
  }

  @Test(.onSimulatedAir("the phone is faster")) func aPhoneIsThrownOutInTheMiddleOfAProcedure() throws {
    let world = try AdapterStage.on()
    let server = Server(world, [service])
    try advertise(world)
    world.scheduler.run { server.link != nil }
    world.scheduler.advance(by: .milliseconds(50))
    server.link?.disconnect()
    world.scheduler.advance(by: .seconds(1))
    #expect(server.hasEnded)
    #expect(!server.trace.contains { $0.hasPrefix("write") })
    world.scheduler.advance(by: .seconds(15))
    #expect(server.trace.count { $0.hasPrefix("connected") } == 2)
    #expect(server.trace.contains("subscribe FFF5 2"))
  }

  @Test func whatWeNotifyReachesThePhone() throws {
    let world = try AdapterStage.on()
    let server = Server(world, [service])
    try advertise(world)
    world.scheduler.run { server.trace.contains("subscribe FFF5 2") }
    let handle = try #require(
      server.host.database.services.last?.characteristics.first { $0.uuid == 0xFFF5 }?.valueHandle)
    var confirmations = 0
    let note = server.host.onAction
    server.host.onAction = { action in
      if case .indicationFinished(_, .success) = action { confirmations += 1 }
      note?(action)
    }
    server.host.indicate([1, 2], of: handle, id: IndicationID(1))
    world.scheduler.advance(by: .seconds(1))
    #expect(confirmations == 1)
  }

  @Test func aPhoneStaysAwayFromWhatCannotBeConnectedTo() throws {
    let world = try AdapterStage.on()
    let server = Server(world, [service])
    world.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(isConnectable: false, data: [2, 1, 6]))
    world.scheduler.advance(by: .seconds(60))
    #expect(server.trace.isEmpty)
  }
}
