import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  /// A program that uses several adapters, or one of several.
  @Suite struct SeveralAdaptersTests {
    private let daemon: BledProcess
    /// Another program.
    private let other: BledClient

    init() async throws {
      daemon = try await BledProcess("{}", adapters: 2)
      other = try await BledClient.connect(to: daemon.socket)
    }

    private func adapters() async throws -> [AdapterDescription] {
      try await other.call(AdapterList.self, .init()).adapters
    }

    /// Waits until another program has received "Ours" this many times; returns the daemon's identifier.
    private func heard(_ count: Int) async throws -> UUID {
      var left = count
      for try await report in try await other.scan(.init(duplicates: true)) where report.name == "Ours" {
        left -= 1
        if left == 0 { return try #require(UUID(uuidString: report.peripheral)) }
      }
      throw CancellationError()
    }

    @Test("R33: a program does not hear its own advertisements, and does not connect to itself")
    func ownAdvertisements() async throws {
      let central = Central()
      let role = PeripheralRole()
      for log in [central.log, role.log] { try await log.next("didUpdateState") { $0.state == .poweredOn } }
      try await until { try await adapters().allSatisfy { $0.state == "on" } }
      central.manager.scanForPeripherals(
        withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Ours"])
      let identifier = try await heard(5)
      role.manager.stopAdvertising()
      try await until { try await adapters().allSatisfy { $0.advertising == 0 } }
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Ours"])
      _ = try await heard(5)
      await central.barrier()
      #expect(!central.log.pending.contains { $0.name == "didDiscover" })

      let own = try #require(central.manager.retrievePeripherals(withIdentifiers: [identifier]).first)
      central.manager.connect(own)
      let failure = try await central.log.next("didFailToConnect")
      #expect(failure.peripheral === own && own.state == .disconnected)
      #expect((failure.error as? CBError)?.code == .connectionFailed)
      #expect(try await adapters().allSatisfy { $0.links == 0 })

      // Another program may; this one does not find itself among the connected devices then.
      let link = try await other.connect(.identifier(identifier.uuidString), timeout: .seconds(300))
      let connected = central.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1800")])
      #expect(!connected.contains { $0 === own })
      withExtendedLifetime(link) {}
    }

    @Test("BLED_ADAPTER chooses the adapter of a program", arguments: [true, false])
    func chosenAdapter(byName: Bool) async throws {
      try await until { try await adapters().allSatisfy { $0.state == "on" } }
      let name = byName ? BledProcess.adapter(1) : try #require(try await adapters().last?.address).lowercased()
      let central = Central(adapter: name)
      let role = PeripheralRole(adapter: name)
      for log in [central.log, role.log] { try await log.next("didUpdateState") { $0.state == .poweredOn } }
      central.manager.scanForPeripherals(withServices: nil)
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Ours"])
      try await until { try await adapters().map(\.scanning) == [false, true] }
      #expect(try await adapters().map(\.advertising) == [0, 1])
      // Only the state of that adapter counts.
      _ = try await other.call(AdapterPower.self, .init(adapter: BledProcess.adapter(1), on: false))
      for log in [central.log, role.log] { try await log.next("didUpdateState") { $0.state == .poweredOff } }

      // The central connects with its adapter alone.
      _ = try await other.advertise(.init(name: "Theirs"))
      _ = try await other.call(AdapterPower.self, .init(adapter: BledProcess.adapter(1), on: true))
      let theirs = try await central.connected("Theirs")
      #expect(theirs.state == .connected)
      #expect(try await adapters().map(\.links) == [1, 1])
    }

    @Test("BLED_ADAPTER keeps published services to that adapter")
    func servicesOfOneAdapter() async throws {
      try await until { try await adapters().allSatisfy { $0.state == "on" } }
      let role = PeripheralRole(adapter: BledProcess.adapter(1))
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      role.manager.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
      try await role.log.next("didAdd")
      try await role.advertise([CBAdvertisementDataLocalNameKey: "There"])
      let there = try await other.connect(.name("There"), timeout: .seconds(300))
      #expect(try await there.discoverServices().contains { $0.uuid == 0x180D })
      _ = try await other.advertise(.init(adapter: BledProcess.adapter(0), name: "Here"))
      let here = try await other.connect(.name("Here"), timeout: .seconds(300))
      #expect(try await !here.discoverServices().contains { $0.uuid == 0x180D })
    }

    @Test("BLED_ADAPTER with an adapter that does not exist: unsupported, and told")
    func unknownAdapter() async throws {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let central = Central(adapter: "hci7")
        let first = try await central.log.next("didUpdateState")
        #expect(first.state == .unsupported)
      }
      let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(said.contains("BLED_ADAPTER") && said.contains("hci7"))
      #expect(said.contains("\(BledProcess.adapter(0)), \(BledProcess.adapter(1))"))
    }
  }
}
