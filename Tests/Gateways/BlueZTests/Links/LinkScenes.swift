import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The answers of bled for the device.
final class LinkBehaviour {
  var discovery: BluetoothError?
  var connection: BluetoothError?
  var linked = FacadeStage.linked
  /// The calls of all programs, in their order.
  var calls: [String] = []
}

/// Programs that call Connect and Disconnect for one device.
protocol LinkScenes {
  var world: FacadeStage { get }
  var device: LinkBehaviour { get }
}

extension LinkScenes {
  static var one: String { ":1.1" }
  static var other: String { ":1.2" }

  /// One program has received the device.
  static func stage() throws -> (FacadeStage, LinkBehaviour) {
    let (world, device) = (FacadeStage(), LinkBehaviour())
    world.daemon.answer = { method, _, session in
      device.calls.append(method)
      switch method {
      case PeripheralConnect.name: return device.connection.map { .failure($0) } ?? .success(device.linked)
      case GATTDiscover.name:
        return device.discovery.map { .failure($0) } ?? .success(GATTServices(services: [service]))
      default: return nil
      }
    }
    world.call(one, .adapter, "StartDiscovery", [])
    try world.hear(one, -60)
    return (world, device)
  }

  private static var service: ServiceDescription {
    ServiceDescription(
      handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
      characteristics: [
        CharacteristicDescription(handle: 0x12, end: 0x14, uuid: 0x2A37, properties: ["notify"])
      ])
  }

  @discardableResult
  func connect(_ program: String) -> UInt64 {
    world.call(program, .device, "Connect", [], at: FacadeStage.device)
  }

  @discardableResult
  func disconnect(_ program: String) -> UInt64 {
    world.call(program, .device, "Disconnect", [], at: FacadeStage.device)
  }

  /// Uses the link that others have, as bleak does for a connected device.
  func join(_ program: String) {
    let number = world.call(
      program, .characteristic, "StartNotify", [], at: FacadeStage.device + "/service0010/char0011")
    #expect(world.succeeded(number))
  }

  func property(_ name: String) throws -> BusValue? {
    let number = world.call(
      Self.one, .properties, "Get", [.string(Interface.device.rawValue), .string(name)], at: FacadeStage.device)
    return try world.bus.answers[number]?.get().first?.unwrapped
  }

  /// The changes of a property of the device sent to all programs, in order.
  func changes(_ name: String) -> [BusValue] {
    world.bus.signals.filter { $0.path == FacadeStage.device && $0.member == "PropertiesChanged" }.compactMap {
      ManagedObjects.properties($0.arguments[1])[name]
    }
  }

  func tellLink(_ isLinked: Bool) throws {
    try world.own().notify(
      PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: isLinked, name: nil))
  }
}
