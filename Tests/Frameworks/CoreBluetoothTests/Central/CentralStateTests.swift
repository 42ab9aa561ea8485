import BledClient
import CoreBluetooth
import Testing

/// Tests that need a daemon, or its absence: one after the other, because the environment names the socket.
@Suite(.serialized) enum WithDaemon {}

private final class Minimal: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {}
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}

extension WithDaemon {
  /// P24: without a daemon, when it ends and when it is restarted.
  @Suite struct CentralStateTests {
    @Test("R2: the state is unknown at first")
    func managersWithLittle() {
      setenv("BLED_SOCKET", "/nonexistent/bled.sock", 1)
      let minimal = Minimal()
      // The delegate is not called, so nothing changes, until the queue runs.
      let queue = DispatchQueue(label: "test")
      queue.suspend()
      defer { queue.resume() }
      let central = CBCentralManager(delegate: minimal, queue: queue)
      let peripheral = CBPeripheralManager(delegate: minimal, queue: queue, options: [:])
      #expect(central.state == .unknown)
      #expect(peripheral.state == .unknown)
      #expect(central.delegate === minimal)
      #expect(!central.isScanning)
      #expect(!peripheral.isAdvertising)
      #expect(CBManager.authorization == .allowedAlways)
      _ = CBCentralManager()
      _ = CBPeripheralManager()
      central.delegate = nil
      #expect(central.delegate == nil)
    }

