import BledRPC
import FoundationEssentials
import Testing

/// Pairing with simulated devices, from `bleshell` and over the socket.
@Suite(.serialized) struct DaemonPairingTests {
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
    _ = try daemon.process.exitStatus()
    daemon = try DaemonProcess(scenario: Self.lock("{}"), folder: daemon.folder)
    #expect(try daemon.bleshell("pairing", "list").output == bonds.output)
    #expect(try daemon.bleshell("read", "Lock", "FFF1").output.contains("secret"))
    #expect(try daemon.bleshell("pairing", "list").output == bonds.output)
  }

  @Test("bluetoothd's bonds are taken over, one by one, and what cannot be is said")
  func imported() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    let key = "Key=00112233445566778899AABBCCDDEEFF\nEncSize=16\nEDiv=7\nRand=9"
    let folder = "\(daemon.folder.path)/bluetooth"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func store(_ device: String, _ content: String) throws {
      let path = "\(folder)/00:1A:7D:DA:71:13/\(device)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Data("[General]\nName=Thing\nAddressType=static\n\(content)".utf8).write(to: URL(filePath: "\(path)/info"))
    }
    // BlueZ writes the second key under both its names.
    try store(
      "F0:F1:F2:F3:F4:01",
      ["LongTermKey", "PeripheralLongTermKey", "SlaveLongTermKey"].map { "[\($0)]\n\(key)\nAuthenticated=1\n" }.joined()
    )
    try store("F0:F1:F2:F3:F4:02", "[LongTermKey]\n\(key)\nAuthenticated=4\n")
    try store("F0:F1:F2:F3:F4:03", "[LinkKey]\n\(key)\n")
    try store(
      "F0:F1:F2:F3:F4:04", "[LongTermKey]\nKey=\(String(repeating: "0", count: 32))\nAuthenticated=2\nEncSize=16\n")
    try store("F0:F1:F2:F3:F4:05", "[LongTermKey]\n\(key)\nAuthenticated=2\n")
    let taken = try daemon.bleshell("pairing", "import", "--from", folder)
    #expect(taken.status == 0, "\(taken.errors)")
    for number in [1, 5] { #expect(taken.output.contains("took over F0:F1:F2:F3:F4:0\(number)"), "\(taken.output)") }
    for number in 2...4 { #expect(taken.errors.contains("F0:F1:F2:F3:F4:0\(number)"), "\(taken.errors)") }
    let list = try daemon.bleshell("pairing", "list").output
    #expect(list.contains("F0:F1:F2:F3:F4:01") && list.contains("authenticated") && list.contains("F0:F1:F2:F3:F4:05"))
    #expect(try daemon.bleshell("pairing", "import", "--from", "\(folder)/none").status != 0)
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
    let tooWeak = try daemon.bleshell("pair", "Lock", "--level", "authenticated")
    #expect(tooWeak.status != 0 && tooWeak.errors.contains("--yes or --passkey"), "\(tooWeak.errors)")
    #expect(try daemon.bleshell("pairing", "list").output.contains("no device"))
    let plain = try daemon.bleshell("pair", "Lock")
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(try daemon.bleshell("read", "Lock", "FFF2").status != 0)
    // A weaker bond is replaced, or stays.
    let again = try daemon.bleshell("pair", "Lock", "--level", "authenticated")
    #expect(again.status != 0 && again.errors.contains("--yes or --passkey"), "\(again.errors)")
    #expect(try daemon.bleshell("pairing", "list").output.contains("encrypted"))
    let compared = try daemon.bleshell("pair", "Lock", "--level", "authenticated", "--yes")
    #expect(compared.status == 0 && compared.output.contains("secureConnections"), "\(compared.errors)")
  }

  @Test("P22: a device that lost its keys: the error says what to do, and it helps")
  func lostKeys() throws {
    let daemon = try DaemonProcess(scenario: Self.lock("{ losesKeys: true }"))
    #expect(try daemon.bleshell("pair", "Lock").status == 0)
    let lost = try daemon.bleshell("pair", "Lock")
    #expect(lost.status != 0 && lost.errors.contains("remove the pairing on both sides"), "\(lost.errors)")
    #expect(try daemon.bleshell("pairing", "forget", "Lock").status == 0)
    #expect(try daemon.bleshell("pair", "Lock").status == 0)
  }
}
