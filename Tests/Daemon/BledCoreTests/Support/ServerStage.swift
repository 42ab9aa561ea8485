import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// A program with a service, and a phone that is connected to it.
struct ServerStage {
  let world: World
  let client: TestClient
  let phone: ScriptedPeer
  let link: ScriptedLink
  let service: ServiceDescription
  /// Can be read and written, and notifies; the program has its value.
  let asked: UInt16
  /// Can be read; the daemon has its value.
  let fixed: UInt16
  /// Indicates.
  let indicated: UInt16

  /// - Parameter identity: the identity that the phone sees.
  init(_ identity: Daemon.Identity = .init(name: "bled test")) throws {
    world = World(identity: identity)
    client = world.client()
    service = try client.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x180D,
          characteristics: [
            .init(uuid: 0x2A37, properties: ["read", "write", "writeWithoutResponse", "notify"]),
            .init(uuid: 0x2A38, properties: ["read"], value: HexBytes([1])),
            .init(uuid: 0x2A39, properties: ["indicate"]),
          ]))
    ).service
    phone = world.peer()
    link = world.adapter.bringUp(phone, role: .peripheral)
    asked = try #require(service.characteristics?[0].handle)
    fixed = try #require(service.characteristics?[1].handle)
    indicated = try #require(service.characteristics?[2].handle)
  }
}

/// A suite on such a stage.
protocol ServerSuite {
  var stage: ServerStage { get }
}

extension ServerSuite {
  var world: World { stage.world }
  var client: TestClient { stage.client }
  var phone: ScriptedPeer { stage.phone }
  var link: ScriptedLink { stage.link }
  var service: ServiceDescription { stage.service }
  var asked: UInt16 { stage.asked }
  var fixed: UInt16 { stage.fixed }
  var indicated: UInt16 { stage.indicated }

  /// Makes the phone do something and returns the outcome.
  func phone(_ procedure: GATTProcedure) -> Result<GATTResult, GATTError>? {
    let id = phone.start(procedure)
    world.settle()
    return phone.results[id]
  }

  func subscribe(_ handle: UInt16, _ configuration: ClientConfiguration) {
    let descriptor = service.characteristics?.first { $0.handle == handle }?.descriptors?.first { $0.uuid == 0x2902 }
    _ = phone(.subscribe(descriptor: descriptor?.handle ?? 0, configuration))
  }
}
