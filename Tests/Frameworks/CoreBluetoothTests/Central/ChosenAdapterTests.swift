import BledClient
import CoreBluetooth
import Testing

extension WithDaemon {
  /// BLED_ADAPTER and the links of other programs.
  @Suite struct ChosenAdapterTests {
    @Test("BLED_ADAPTER: links on other adapters are neither retrieved nor reported")
    func linksOfOthers() async throws {
      let daemon = try await BledProcess(adapters: 2)
      let other = try await BledClient.connect(to: daemon.socket)
      let (here, elsewhere) = (Central(adapter: BledProcess.adapter(0)), Central(adapter: BledProcess.adapter(1)))
      for central in [here, elsewhere] {
        try await central.log.next("didUpdateState") { $0.state == .poweredOn }
        central.manager.registerForConnectionEvents(options: [:])
        await central.barrier()
      }
      let link = try await other.connect(.name("Belt"), adapter: BledProcess.adapter(0))
      #expect(try await here.log.next("connectionEvent").connectionEvent == .peerConnected)
      let heartRate = [CBUUID(string: "180D")]
      #expect(here.manager.retrieveConnectedPeripherals(withServices: heartRate).map(\.name) == ["Belt"])
      #expect(elsewhere.manager.retrieveConnectedPeripherals(withServices: heartRate).isEmpty)
      try await link.disconnect()
      #expect(try await here.log.next("connectionEvent").connectionEvent == .peerDisconnected)
      await elsewhere.barrier()
      #expect(!elsewhere.log.pending.contains { $0.name == "connectionEvent" })
      withExtendedLifetime(daemon) {}
    }
  }
}
