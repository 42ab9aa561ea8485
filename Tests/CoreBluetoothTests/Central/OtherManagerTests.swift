import CoreBluetooth
import Testing

extension WithDaemon {
  /// Programs that find a device with one manager and connect to it with another.
  @Suite struct OtherManagerTests {
    @Test("R7: connect with another manager's object connects the manager's own object for the device")
    func connect() async throws {
      let daemon = try await BledProcess()
      let (finder, user) = (Central(), Central())
      for log in [finder.log, user.log] { try await log.next("didUpdateState") { $0.state == .poweredOn } }
      let found = try await finder.find("Belt")
      user.manager.connect(found)
      var made: Event? = try await user.log.next("didConnect")
      let own = try #require(made?.peripheral)
      #expect(own !== found && own.identifier == found.identifier && own.name == "Belt")
      #expect(own.state == .connected && found.state == .disconnected)
      made = nil
      user.manager.cancelPeripheralConnection(found)
      let ended = try await user.log.next("didDisconnect")
      #expect(ended.peripheral === own && ended.error == nil && own.state == .disconnected)
      withExtendedLifetime(daemon) {}
    }
  }
}
