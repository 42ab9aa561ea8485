import CoreBluetooth
import Testing

extension WithDaemon {
  /// Programs that find a device with one manager and connect to it with another.
  @Suite struct OtherManagerTests {
    @Test("R7: connect takes over the object of a manager that does not use the device")
    func takenOver() async throws {
      let daemon = try await BledProcess()
      let (finder, user) = (Central(), Central())
      for log in [finder.log, user.log] { try await log.next("didUpdateState") { $0.state == .poweredOn } }
      let found = try await finder.find("Echo")
      found.delegate = user
      user.manager.connect(found)
      #expect(try await user.log.next("didConnect").peripheral === found)
      #expect(found.state == .connected && found.maximumWriteValueLength(for: .withoutResponse) == 197)
      let text = try await user.characteristic(Air.echo, of: Air.custom, on: found)
      found.readValue(for: text)
      #expect(try await user.log.next("didUpdateValueFor characteristic").error == nil)
      // The manager that found it has another object for it from now on.
      let other = try #require(finder.manager.retrievePeripherals(withIdentifiers: [found.identifier]).first)
      #expect(other !== found && other.state == .disconnected)
      user.manager.cancelPeripheralConnection(found)
      #expect(try await user.log.next("didDisconnect").peripheral === found)
      #expect(finder.log.pending.isEmpty)
      // And back.
      finder.manager.connect(other)
      #expect(try await finder.log.next("didConnect").peripheral === other)
      withExtendedLifetime(daemon) {}
    }

    @Test("R7: connect with the object of a manager that uses the device connects the manager's own object")
    func connect() async throws {
      let daemon = try await BledProcess()
      let (finder, user) = (Central(), Central())
      try await user.log.next("didUpdateState") { $0.state == .poweredOn }
      let found = try await finder.connected("Belt")
      user.manager.connect(found)
      var made: Event? = try await user.log.next("didConnect")
      let own = try #require(made?.peripheral)
      #expect(own !== found && own.identifier == found.identifier && own.name == "Belt")
      #expect(own.state == .connected && found.state == .connected)
      made = nil
      user.manager.cancelPeripheralConnection(found)
      let ended = try await user.log.next("didDisconnect")
      #expect(ended.peripheral === own && ended.error == nil && own.state == .disconnected)
      withExtendedLifetime(daemon) {}
    }
  }
}
