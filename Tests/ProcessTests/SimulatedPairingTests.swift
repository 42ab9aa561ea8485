import BledRPC
import Testing

/// Pairing with simulated devices, from `bleshell` and over the socket.
@Suite(.serialized) struct SimulatedPairingTests {
  private static func lock(_ pairing: String) -> String {
    """
    { devices: [{ name: "Lock", address: "C0:DE:00:00:00:21", addressType: "random", interval: 0.05,
      advertising: { name: "Lock" }, pairing: \(pairing),
      services: [{ uuid: "FFF0", characteristics: [
        { uuid: "FFF1", text: "secret", security: "encrypted" },
        { uuid: "FFF2", text: "checked", security: "authenticated" } ] }] }] }
    """
  }

  @Test("P22: a protected read pairs, and the bond outlasts the daemon")
  func protectedRead() throws {
    var daemon = try DaemonProcess(scenario: Self.lock("{}"))
    #expect(try daemon.bleshell("read", "Lock", "FFF1").output.contains("secret"))
    let bonds = try daemon.bleshell("pairing", "list")
    #expect(bonds.lines.last?.hasPrefix("Lock") == true && bonds.output.contains("encrypted"), "\(bonds.output)")
    daemon.process.send(signal: 15)
    _ = try daemon.process.exitStatus(within: 20)
    daemon = try DaemonProcess(scenario: Self.lock("{}"), folder: daemon.folder)
    #expect(try daemon.bleshell("pairing", "list").output == bonds.output)
    #expect(try daemon.bleshell("read", "Lock", "FFF1").output.contains("secret"))
    #expect(try daemon.bleshell("pairing", "list").output == bonds.output)
  }

  @Test("P21: bleshell pairs by passkey; with a wrong one it fails and says so")
  func passkey() throws {
    let daemon = try DaemonProcess(scenario: Self.lock("{ capability: \"display\", passkey: 42 }"))
    let wrong = try daemon.bleshell("pair", "Lock", "--level", "authenticated", "--passkey", "000043")
    #expect(wrong.status != 0 && wrong.errors.contains("passkey"), "\(wrong.errors)")
    let right = try daemon.bleshell("pair", "Lock", "--level", "authenticated", "--passkey", "000042")
    #expect(right.status == 0 && right.output.contains("secureConnections"), "\(right.output)\(right.errors)")
    #expect(try daemon.bleshell("read", "Lock", "FFF2").output.contains("checked"))
  }

  @Test("P21: numbers are compared; without a person the pairing is by Just Works, which is not enough for all")
  func comparison() throws {
    let daemon = try DaemonProcess(scenario: Self.lock("{ capability: \"displayYesNo\" }"))
    let plain = try daemon.bleshell("pair", "Lock")
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(try daemon.bleshell("read", "Lock", "FFF2").status != 0)
    #expect(try daemon.bleshell("pairing", "forget", "Lock").status == 0)
    let compared = try daemon.bleshell("pair", "Lock", "--level", "authenticated", "--yes")
    #expect(compared.status == 0 && compared.output.contains("secureConnections"), "\(compared.errors)")
  }

  @Test("P22: a device that lost its keys: the error says what to do, and it helps")
  func lostKeys() throws {
    let daemon = try DaemonProcess(scenario: Self.lock("{ losesKeys: true }"))
    #expect(try daemon.bleshell("pair", "Lock").status == 0)
    let lost = try daemon.bleshell("pair", "Lock")
    #expect(lost.status != 0 && lost.errors.contains("forget"), "\(lost.errors)")
    #expect(try daemon.bleshell("pairing", "forget", "Lock").status == 0)
    #expect(try daemon.bleshell("pair", "Lock").status == 0)
  }
}
