import CoreBluetooth
import Testing

extension WithDaemon {
  /// `peripheralIsReady(toSendWriteWithoutResponse:)` for programs that write first and wait for it then.
  @Suite struct ReadyToWriteTests {
    @Test("R22: after writes for which there was room the delegate is told once, when all of them have left")
    func afterRoom() async throws {
      let daemon = try await BledProcess()
      let central = Central()
      let echo = try await central.connected("Echo")
      let text = try await central.characteristic(Air.echo, of: Air.custom, on: echo)
      for number in 0..<3 {
        echo.writeValue(Data("\(number)".utf8), for: text, type: .withoutResponse)
        let ready = try await central.log.next("isReady")
        #expect(ready.isOnQueue && ready.peripheral === echo)
      }
      // On the queue of the manager, so that the burst is complete before the first write has left.
      central.log.queue.sync {
        for number in 0..<5 { echo.writeValue(Data("\(number)".utf8), for: text, type: .withoutResponse) }
        #expect(!central.log.pending.contains { $0.name == "isReady" })
      }
      try await central.log.next("isReady")
      await central.barrier()
      #expect(!central.log.pending.contains { $0.name == "isReady" })
      withExtendedLifetime(daemon) {}
    }
  }
}
