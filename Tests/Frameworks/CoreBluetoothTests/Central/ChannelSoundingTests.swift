import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct ChannelSoundingTests {
    @Test("Channel Sounding is not supported, and says so")
    func sounding() async throws {
      let daemon = try await BledProcess()
      #expect(!CBCentralManager.supports(.channelSounding))
      let central = Central()
      let belt = try await central.connected("Belt")
      belt.startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
      let end = try await central.log.next("didCompleteChannelSounding")
      #expect(end.peripheral === belt)
      #expect((end.error as? CBError)?.code == .operationNotSupported)
      belt.cancelChannelSoundingSession()
      #expect(belt.state == .connected)
      #expect(CBError.channelSoundingProcedureFailed != CBError.channelSoundingConfigurationFailed)
      withExtendedLifetime(daemon) {}
    }
  }
}
