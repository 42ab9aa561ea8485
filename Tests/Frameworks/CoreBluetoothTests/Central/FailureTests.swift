import CoreBluetooth
import Testing

extension WithDaemon {
  /// Connections that fail, and operations that end early.
  @Suite struct FailureTests {
    @Test("R3, R13: a pending connection fails when the adapter is switched off")
    func awaitedWhenBluetoothEnds() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await central.log.next("didUpdateState") { $0.state == .poweredOn }
      let far = try await central.find("Far")
      central.manager.connect(far)
      await central.barrier()
      try await daemon.power(false)
      #expect(try await central.log.next("didUpdateState").state == .poweredOff)
      let failure = try await central.log.next("didFailToConnect")
      #expect(failure.peripheral === far)
      #expect((failure.error as? CBError)?.code == .connectionFailed)
      #expect(far.state == .disconnected)
      // The state is not poweredOn: this has no effect.
      central.manager.connect(far)
      await central.barrier()
      #expect(far.state == .disconnected)
      #expect(central.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test("R3, R13: the state is told first when the adapter is switched off, then what ended with it")
    func orderAtPowerOff() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await connectAndWait(central)
      try await daemon.power(false)
      try await until { central.log.pending.count >= 4 }
      try check(central.log.pending, .poweredOff)
      withExtendedLifetime(daemon) {}
    }

    @Test("R4, R13: the state is told first when the daemon ends, then what ended with it", arguments: [true, false])
    func orderAtTheEndOfTheDaemon(isKilled: Bool) async throws {
      let daemon = try await BledProcess()
      let central = Central()
      try await connectAndWait(central)
      if isKilled { await daemon.kill() } else { await daemon.terminate() }
      try await until { central.log.pending.count >= 4 }
      try check(central.log.pending, .resetting)
    }

