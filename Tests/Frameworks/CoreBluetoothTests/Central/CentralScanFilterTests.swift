import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct CentralScanFilterTests {
    private static let air = """
      { "devices": [
        { "name": "A", "address": "C0:DE:00:00:00:01", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "A", "services": ["180D"], "txPower": 4 } },
        { "name": "B", "address": "C0:DE:00:00:00:02", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "B", "services": ["180F"] } },
        { "name": "C", "address": "C0:DE:00:00:00:03", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "C", "solicitedServices": ["180D"] }, "connectable": false } ] }
      """

    /// The names received by a scan after each device has advertised several times.
    private func heard(_ services: [CBUUID]?, _ options: [String: Any]? = nil) async throws -> Set<String> {
      let central = Central()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      central.manager.scanForPeripherals(withServices: services, options: options)
      // The scan has started before the time is measured.
      await central.barrier()
      for name in ["A", "B", "C"] { try await Central.hear(4, of: name) }
      await central.barrier()
      return Set(central.log.pending.compactMap { $0.data[CBAdvertisementDataLocalNameKey] as? String })
    }

    @Test("R9, R10: the filter matches any of the services, and without one everything")
    func filters() async throws {
      let daemon = try await BledProcess(Self.air)
      let (rate, battery) = (CBUUID(string: "180D"), CBUUID(string: "180F"))
      #expect(try await heard(nil) == ["A", "B", "C"])
      #expect(try await heard([]) == ["A", "B", "C"])
      #expect(try await heard([rate]) == ["A"])
      #expect(try await heard([rate, battery]) == ["A", "B"])
      #expect(try await heard([CBUUID(string: "1809")]).isEmpty)
      let solicited = [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [rate]]
      #expect(try await heard([battery], solicited) == ["B", "C"])
      withExtendedLifetime(daemon) {}
    }

    @Test("R8: power, solicited services and connectability in their types")
    func types() async throws {
      let daemon = try await BledProcess(Self.air)
      let central = Central()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      central.manager.scanForPeripherals(withServices: nil)
      let first = try await central.log.next("didDiscover") { $0.peripheral?.name == "A" }.data
      #expect(first[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == 4)
      #expect(first[CBAdvertisementDataTxPowerLevelKey] as? Int == 4)
      let third = try await central.log.next("didDiscover") { $0.peripheral?.name == "C" }.data
      #expect(third[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
      #expect(third[CBAdvertisementDataIsConnectable] as? Bool == false)
      #expect(third[CBAdvertisementDataServiceUUIDsKey] == nil)
      withExtendedLifetime(daemon) {}
    }
  }
}
