import BledRPC
import Testing

/// `bleshell` reading commands from a pipe.
@Suite(.serialized) struct BleshellLineModeTests {
  private let echo = "B1ED0002-5EED-4B1E-8D00-000000000000"

  @Test("commands share one connection; comments and blank lines are ignored")
  func connection() throws {
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell(
      input: """
        # write and read back
        connect Echo

        write \(echo) "Hello, Echo" --text
        read \(echo)
        read Echo \(echo) --json
        rssi
        disconnect
        peripherals

        """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.first?.hasPrefix("connected to Echo (C0:DE:00:00:00:04 random)") == true)
    #expect(run.lines.contains("wrote 11 octets to Echo (\(echo))"))
    #expect(run.lines.contains("Echo (\(echo)): \"Hello, Echo\"  48656c6c6f2c204563686f"))
    #expect(run.lines.contains { $0.hasSuffix(" dBm") })
    #expect(run.lines.contains("disconnected from Echo"))
    #expect(run.lines.contains { $0.hasPrefix("NAME") })
  }

  @Test("a line that fails is reported and the following ones run; the status is that of the first failure")
  func failure() throws {
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell(
      input: """
        read 2A19
        nonsense
        read "unclosed
        adapters
        quit
        read 2A19
        """)
    #expect(run.status == 1)
    #expect(run.errors.contains("no device is connected: name one, or connect first"))
    #expect(run.errors.contains("line 1 failed: read 2A19"))
    #expect(run.errors.contains("line 2 failed: nonsense"))
    #expect(run.errors.contains("line 3 failed"))
    #expect(!run.errors.contains("line 6"))
    #expect(run.lines.contains { $0.hasPrefix("ADAPTER") })
  }

  @Test("a disconnection is reported, and the device is no longer the current one")
  func disconnected() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [ { "name": "Shy", "address": "C0:DE:00:00:00:09", "addressType": "random", "disconnectAfter": 1,
            "advertising": { "name": "Shy", "services": ["180F"] },
            "services": [
              { "uuid": "180F", "characteristics": [ { "uuid": "2A19", "properties": ["notify"] } ] } ] } ] }
        """)
    let run = try daemon.bleshell(
      input: """
        connect Shy
        subscribe 2A19
        rssi

        """)
    #expect(run.status == 1)
    #expect(run.errors.contains("line 2 failed") && run.errors.contains("line 3 failed"))
    #expect(run.errors.contains("Shy disconnected"))
    // The third line may be run before the event arrives, and then the daemon refuses it.
    #expect(run.errors.contains("no device is connected") || run.errors.contains("not connected to"))
  }
}