    @Test("R5: delegates are weak")
    func delegatesAreWeak() {
      setenv("BLED_SOCKET", "/nonexistent/bled.sock", 1)
      let central = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "test"))
      do {
        let minimal = Minimal()
        central.delegate = minimal
        #expect(central.delegate != nil)
      }
      #expect(central.delegate == nil)
    }

    @Test("R2: without a daemon the state is unsupported, and calls are ignored")
    func noDaemonIsUnsupportedUntilThereIsOne() async throws {
      let daemon = try await BledProcess()
      await daemon.kill()
      let central = Central()
      let first = try await central.log.next("didUpdateState")
      #expect(first.state == .unsupported)
      #expect(central.manager.state == .unsupported)
      // Nothing happens and the delegate is not called.
      central.manager.scanForPeripherals(withServices: nil)
      #expect(!central.manager.isScanning)
      #expect(central.manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
      try await daemon.start()
      let second = try await central.log.next("didUpdateState")
      #expect(second.state == .poweredOn)
      #expect(second.isOnQueue)
      #expect(central.log.pending.isEmpty)
    }

    @Test("R2: an ignored call is reported as a misuse, and one that the daemon refuses is not")
    func whatIsSaid() async throws {
      let daemon = try await BledProcess(configuration: "{ limits: { perUser: { scans: 1 } } }")
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        // No update of the state is delivered on a suspended queue.
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        CBCentralManager(delegate: nil, queue: queue).stopScan()
        queue.resume()
        let first = Central()
        let second = Central()
        for central in [first, second] {
          try await central.log.next("didUpdateState") { $0.state == .poweredOn }
          central.manager.scanForPeripherals(withServices: nil)
          await central.barrier()
        }
        #expect(first.manager.isScanning && !second.manager.isScanning)
      }
      let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(said.contains("[CoreBluetooth] API MISUSE: stopScan while the state is unknown"))
      #expect(said.contains("[CoreBluetooth] the scan could not be started: "))
      withExtendedLifetime(daemon) {}
    }

    @Test("R3, R4: a daemon that dies and is restarted (P24)")
    func daemonThatDiesAndComesBack() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let rate = try await central.characteristic("2A37", of: "180D", on: belt)
      belt.setNotifyValue(true, for: rate)
      try await central.log.next("didUpdateNotificationStateFor")
      central.manager.scanForPeripherals(withServices: nil)
      await daemon.kill()
      #expect(try await central.log.next("didUpdateState").state == .resetting)
      let end = try await central.log.next("didDisconnect")
      #expect(end.peripheral === belt)
      #expect(end.error is CBError)
      #expect(end.isReconnecting == false)
      #expect(belt.state == .disconnected)
      #expect(!rate.isNotifying)
      #expect(!central.manager.isScanning)
      try await daemon.start()
      #expect(try await central.log.next("didUpdateState").state == .poweredOn)
      central.log.clear()
      let again = try await central.find("Belt")
      central.manager.connect(again)
      try await central.log.next("didConnect")
      #expect(again.state == .connected)
    }

    @Test("R7, R15: identifiers outlast the daemon, and so do objects that the program holds (G8, G21)")
    func identifiersOutlastTheDaemon() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let stored = daemon.folder.appendingPathComponent("peripherals")
      try await until {
        (try? String(contentsOf: stored, encoding: .utf8))?.contains(belt.identifier.uuidString) ?? false
      }
      await daemon.kill()
      try await central.log.next("didUpdateState") { $0.state == .resetting }
      try await central.log.next("didDisconnect")
      try await daemon.start()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      let other = Central()
      try await other.log.next("didUpdateState") { $0.state == .poweredOn }
      // The device has not been received since.
      let known = other.manager.retrievePeripherals(withIdentifiers: [UUID(), belt.identifier])
      #expect(known.map(\.identifier) == [belt.identifier])
      #expect(known.first !== belt && known.first?.name == "Belt")
      #expect(central.manager.retrievePeripherals(withIdentifiers: [belt.identifier]).first === belt)
      for (manager, peripheral) in [(central, belt), (other, try #require(known.first))] {
        manager.manager.connect(peripheral)
        #expect(try await manager.log.next("didConnect").peripheral === peripheral)
      }
    }

    @Test("R4: a daemon that stays away for 10 s is unsupported, and not before")
    func daemonThatStaysAway() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      // Real time: it may take longer, but not less.
      let lost = ContinuousClock.now
      await daemon.kill()
      try await central.log.next("didUpdateState") { $0.state == .resetting }
      #expect(try await central.log.next("didUpdateState").state == .unsupported)
      #expect(lost.duration(to: .now) >= .seconds(10))
      try await daemon.start()
      #expect(try await central.log.next("didUpdateState").state == .poweredOn)
    }

    @Test("R3: an adapter that is switched off and on (P24)")
    func adapterThatIsSwitchedOff() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      try await daemon.power(false)
      #expect(try await central.log.next("didUpdateState").state == .poweredOff)
      #expect(try await central.log.next("didDisconnect").error != nil)
      #expect(belt.state == .disconnected)
      try await daemon.power(true)
      #expect(try await central.log.next("didUpdateState").state == .poweredOn)
      withExtendedLifetime(daemon) {}
    }

    @Test(
      "G1: unauthorized without permission on the socket, and where the policy permits nothing",
      .enabled(if: geteuid() == 0, "needs root, to become another user"), arguments: ["0660", "0666"])
    func unauthorized(mode: String) async throws {
      let daemon = try await BledProcess(configuration: "{ socket: { mode: '\(mode)' } }")
      chmod(daemon.folder.path, 0o755)
      await #expect(processExitsWith: .success) {
        #expect(setgroups(0, nil) == 0 && setgid(54_321) == 0 && setuid(54_321) == 0)
        let central = Central()
        let role = PeripheralRole()
        for log in [central.log, role.log] { try await log.next("didUpdateState") }
        #expect(central.manager.state == .unauthorized && role.manager.state == .unauthorized)
        let isOpen = access(BledClient.defaultSocketPath, W_OK) == 0
        #expect(CBManager.authorization == (isOpen ? .allowedAlways : .denied))
        // Calls have no effect, and the delegate is not called.
        central.manager.scanForPeripherals(withServices: nil)
        role.manager.startAdvertising(nil)
        await central.log.settle()
        await role.log.settle()
        #expect(central.log.pending.isEmpty && role.log.pending.isEmpty)
      }
      withExtendedLifetime(daemon) {}
    }

    @Test func propertiesCanBeObserved() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let states = Values<CBManagerState>()
      let scans = Values<Bool>()
      let first = central.manager.observe(\.state, options: [.initial, .new]) { _, change in states.add(change.newValue)
      }
      let second = central.manager.observe(\.isScanning, options: [.old, .new]) { _, change in
        #expect(change.oldValue != change.newValue)
        scans.add(change.newValue)
      }
      try await central.log.next("didUpdateState")
      central.manager.scanForPeripherals(withServices: nil)
      central.manager.stopScan()
      #expect(states.all.last == .poweredOn)
      #expect(scans.all == [true, false])
      first.invalidate()
      second.invalidate()
      central.manager.scanForPeripherals(withServices: nil)
      #expect(scans.all == [true, false])
      withExtendedLifetime(daemon) {}
    }
  }
}

/// The values that an observer received.
private final class Values<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [Value] = []
  var all: [Value] { lock.withLock { list } }
  func add(_ value: Value?) { lock.withLock { if let value { list.append(value) } } }
}
