import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  /// The state of a central manager is preserved and handed to the next one.
  @Suite struct CentralRestorationTests {
    /// A manager that is subscribed to the belt's heart rate, and ends when `central` is released.
    private struct Subscribed {
      var central: Central?
      let log: EventLog
      let belt: CBPeripheral
      let rate: CBCharacteristic

      init() async throws {
        let central = Central(restoration: "central")
        log = central.log
        belt = try await central.connected("Belt")
        rate = try await central.characteristic("2A37", of: "180D", on: belt)
        belt.setNotifyValue(true, for: rate)
        try await log.next("didUpdateNotificationStateFor")
        self.central = central
      }
    }

    @Test("G20, R37, R38: willRestoreState, then the state, then the events; the restored objects continue")
    func restored() async throws {
      let daemon = try await BledProcess()
      var first = try await Subscribed()
      let belt = first.belt
      let far = try #require(try await first.central?.find("Far"))
      first.central?.manager.connect(far)
      first.central?.manager.scanForPeripherals(
        withServices: [CBUUID(string: "1809")],
        options: [
          CBCentralManagerScanOptionAllowDuplicatesKey: true,
          CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "1805")],
        ])
      let identifiers = (belt.identifier, far.identifier)
      try await first.log.next("didUpdateValueFor characteristic")
      first.central = nil
      let observer = try await BledClient.connect(to: daemon.socket)
      try await until {
        // The link stays, and the scan is that of a session in the background.
        let devices = try await observer.call(PeripheralList.self, .init()).peripherals
        return devices.first { $0.peripheral == belt.identifier.uuidString }?.state == "connected"
      }

      let second = Central(restoration: "central")
      let restoring = try await second.log.next("willRestoreState")
      #expect(restoring.state == .unknown && restoring.isOnQueue)
      let peripherals = try #require(restoring.data[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])
      #expect(Set(peripherals.map(\.identifier)) == [identifiers.0, identifiers.1])
      #expect(
        restoring.data[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] == [CBUUID(string: "1809")])
      let options = restoring.data[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
      #expect(options?[CBCentralManagerScanOptionAllowDuplicatesKey] as? Bool == true)
      let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
      #expect(solicited == [CBUUID(string: "1805")])
      try await second.log.next("didUpdateState") { $0.state == .poweredOn }
      #expect(second.manager.isScanning)

      let again = try #require(peripherals.first { $0.identifier == identifiers.0 })
      #expect(again !== belt && again.state == .connected && again.name == "Belt")
      let service = try #require(again.services?.first)
      #expect(again.services?.map(\.uuid) == [CBUUID(string: "180D")])
      let same = try #require(service.characteristics?.first { $0.uuid == CBUUID(string: "2A37") })
      #expect(same.isNotifying && same.service === service)
      let value = try await second.log.next("didUpdateValueFor characteristic")
      #expect(value.characteristic === same)
      again.discoverServices([CBUUID(string: "180D")])
      try await second.log.next("didDiscoverServices")
      #expect(again.services?.first === service)
      #expect(second.manager.retrievePeripherals(withIdentifiers: [identifiers.0]).first === again)
      let waiting = try #require(peripherals.first { $0.identifier == identifiers.1 })
      #expect(waiting.state == .connecting)
      second.manager.cancelPeripheralConnection(waiting)
      try await second.log.next("didDisconnect") { $0.peripheral === waiting }
      second.manager.cancelPeripheralConnection(again)
      let end = try await second.log.next("didDisconnect") { $0.peripheral === again }
      #expect(end.error == nil)
      #expect(!second.log.wasReentered)
    }

    @Test("G20: a connection that was made in the meantime is reported after the state")
    func connectedMeanwhile() async throws {
      let daemon = try await BledProcess()
      var first: Central? = Central(restoration: "central")
      let log = try #require(first?.log)
      try await log.next("didUpdateState") { $0.state == .poweredOn }
      let belt = try #require(try await first?.find("Belt"))
      // The delegate of the first manager is not called.
      first?.log.queue.sync {
        first?.manager.connect(belt)
        first = nil
      }
      let second = Central(restoration: "central")
      let restoring = try await second.log.next("willRestoreState")
      let peripherals = restoring.data[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral]
      let again = try #require(peripherals?.first)
      #expect(again.identifier == belt.identifier)
      try await until { again.state == .connected }
      let names = second.log.pending.map(\.name)
      #expect(names.first == "didUpdateState")
      withExtendedLifetime(daemon) {}
    }

    @Test("G20: automatic reconnection continues for the next manager")
    func reconnectsByItself() async throws {
      let daemon = try await BledProcess()
      var first: Central? = Central(restoration: "central")
      let log = try #require(first?.log)
      try await log.next("didUpdateState") { $0.state == .poweredOn }
      let scale = try #require(try await first?.find("Scale"))
      first?.manager.connect(scale, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
      try await log.next("didConnect")
      first = nil

      let second = Central(restoration: "central")
      let restoring = try await second.log.next("willRestoreState")
      let peripherals = restoring.data[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral]
      let again = try #require(peripherals?.first)
      try await daemon.disconnect("Scale")
      let lost = try await second.log.next("didDisconnect")
      #expect(lost.peripheral === again && lost.isReconnecting == true)
      try await second.log.next("didConnect")
      second.manager.cancelPeripheralConnection(again)
      #expect(try await second.log.next("didDisconnect").isReconnecting == false)
      withExtendedLifetime(daemon) {}
    }

    @Test("G21: a daemon that was killed and restarted restores what a program that is gone held")
    func daemonKilled() async throws {
      let daemon = try await BledProcess()
      var first = try await Subscribed()
      first.central = nil
      let file = daemon.folder.appendingPathComponent("sessions")
      // The time is 0 until the program has ended.
      try await until {
        let stored = try? String(contentsOf: file, encoding: .utf8)
        return stored?.range(of: #""since":[1-9]"#, options: .regularExpression) != nil
      }
      await daemon.kill()
      try await daemon.start()

      let second = Central(restoration: "central")
      let restoring = try await second.log.next("willRestoreState")
      let peripherals = restoring.data[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral]
      let again = try #require(peripherals?.first)
      #expect(again.identifier == first.belt.identifier && again.name == "Belt")
      let same = try #require(again.services?.first?.characteristics?.first { $0.uuid == first.rate.uuid })
      #expect(same.isNotifying)
      try await second.log.next("didUpdateState") { $0.state == .poweredOn }
      let value = try await second.log.next("didUpdateValueFor characteristic")
      #expect(value.characteristic === same && again.state == .connected)
    }

    @Test("G21: a program that saw the daemon end is told that everything ended, and holds nothing after the restart")
    func daemonKilledMeanwhile() async throws {
      let daemon = try await BledProcess()
      let central = Central(restoration: "central")
      let belt = try await central.connected("Belt")
      let file = daemon.folder.appendingPathComponent("sessions")
      try await until {
        (try? String(contentsOf: file, encoding: .utf8))?.contains(belt.identifier.uuidString) ?? false
      }
      await daemon.kill()
      try await central.log.next("didUpdateState") { $0.state == .resetting }
      try await central.log.next("didDisconnect") { $0.peripheral === belt }
      try await daemon.start()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      let observer = try await BledClient.connect(to: daemon.socket)
      try await until {
        let devices = try await observer.call(PeripheralList.self, .init()).peripherals
        return devices.allSatisfy { $0.state == "disconnected" }
      }
      #expect(belt.state == .disconnected)
      #expect(!central.log.pending.contains { $0.name == "willRestoreState" || $0.name == "didConnect" })
    }

    @Test("Nothing was preserved: no willRestoreState; an identifier in use by another manager is reported and ignored")
    func nothingKept() async throws {
      let daemon = try await BledProcess()
      let first = Central(restoration: "same")
      try await first.log.next("didUpdateState") { $0.state == .poweredOn }
      let second = Central(restoration: "same")
      try await second.log.next("didUpdateState") { $0.state == .poweredOn }
      #expect(first.log.pending.isEmpty && second.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }
  }
}
