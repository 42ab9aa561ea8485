import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct ConnectionTests {
    @Test("R11, R16, R25: connect, connect again, cancel")
    func connectAndCancel() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      let belt = try await central.find("Belt")
      #expect(belt.state == .disconnected)
      #expect(belt.maximumWriteValueLength(for: .withoutResponse) == 20)
      // On the delegate's queue no call can occur in between.
      central.log.queue.sync {
        central.manager.connect(belt)
        #expect(belt.state == .connecting)
      }
      let connected = try await central.log.next("didConnect")
      #expect(connected.peripheral === belt)
      #expect(connected.isOnQueue)
      #expect(belt.state == .connected)
      #expect(belt.maximumWriteValueLength(for: .withResponse) == 512)
      #expect(belt.maximumWriteValueLength(for: .withoutResponse) > 20)
      // The second call is answered again.
      central.manager.connect(belt)
      try await central.log.next("didConnect")
      central.log.queue.sync {
        central.manager.cancelPeripheralConnection(belt)
        #expect(belt.state == .disconnecting)
      }
      let ended = try await central.log.next("didDisconnect")
      #expect(ended.error == nil)
      #expect(ended.isReconnecting == false)
      #expect(belt.state == .disconnected)
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test("R11: connect during a disconnection")
    func connectAgainWhileTheConnectionEnds() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      central.manager.cancelPeripheralConnection(belt)
      central.manager.connect(belt)
      #expect(try await central.log.next("didDisconnect").error == nil)
      try await central.log.next("didConnect")
      #expect(belt.state == .connected)
      withExtendedLifetime(daemon) {}
    }

    @Test("R11: a connect waits until it is cancelled")
    func aConnectWaitsUntilItIsCancelled() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      let far = try await central.find("Far")
      central.manager.connect(far)
      // Every attempt fails, and the delegate is not called.
      try await Central.hear(10, of: "Far")
      await central.barrier()
      #expect(far.state == .connecting)
      #expect(central.log.pending.isEmpty)
      central.manager.cancelPeripheralConnection(far)
      let ended = try await central.log.next("didDisconnect")
      #expect(ended.error == nil)
      #expect(far.state == .disconnected)
      withExtendedLifetime(daemon) {}
    }

    @Test func startDelay() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      let belt = try await central.find("Belt")
      // Real time: it may take longer, but not less.
      let begin = ContinuousClock.now
      central.manager.connect(belt, options: [CBConnectPeripheralOptionStartDelayKey: NSNumber(value: 0.5)])
      try await central.log.next("didConnect")
      #expect(ContinuousClock.now - begin >= .milliseconds(500))
      withExtendedLifetime(daemon) {}
    }

    @Test("R13, R14: a device that disconnects")
    func aDeviceThatHangsUp() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let scale = try await central.connected("Scale")
      try await daemon.disconnect("Scale")
      let ended = try await central.log.next("didDisconnect")
      #expect(ended.peripheral === scale)
      #expect((ended.error as? CBError)?.code == .peripheralDisconnected)
      #expect(ended.isReconnecting == false)
      #expect(scale.state == .disconnected)
      // A request on it is ignored.
      scale.discoverServices(nil)
      await central.log.settle()
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test func automaticReconnection() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      let scale = try await central.find("Scale")
      central.manager.connect(scale, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
      try await central.log.next("didConnect")
      try await daemon.disconnect("Scale")
      let ended = try await central.log.next("didDisconnect")
      #expect(ended.isReconnecting == true)
      #expect(ended.error != nil)
      try await central.log.next("didConnect")
      #expect(scale.state == .connected)
      central.manager.cancelPeripheralConnection(scale)
      #expect(try await central.log.next("didDisconnect").isReconnecting == false)
      withExtendedLifetime(daemon) {}
    }

    @Test("automatic reconnection: the last connect decides")
    func automaticReconnectionTakenBack() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState")
      let scale = try await central.find("Scale")
      let automatic = [CBConnectPeripheralOptionEnableAutoReconnect: true]
      central.manager.connect(scale, options: automatic)
      try await central.log.next("didConnect")
      // While it is connected.
      central.manager.connect(scale)
      try await central.log.next("didConnect")
      try await daemon.disconnect("Scale")
      #expect(try await central.log.next("didDisconnect").isReconnecting == false)
      #expect(scale.state == .disconnected)
      central.manager.connect(scale)
      try await central.log.next("didConnect")
      central.manager.connect(scale, options: automatic)
      try await central.log.next("didConnect")
      try await daemon.disconnect("Scale")
      #expect(try await central.log.next("didDisconnect").isReconnecting == true)
      // While the connection is pending: there is one answer.
      central.manager.connect(scale)
      try await central.log.next("didConnect")
      try await daemon.disconnect("Scale")
      #expect(try await central.log.next("didDisconnect").isReconnecting == false)
      await central.barrier()
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test func theOlderFormIsCalledIfTheNewerIsMissing() async throws {
      final class Older: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        let log = EventLog()
        func centralManagerDidUpdateState(_ central: CBCentralManager) { log.add(Event(name: "state")) }
        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
          log.add(Event(name: "connected"))
        }
        func centralManager(
          _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
        ) {
          log.add(Event(name: "disconnected", error: error))
        }
      }
      let daemon = try await BledProcess()
      let finder = Central()
      try await finder.log.next("didUpdateState")
      let identifier = try await finder.find("Belt").identifier
      let older = Older()
      let manager = CBCentralManager(delegate: older, queue: older.log.queue)
      try await older.log.next("state")
      let belt = try #require(manager.retrievePeripherals(withIdentifiers: [identifier]).first)
      manager.connect(belt)
      try await older.log.next("connected")
      manager.cancelPeripheralConnection(belt)
      #expect(try await older.log.next("disconnected").error == nil)
      withExtendedLifetime(daemon) {}
    }

    @Test("R12: a link is shared, and each manager ends its own use of it")
    func aLinkIsSharedAndEachManagerHasItsOwnEnd() async throws {
      let daemon = try await BledProcess()
      let first = Central()
      let second = Central()
      let one = try await first.connected("Belt")
      try await second.log.next("didUpdateState")
      // A connected device does not advertise.
      let other = try #require(second.manager.retrievePeripherals(withIdentifiers: [one.identifier]).first)
      other.delegate = second
      second.manager.connect(other)
      try await second.log.next("didConnect")
      first.manager.cancelPeripheralConnection(one)
      #expect(try await first.log.next("didDisconnect").error == nil)
      #expect(other.state == .connected)
      other.readRSSI()
      #expect(try await second.log.next("didReadRSSI").error == nil)
      #expect(second.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test(
      "R5: a peripheral that is released is disconnected, or its pending connection is cancelled",
      arguments: ["Belt", "Far"])
    func aPeripheralThatIsLetGoOfIsDisconnected(name: String) async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let observer = try await BledClient.connect(to: daemon.socket)
      func connected() async throws -> Int {
        try await observer.call(PeripheralList.self, .init()).peripherals.filter { $0.state != "disconnected" }.count
      }
      weak var gone: CBPeripheral?
      do {
        try await central.log.next("didUpdateState") { $0.state == .poweredOn }
        let device = try await central.find(name)
        gone = device
        central.manager.connect(device)
        try await until { try await connected() == 1 }
        await central.barrier()
        central.log.clear()
      }
      try await until { gone == nil }
      try await until { try await connected() == 0 }
      #expect(try await connected() == 0 && gone == nil)
    }

    @Test("R5: releasing a manager releases everything that it holds")
    func aManagerThatIsLetGoOfGivesEverythingBack() async throws {
      let daemon = try await BledProcess()
      let observer = try await BledClient.connect(to: daemon.socket)
      weak var gone: CBCentralManager?
      do {
        let central = Central()
        let belt = try await central.connected("Belt")
        central.manager.scanForPeripherals(withServices: nil)
        gone = central.manager
        withExtendedLifetime(belt) {}
      }
      try await until { gone == nil }
      try await until {
        let adapter = try #require(try await observer.call(AdapterList.self, .init()).adapters.first)
        return adapter.links == 0 && !adapter.scanning
      }
    }
  }
}
