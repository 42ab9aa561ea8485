import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  /// The state of a peripheral manager is preserved and handed to the next one.
  @Suite struct PeripheralRestorationTests {
    @Test("G20, R37, R38: services, subscribers and the advertisement are restored before the state, and continue")
    func restored() async throws {
      let daemon = try await BledProcess()
      var first: PeripheralRole? = PeripheralRole(restoration: "peripheral")
      let log = try #require(first?.log)
      try await log.next("didUpdateState") { $0.state == .poweredOn }
      let belt = LocalBelt()
      try await first?.publish(belt.service)
      try await first?.advertise(LocalBelt.advertisement)
      let subscriber = try #require(try await log.next("didSubscribe").central)
      first = nil

      let second = PeripheralRole(restoration: "peripheral")
      let restoring = try await second.log.next("willRestoreState")
      #expect(restoring.state == .unknown && restoring.isOnQueue)
      let services = restoring.data[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
      let again = try #require(services?.first)
      #expect(services?.count == 1 && again.uuid == belt.service.uuid && again.isPrimary)
      let characteristics = try #require(again.characteristics as? [CBMutableCharacteristic])
      #expect(characteristics.map(\.uuid) == belt.characteristics.map(\.uuid))
      #expect(characteristics.map(\.properties) == belt.characteristics.map(\.properties))
      #expect(characteristics.map(\.permissions) == belt.characteristics.map(\.permissions))
      #expect(characteristics[1].descriptors?.first?.value as? String == "Text")
      #expect(characteristics[2].value == Data([1]))
      let advertisement =
        restoring.data[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
      #expect(advertisement?[CBAdvertisementDataLocalNameKey] as? String == "Tests")
      #expect(
        advertisement?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
      try await second.log.next("didUpdateState") { $0.state == .poweredOn }
      #expect(second.manager.isAdvertising)
      // The phone visits repeatedly: the restored service serves it.
      let read = try await second.log.next("didReceiveRead")
      #expect(read.characteristic === characteristics[1])
      let subscribed = try await second.log.next("didSubscribe")
      #expect(subscribed.characteristic === characteristics[0])
      #expect(subscribed.central?.identifier == subscriber.identifier)
      #expect(second.manager.updateValue(Data([0, 60]), for: characteristics[0], onSubscribedCentrals: nil))
      second.manager.remove(again)
      second.manager.stopAdvertising()
      let observer = try await BledClient.connect(to: daemon.socket)
      try await until { try await observer.call(AdapterList.self, .init()).adapters.first?.advertising == 0 }
    }
  }
}
