import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct CentralScanTests {
    @Test("R7, R8: one object for a device; what it advertises in the types of Apple's framework")
    func oneObjectForADeviceAndWhatItSays() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      central.manager.scanForPeripherals(
        withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
      #expect(central.manager.isScanning)
      let first = try await central.log.next("didDiscover") { $0.peripheral?.name == "Belt" }
      let second = try await central.log.next("didDiscover") { $0.peripheral?.name == "Belt" }
      #expect(first.peripheral === second.peripheral)
      #expect(first.isOnQueue)
      let coded = try #require(first.peripheral?.value(forKey: "identifier") as? NSUUID)
      #expect(coded.uuidString == first.peripheral?.identifier.uuidString)
      #expect(first.peripheral?.value(forKey: "name") as? String == "Belt")
      let data = first.data
      #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Belt")
      #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
      #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 0x01, 0x02]))
      #expect(data[CBAdvertisementDataIsConnectable] as? NSNumber == 1)
      #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
      #expect(try #require(first.rssi).intValue < 0)
      // Advertisement and scan response are merged.
      let echo = try await central.log.next("didDiscover") {
        $0.data[CBAdvertisementDataLocalNameKey] as? String == "Echo"
      }
      #expect(echo.data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: Air.custom)])
      let battery = echo.data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
      #expect(battery?[CBUUID(string: "180F")] == Data([0x64]))
      withExtendedLifetime(daemon) {}
    }

    @Test("R6: one report of a device, and again with a new scan")
    func oneReportADeviceUnlessItsDataChanges() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      // With retained objects: a released device is a new one the next time.
      central.manager.scanForPeripherals(withServices: [CBUUID(string: "180D"), CBUUID(string: "1809")])
      let belt = try await central.log.next("didDiscover") { $0.peripheral?.name == "Belt" }
      let scale = try await central.log.next("didDiscover") { $0.peripheral?.name == "Scale" }
      // With duplicates there would be ten more.
      try await Central.hear(10, of: "Belt")
      await central.barrier()
      #expect(central.log.pending.isEmpty)
      // A new scan forgets earlier reports.
      central.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")])
      let again = try await central.log.next("didDiscover")
      #expect(again.peripheral === belt.peripheral)
      withExtendedLifetime((daemon, scale)) {}
    }

    @Test("R1: no report after stopScan")
    func nothingComesAfterStopScan() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      central.manager.scanForPeripherals(
        withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: true)])
      try await central.log.next("didDiscover")
      await central.log.settle()
      // On the manager's queue nothing can happen between the two.
      central.log.queue.sync {
        central.manager.stopScan()
        central.log.clear()
      }
      #expect(!central.manager.isScanning)
      await central.barrier()
      #expect(central.log.pending.isEmpty)
      #expect(!central.log.wasReentered)
      withExtendedLifetime(daemon) {}
    }

    @Test("R7: objects belong to one manager")
    func objectsBelongToOneManager() async throws {
      let daemon = try await BledProcess()
      let first = Central()
      let second = Central()
      try await first.log.next("didUpdateState")
      try await second.log.next("didUpdateState")
      let one = try await first.find("Belt")
      let other = try await second.find("Belt")
      #expect(one.identifier == other.identifier)
      #expect(one !== other)
      #expect(one != other)
      // For a peripheral of another manager the manager's own is connected.
      second.manager.connect(one)
      #expect(try await second.log.next("didConnect").peripheral === other)
      #expect(one.state == .disconnected)
      withExtendedLifetime(daemon) {}
    }

    @Test("R15: known devices are retrieved by their identifiers (G8)")
    func knownDevicesAreRetrieved() async throws {
      let daemon = try await BledProcess()
      let first = Central()
      try await first.log.next("didUpdateState")
      let belt = try await first.find("Belt")
      #expect(first.manager.retrievePeripherals(withIdentifiers: [belt.identifier, UUID()]) == [belt])
      let second = Central()
      try await second.log.next("didUpdateState")
      let known = second.manager.retrievePeripherals(withIdentifiers: [UUID(), belt.identifier])
      #expect(known.map(\.identifier) == [belt.identifier])
      #expect(known.first?.name == "Belt")
      #expect(known.first?.state == .disconnected)
      second.manager.connect(try #require(known.first))
      try await second.log.next("didConnect")
      withExtendedLifetime((daemon, known)) {}
    }

    @Test("R15: devices that are connected to other programs are retrieved by their services (G8)")
    func connectedDevicesAreRetrieved() async throws {
      let daemon = try await BledProcess()
      let first = Central()
      let belt = try await first.connected("Belt")
      let second = Central()
      try await second.log.next("didUpdateState")
      let found = second.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")])
      #expect(found.map(\.identifier) == [belt.identifier])
      #expect(found.first?.state == .disconnected)
      #expect(second.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1809")]).isEmpty)
      #expect(first.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]) == [belt])
      second.manager.connect(try #require(found.first))
      try await second.log.next("didConnect")
      #expect(belt.state == .connected)
      withExtendedLifetime((daemon, found)) {}
    }
  }
}
