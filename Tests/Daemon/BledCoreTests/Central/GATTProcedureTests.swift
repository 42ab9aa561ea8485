import ATT
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// The procedures of GATT that most programs do without: G4–G6.
@Suite struct GATTProcedureTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let peer: ScriptedPeer
  private let id: String

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0xFFF0,
        characteristics: (0..<3).map { number in
          CharacteristicDefinition(
            uuid: BluetoothUUID(0xFFF1 + UInt16(number)),
            properties: [.read, .write, .notify, .indicate, .extendedProperties],
            value: .stored([UInt8](repeating: UInt8(number), count: number + 1)))
        }))
    id = try world.connect(client, peer).peripheral
  }

  @Test("Values are read by their UUID without discovery")
  func usingUUID() throws {
    let asked = peer.received.count
    let values = try done(GATTReadUsingUUID.self, .init(peripheral: id, uuid: 0x2A38)).values
    #expect(values == [AttributeValue(handle: peer.handle(of: 0x2A38), value: HexBytes([1]))])
    #expect(peer.received.dropFirst(asked).allSatisfy { $0[0] == 0x08 })
    let none = try refusal(GATTReadUsingUUID.self, .init(peripheral: id, uuid: 0x2A39))
    #expect(none.data?.name == "attributeNotFound")
    let behind = GATTReadUsingUUID.Params(peripheral: id, uuid: 0x2A38, start: peer.handle(of: 0x2A38) + 1)
    #expect(try refusal(GATTReadUsingUUID.self, behind).data?.name == "attributeNotFound")
    let odd = GATTReadUsingUUID.Params(peripheral: id, uuid: 0x2A38, start: 9, end: 8)
    #expect(try client.error(GATTReadUsingUUID.self, odd)?.data?.name == "invalidParameter")
  }

  @Test("Several values are read with one request, with and without their lengths")
  func multiple() throws {
    let attributes: [AttributePath] = [
      .characteristic(0xFFF3), .handle(peer.handle(of: 0x2A38)), .characteristic(0xFFF2),
    ]
    let variable = try done(GATTReadMultiple.self, .init(peripheral: id, attributes: attributes, variable: true))
    #expect(variable.values?.map(\.value.octets) == [[2, 2, 2], [1], [1, 1]])
    #expect(variable.values?.map(\.uuid) == [0xFFF3, nil, 0xFFF2])
    #expect(variable.values?.map(\.handle) == [0xFFF3, 0x2A38, 0xFFF2].map { peer.handle(of: $0) })
    let asked = peer.received.count
    let fixed = try done(GATTReadMultiple.self, .init(peripheral: id, attributes: attributes))
    #expect(fixed.value?.octets == [2, 2, 2, 1, 1, 1] && fixed.values == nil)
    #expect(peer.received.dropFirst(asked).map(\.[0]) == [0x0E])
    for attributes in [[.handle(3)], [AttributePath](repeating: .handle(3), count: 124)] {
      let error = try client.error(GATTReadMultiple.self, .init(peripheral: id, attributes: attributes))
      #expect(error?.message.contains("2 to 123") == true)
    }
    peer.refusing = { $0[0] == 0x20 ? ATTErrorCode.requestNotSupported.rawValue : nil }
    let error = try refusal(GATTReadMultiple.self, .init(peripheral: id, attributes: attributes, variable: true))
    #expect(error.data?.domain == "gap" && error.data?.name == "notSupported" && error.message.contains("one by one"))
  }

  @Test("A value is written from an offset on")
  func offset() throws {
    let handle = peer.handle(of: 0x2A56)
    let found = try done(
      GATTWrite.self,
      .init(peripheral: id, attribute: .characteristic(0x2A56), value: HexBytes([1, 2, 3]), offset: 100))
    #expect(found.handle == handle)
    #expect(peer.database.value(of: handle)?.dropFirst(99) == [7, 1, 2, 3])
    let behind = GATTWrite.Params(
      peripheral: id, attribute: .characteristic(0xFFF1), value: HexBytes([1]), offset: 9)
    #expect(try refusal(GATTWrite.self, behind).data?.name == "invalidOffset")
    for (offset, response) in [(-1, nil), (512, nil), (Int.max, nil), (0, false)] as [(Int, Bool?)] {
      let params = GATTWrite.Params(
        peripheral: id, attribute: .handle(handle), value: HexBytes([1]), response: response, offset: offset)
      #expect(try client.error(GATTWrite.self, params)?.data?.name == "invalidParameter", "\(offset)")
    }
  }

  @Test("Several values are written at once, or none of them")
  func reliable() throws {
    let handles = [0xFFF1, 0xFFF2].map { peer.handle(of: $0) }
    let writes = [
      GATTWriteReliably.Write(.characteristic(0xFFF1), value: HexBytes([9])),
      GATTWriteReliably.Write(.handle(handles[1]), offset: 1, value: HexBytes([8])),
    ]
    let written = try done(GATTWriteReliably.self, .init(peripheral: id, writes: writes)).written
    #expect(written == [.init(handle: handles[0], uuid: 0xFFF1), .init(handle: handles[1])])
    #expect(handles.map { peer.database.value(of: $0).map(Array.init) } == [[9], [1, 8]])
    #expect(peer.received.map(\.[0]).filter { [0x16, 0x18].contains($0) } == [0x16, 0x16, 0x18])
    // One is refused: the other is not written either.
    peer.refusing = { $0[0] == 0x16 && $0[1] == handles[1] & 0xFF ? ATTErrorCode.prepareQueueFull.rawValue : nil }
    let again = writes.map { GATTWriteReliably.Write($0.attribute, value: HexBytes([7])) }
    let full = try refusal(GATTWriteReliably.self, .init(peripheral: id, writes: again))
    #expect(full.data?.name == "prepareQueueFull")
    #expect(handles.map { peer.database.value(of: $0).map(Array.init) } == [[9], [1, 8]])
    #expect(peer.received.last == [0x18, 0], "what was prepared is cancelled")
    for writes in [[], [GATTWriteReliably.Write](repeating: writes[0], count: 65)] {
      let error = try client.error(GATTWriteReliably.self, .init(peripheral: id, writes: writes))
      #expect(error?.message.contains("1 to 64") == true)
    }
    let long = GATTWriteReliably.Write(.handle(3), offset: 511, value: HexBytes([1, 2]))
    #expect(
      try client.error(GATTWriteReliably.self, .init(peripheral: id, writes: [long]))?.data?.name == "invalidParameter")
  }

  @Test("Where a characteristic has both, a session chooses indications; others share the choice")
  func indications() throws {
    let handle = peer.handle(of: 0xFFF1)
    let path = AttributePath.characteristic(0xFFF1)
    _ = try done(GATTSubscribe.self, .init(peripheral: id, attribute: path, indications: true))
    #expect(peer.subscriptions[handle] == .indication)
    let other = world.client()
    try world.connect(other, peer)
    let call = try other.call(GATTSubscribe.self, .init(peripheral: id, attribute: path, indications: false))
    world.settle()
    let error = try #require(try other.error(of: call, GATTSubscribe.self))
    #expect(error.data?.name == "alreadyInProgress" && error.message.contains("indications of characteristic"))
    _ = try done(GATTSubscribe.self, .init(peripheral: id, attribute: path), by: other)
    #expect(peer.subscriptions[handle] == .indication)
    _ = try done(GATTUnsubscribe.self, .init(peripheral: id, attribute: path))
    _ = try done(GATTSubscribe.self, .init(peripheral: id, attribute: path, indications: false), by: other)
    #expect(peer.subscriptions[handle] == .notification, "who is alone may choose again")
    let only = GATTSubscribe.Params(peripheral: id, attribute: .characteristic(0x2A37), indications: true)
    #expect(try refusal(GATTSubscribe.self, only).data?.name == "notAllowedByProperties")
  }

  @Test("Server Supported Features are told, also where a device has none")
  func serverFeatures() throws {
    #expect(
      try done(GATTServerFeatures.self, .init(peripheral: id)) == .init(enhancedBearers: false, value: nil))
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0xFFE0,
        characteristics: [CharacteristicDefinition(uuid: 0x2B3A, properties: .read, value: .stored([1]))]))
    #expect(
      try done(GATTServerFeatures.self, .init(peripheral: id)) == .init(enhancedBearers: true, value: HexBytes([1])))
  }
}
