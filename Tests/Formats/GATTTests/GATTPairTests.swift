import Bluetooth
@testable import GATT
import Testing

/// Client and server joined: each understands the other's packets.
struct GATTPairTests {
  @Test func everythingIsFoundAtAnyMTU() throws {
    var database = try sampleDatabase()
    _ = try database.add(ServiceDefinition(uuid: 0x1810, includes: [6, 14]))
    for mtu in [23, 24, 50, 247, 517] {
      var pair = Pair(server: database, maximumMTU: mtu)
      pair.start(.exchangeMTU)
      pair.start(.discoverServices(.primary))
      pair.start(.discoverPrimaryServices(uuid: 0x180D))
      pair.start(.findIncludedServices(in: 21...23))
      pair.start(.discoverCharacteristics(in: 6...13))
      pair.start(.discoverDescriptors(in: 9...9))
      pair.settle()
      #expect(pair.results[0] == .success(.mtu(mtu)))
      #expect(
        pair.results[1]
          == .success(.services(database.services.map { DiscoveredService(range: $0.range, uuid: $0.uuid) })))
      #expect(pair.results[2] == .success(.services([DiscoveredService(range: 6...13, uuid: 0x180D)])))
      let long = database.services[2].uuid
      #expect(
        pair.results[3]
          == .success(
            .includedServices([
              DiscoveredInclude(handle: 22, range: 6...13, uuid: 0x180D),
              DiscoveredInclude(handle: 23, range: 14...20, uuid: long),
            ])))
      guard case .success(.characteristics(let found)) = pair.results[4] else {
        Issue.record("\(pair.results[4])")
        continue
      }
      #expect(found.map(\.valueHandle) == [8, 11, 13])
      #expect(found.map(\.endHandle) == [9, 11, 13])
      #expect(found.map(\.uuid) == [0x2A37, 0x2A38, 0x2A39])
      #expect(pair.results[5] == .success(.descriptors([DiscoveredDescriptor(handle: 9, uuid: 0x2902)])))
    }
  }

  @Test func longValuesAreEqualAtBothEnds() throws {
    for mtu in [23, 64, 517] {
      for length in [0, 1, 17, 18, 19, 21, 22, 23, 63, 64, 511, 512] {
        var database = AttributeDatabase()
        _ = try database.add(
          ServiceDefinition(
            uuid: 0x1234,
            characteristics: [CharacteristicDefinition(uuid: 0x2AF0, properties: [.read, .write], value: .stored([9]))])
        )
        let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var pair = Pair(server: database, maximumMTU: mtu)
        pair.start(.exchangeMTU)
        pair.start(.writeLong(3, value))
        pair.start(.readLong(3))
        pair.start(.reliableWrite([AttributeWrite(handle: 3, value: value)]))
        pair.start(.readLong(3, offset: UInt16(length / 2)))
        pair.settle()
        #expect(pair.serverDatabase.value(of: 3) == value)
        #expect(
          pair.results[1...] == [
            .success(.done), .success(.value(value)), .success(.done),
            .success(.value([UInt8](value[(length / 2)...]))),
          ])
      }
    }
  }

  @Test func bothRolesOnOneLink() throws {
    var pair = Pair(server: try sampleDatabase())
    pair.clientDatabase = try sampleDatabase()
    pair.start(.read(11))
    // The other side sends a request at the same time, before it has seen the first one.
    var actions: [GATTAction] = []
    pair.server.start(.read(13), id: ProcedureID(50), now: .zero, actions: &actions)
    pair.take(serverActions: actions)
    pair.settle()
    #expect(pair.results == [.success(.value([1]))])
    #expect(pair.toClient.isEmpty && pair.toServer.isEmpty && pair.crossed == 4)
  }

  @Test func valuesBeforeTheResponseOfTheSubscriptionArrive() throws {
    var pair = Pair(server: try sampleDatabase())
    pair.start(.subscribe(descriptor: 9, .notification))
    // A server that sends the first value before it answers the write.
    pair.toClient.append([0x1B, 8, 0, 42])
    pair.settle()
    #expect(pair.values.map(\.value) == [[42]])
    #expect(pair.results == [.success(.done)])
  }
}
