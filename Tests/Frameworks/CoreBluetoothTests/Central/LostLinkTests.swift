import BledRPC
import Bluetooth
import CoreBluetooth
import Testing

extension WithDaemon {
  /// Ends of links, in the daemon's order of reporting them and the adapter.
  @Suite struct LostLinkTests {
    private let daemon: PlayedDaemon
    private let central: Central
    private let device: CBPeripheral

    init() async throws {
      daemon = try PlayedDaemon(adapters: ["hci0", "hci1"])
      let central = Central()
      self.central = central
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      device = try #require(central.manager.retrievePeripherals(withIdentifiers: [PlayedDaemon.device]).first)
      central.manager.connect(device, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
      try await central.log.next("didConnect")
    }

    private func end(_ reason: BluetoothError) throws {
      try daemon.notify(
        PeripheralDisconnected.self,
        .init(peripheral: PlayedDaemon.device.uuidString, reason: RPCError(reason), reconnecting: true))
    }

    private func change(_ adapter: String, to state: AdapterCondition) throws {
      try daemon.notify(AdapterChanged.self, PlayedDaemon.adapter(adapter, state))
    }

    private static let off = GAPError.adapterOff.error("the adapter was switched off")
    private static let local = BluetoothError(domain: .hci, code: 0x16, name: "terminatedByLocalHost", message: "ended")

    @Test("R13: a link that is back at once is told as ended, then as connected", arguments: [off, local])
    func back(reason: BluetoothError) async throws {
      try end(reason)
      try daemon.notify(PeripheralConnected.self, PlayedDaemon.link)
      let ended = try await central.log.next("didDisconnect")
      #expect(ended.isReconnecting == true && (ended.error as? CBError)?.code == .peripheralDisconnected)
      try await central.log.next("didConnect")
      await central.barrier()
      #expect(device.state == .connected && central.log.pending.isEmpty)
    }

    @Test("R3, R13: the state is told before the links that ended with the adapter")
    func order() async throws {
      try change("hci1", to: .off)
      try end(Self.off)
      try change("hci0", to: .off)
      try await until { central.log.pending.count >= 2 }
      await central.barrier()
      let events = central.log.pending
      #expect(events.map(\.name) == ["didUpdateState", "didDisconnect"])
      #expect(events.last?.isReconnecting == false && device.state == .disconnected)
      #expect((events.last?.error as? CBError)?.code == .peripheralDisconnected)
    }

    @Test(
      "R13: the end of one adapter of two is told with its links' ends, without a new state", arguments: [true, false])
    func oneOfTwo(isToldFirst: Bool) async throws {
      if !isToldFirst { try change("hci0", to: .off) }
      try end(Self.off)
      if isToldFirst {
        await central.barrier()
        #expect(central.log.pending.isEmpty && device.state == .connected)
        try change("hci0", to: .off)
      }
      #expect(try await central.log.next("didDisconnect").isReconnecting == true)
      #expect(device.state == .connecting && central.log.pending.isEmpty)
    }

    @Test("R11: calls between the end of a link and the state of its adapter", arguments: [true, false])
    func calls(isConnect: Bool) async throws {
      try end(Self.off)
      await central.barrier()
      if isConnect { central.manager.connect(device) } else { central.manager.cancelPeripheralConnection(device) }
      await central.barrier()
      if isConnect { try change("hci0", to: .off) }
      #expect((try await central.log.next("didDisconnect").error == nil) == !isConnect)
      if isConnect { try await central.log.next("didConnect") }
      await central.barrier()
      #expect(device.state == (isConnect ? .connected : .disconnected) && central.log.pending.isEmpty)
    }
  }
}