    /// Connects to Belt and Echo, the latter with automatic reconnection, and requests a connection to Far.
    private func connectAndWait(_ central: Central) async throws {
      let belt = try await central.connected("Belt")
      let echo = try await central.find("Echo")
      central.manager.connect(echo, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
      try await central.log.next("didConnect") { $0.peripheral === echo }
      let far = try await central.find("Far")
      central.manager.connect(far)
      await central.barrier()
      central.log.clear()
      retained.objects = [belt, echo, far]
    }

    /// The calls in order: the state, then the ends in any order.
    private func check(_ events: [Event], _ state: CBManagerState) throws {
      #expect(events.map(\.name).first == "didUpdateState" && events.first?.state == state)
      let ends = events.dropFirst()
      #expect(ends.map(\.name).sorted() == ["didDisconnect", "didDisconnect", "didFailToConnect"])
      for end in ends {
        let code = try #require(end.error as? CBError).code
        if end.name == "didFailToConnect" {
          #expect(code == .connectionFailed)
        } else {
          #expect([.peripheralDisconnected, .connectionTimeout].contains(code))
          #expect(end.isReconnecting == false)
        }
        #expect(end.peripheral?.state == .disconnected)
      }
      retained.objects = []
    }

    private let retained = Retained()
    private final class Retained { var objects: [CBPeripheral] = [] }

    @Test("R13: an adapter without room for more links is an error")
    func noRoomForALink() async throws {
      let open = try #require(Air.scenario.firstIndex(of: "{"))
      let rest = Air.scenario[Air.scenario.index(after: open)...]
      let daemon = try await BledProcess(#"{ "adapter": { "links": 1 }, "# + rest)
      let central = Central()
      let belt = try await central.connected("Belt")
      let echo = try await central.find("Echo")
      central.manager.connect(echo)
      let failure = try await central.log.next("didFailToConnect")
      #expect(failure.peripheral === echo)
      #expect((failure.error as? CBError)?.code == .connectionLimitReached)
      #expect(echo.state == .disconnected)
      #expect(belt.state == .connected)
      withExtendedLifetime(daemon) {}
    }

    @Test("R13, R14: a device that falls silent times out, and pending requests are not answered")
    func aDeviceThatFallsSilent() async throws {
      let daemon = try await BledProcess(
        Air.scenario(
          replacing: #""responseDelay": 0.4,"#, with: #""responseDelay": 0.4, "losses": { "link": 4 },"#))
      let central = Central()
      let slow = try await central.connected("Slow")
      let text = try await central.characteristic("2A8A", of: "181C", on: slow)
      for _ in 0..<16 { slow.readValue(for: text) }
      let end = try await central.log.next("didDisconnect")
      #expect((end.error as? CBError)?.code == .connectionTimeout)
      #expect(slow.state == .disconnected)
      await central.barrier()
      #expect(central.log.pending.filter { $0.name == "didUpdateValueFor characteristic" }.count < 16)
      #expect(central.log.pending.allSatisfy { $0.error == nil })
      withExtendedLifetime(daemon) {}
    }

    @Test("errors are objects, as on Apple's systems, and can be cast to the same types")
    func errorsAreObjects() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let belt = try await central.connected("Belt")
      let rate = try await central.characteristic("2A37", of: "180D", on: belt)
      belt.readValue(for: rate)
      let refused = try #require(try await central.log.next("didUpdateValueFor characteristic").error)
      #expect(type(of: refused) is NSError.Type)
      #expect((refused as? CBATTError)?.code == .readNotPermitted)
      #expect(refused as? CBError == nil)
      #expect(refused.localizedDescription == "Reading is not permitted.")
      let reason = try #require((refused as NSError).localizedFailureReason)
      #expect(reason.contains("cannot be read"))
      #expect("\(refused)".contains(reason) && !"\(refused)".contains("(null)"))
      belt.openL2CAPChannel(0x81)
      let failed = try #require(try await central.log.next("didOpen").error)
      #expect(failed.localizedDescription == "The connection has failed unexpectedly.")
      #expect(type(of: failed) is NSError.Type)
      switch failed {
      case CBError.connectionFailed: break
      default: Issue.record("not matched")
      }
      withExtendedLifetime(daemon) {}
    }

    @Test("R5: managers and peripherals may be released at any moment", arguments: Moment.allCases)
    fileprivate func released(at moment: Moment) async throws {
      let daemon = try await BledProcess()
      weak var manager: CBCentralManager?
      weak var peripheral: CBPeripheral?
      do {
        let central = Central()
        manager = central.manager
        switch moment {
        case .atOnce: break
        case .poweredOn: try await central.log.next("didUpdateState")
        case .scanning:
          try await central.log.next("didUpdateState")
          central.manager.scanForPeripherals(withServices: nil)
          try await central.log.next("didDiscover")
        case .connecting:
          try await central.log.next("didUpdateState")
          let belt = try await central.find("Belt")
          peripheral = belt
          central.manager.connect(belt)
        case .waiting:
          try await central.log.next("didUpdateState")
          let far = try await central.find("Far")
          peripheral = far
          central.manager.connect(far)
          await central.barrier()
        case .reading, .notified:
          let name = moment == .reading ? ("Slow", "2A8A", "181C") : ("Belt", "2A37", "180D")
          let device = try await central.connected(name.0)
          peripheral = device
          let value = try await central.characteristic(name.1, of: name.2, on: device)
          if moment == .reading { for _ in 0..<4 { device.readValue(for: value) } }
          if moment == .notified {
            device.setNotifyValue(true, for: value)
            try await central.log.next("didUpdateValueFor characteristic")
          }
        }
        central.log.clear()
      }
      try await until { manager == nil && peripheral == nil }
      // The daemon serves the next one.
      let next = Central()
      _ = try await next.connected("Belt")
      withExtendedLifetime(daemon) {}
    }

    fileprivate enum Moment: CaseIterable {
      case atOnce, poweredOn, scanning, connecting, waiting, reading, notified
    }
  }
}
