import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Several values to subscribers at once.
@Suite struct NotifyMultipleTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer
  private let handles: [UInt16]

  init() throws {
    client = world.client()
    peer = world.peer()
    let service = ServiceToPublish(
      uuid: 0xFFF0,
      characteristics: [0xFFF1, 0xFFF2, 0xFFF3].map {
        .init(uuid: BluetoothUUID($0 as UInt16), properties: ["notify", "indicate"])
      })
    let published = try client.result(ServiceAdd.self, .init(service: service)).service
    handles = published.characteristics?.map(\.handle) ?? []
    world.adapter.bringUp(peer, role: .peripheral)
    world.settle()
  }

  private func subscribe(_ configurations: ClientConfiguration...) {
    for (handle, configuration) in zip(handles, configurations) {
      _ = peer.start(.subscribe(descriptor: handle + 1, configuration))
      world.settle()
    }
  }

  private func values(_ octets: [UInt8]) -> ServerNotifyMultiple.Params {
    .init(values: zip(handles, octets).map { .init(handle: $0, value: HexBytes([$1])) })
  }

  @Test("A device with the feature gets its values in one packet, another one by one", arguments: [true, false])
  func packets(hasFeature: Bool) throws {
    if hasFeature {
      let ours = world.daemon.links.database.attributes.services.flatMap(\.characteristics)
      let features = try #require(ours.first { $0.uuid == 0x2B29 })
      _ = peer.start(.write(features.valueHandle, [0b100]))
      world.settle()
    }
    subscribe(.notification, .notification, .indication)
    let before = peer.received.count
    let result = try client.result(ServerNotifyMultiple.self, values([1, 2, 3]))
    world.settle()
    #expect(result.sent && result.receivers == 1 && result.truncated == nil)
    #expect(peer.values.map(\.handle) == handles && peer.values.map(\.value) == [[1], [2], [3]])
    #expect(peer.received.dropFirst(before).map(\.[0]) == (hasFeature ? [0x23, 0x1D] : [0x1B, 0x1B, 0x1D]))
  }

  @Test("What cannot be sent is refused as a whole")
  func refused() throws {
    let unknown = ServerNotifyMultiple.Params(values: [
      .init(handle: handles[0], value: HexBytes([])), .init(handle: 0xFFF0, value: HexBytes([])),
    ])
    #expect(try client.error(ServerNotifyMultiple.self, unknown)?.data?.name == "unknownHandle")
    let twice = ServerNotifyMultiple.Params(
      values: [ServerNotifyMultiple.Value](repeating: .init(handle: handles[0], value: HexBytes([])), count: 2))
    #expect(try client.error(ServerNotifyMultiple.self, twice)?.message.contains("1 to 8") == true)
    let nobody = try client.result(ServerNotifyMultiple.self, values([1, 2, 3]))
    #expect(nobody.sent && nobody.receivers == 0)
  }

  @Test("A characteristic with the broadcast flag is refused, and the error says what does the same")
  func broadcast() throws {
    let service = ServiceToPublish(
      uuid: 0xFFE0, characteristics: [.init(uuid: 0xFFE1, properties: ["read", "broadcast"])])
    let error = try #require(try client.error(ServiceAdd.self, .init(service: service)))
    #expect(error.data?.name == "notSupported" && error.message.contains("serviceData"))
  }
}
