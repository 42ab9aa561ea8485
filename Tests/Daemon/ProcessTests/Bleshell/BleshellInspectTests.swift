import BledRPC
import Glibc
import Testing

/// `bleshell inspect`: a device on the whole screen of a terminal, or printed once.
@Suite(.serialized) struct BleshellInspectTests {
  @Test("the tree is moved in; a value is read, written and subscribed to in place; q gives the screen back")
  func screen() throws {
    let daemon = try DaemonProcess()
    let inspect = try TerminalProcess(daemon, ["inspect", "Echo"], size: (110, 40))
    try inspect.wait(for: "\u{1B}[?1049h")
    // With the name from its description, which is read when the tree is on the screen.
    try inspect.wait(for: "Echo (B1ED0002-5EED")
    try inspect.wait(for: "MTU 517")
    try inspect.wait(for: "not encrypted")
    try inspect.wait(for: " dBm (")
    // The characteristic in the last service.
    inspect.type("\u{1B}[F\u{1B}[A\u{1B}[A\u{1B}[A\u{1B}[A")
    try inspect.wait(for: ">   Echo (B1ED0002")
    inspect.type("w")
    try inspect.wait(for: "write 0x")
    inspect.type("Hello --text\r")
    try inspect.wait(for: "written ")
    inspect.type("r")
    try inspect.wait(for: "read ")
    try inspect.wait(for: "48656c6c6f")
    inspect.type("s")
    try inspect.wait(for: "*")
    inspect.type("w")
    try inspect.wait(for: "write 0x")
    inspect.type("7a\r")
    try inspect.wait(for: "notified ")
    inspect.resize(30, 6)
    inspect.forget()
    try inspect.wait(for: "> ")
    inspect.type("q")
    #expect(try inspect.exitStatus() == 0)
    #expect(inspect.isSane)
  }

  @Test("a read that needs pairing asks on the screen, and has the value then")
  func pairing() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [{ name: "Lock", address: "C0:DE:00:00:00:21", addressType: "random", interval: 0.05,
          advertising: { name: "Lock" }, pairing: { capability: "display", passkey: 42 },
          services: [{ uuid: "FFF0", characteristics: [{ uuid: "FFF2", text: "checked", security: "authenticated" }] }]
        }] }
        """)
    let inspect = try TerminalProcess(daemon, ["inspect", "Lock"], size: (110, 40))
    try inspect.wait(for: "FFF2")
    try inspect.wait(for: " dBm (")
    inspect.type("\u{1B}[Fr")
    try inspect.wait(for: #"the passkey that "Lock" shows: "#)
    inspect.type("000042\r")
    try inspect.wait(for: "636865636b6564")
    try inspect.wait(for: "16-octet key")
    inspect.type("q")
    #expect(try inspect.exitStatus() == 0)
    #expect(inspect.isSane)
  }

  @Test("a lost link is shown at once, and c connects again; in line mode the device is still the current one")
  func lost() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [
            { "name": "Shy", "address": "C0:DE:00:00:00:09", "addressType": "random", "disconnectAfter": 2,
              "advertising": { "name": "Shy" } } ] }
        """)
    let shell = try TerminalProcess(daemon)
    shell.type("connect Shy\ninspect\n")
    try shell.wait(for: "\u{1B}[?1049h")
    try shell.wait(for: "Generic Access")
    try shell.wait(for: "not connected")
    try shell.wait(for: "c connects again")
    shell.forget()
    shell.type("c")
    try shell.wait(for: "Shy  C0:DE:00:00:00:09 random  \(daemon.adapter(0))  connected")
    shell.type("q")
    try shell.wait(for: "Shy> ")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0)
    #expect(shell.isSane)
  }

  @Test("the end of the daemon, and signals, leave the terminal as it was")
  func ends() throws {
    for signal in [SIGKILL, SIGTERM, SIGHUP] {
      let daemon = try DaemonProcess()
      let inspect = try TerminalProcess(daemon, ["inspect", "Heart Belt"])
      try inspect.wait(for: "Heart Rate (180D)")
      if signal == SIGKILL { daemon.process.send(signal: signal) } else { inspect.send(signal: signal) }
      #expect(try inspect.exitStatus() == (signal == SIGKILL ? 1 : 128 + signal))
      #expect(inspect.isSane, "\(inspect.output.suffix(200).debugDescription)")
    }
  }

  @Test("without a terminal it prints link, tree and values once; as JSON in lines")
  func plain() throws {
    let daemon = try DaemonProcess()
    let text = try daemon.bleshell("inspect", "Heart Belt")
    #expect(text.status == 0 && text.output.hasPrefix("Heart Belt  C0:DE:00:00:00:01 random\n"), "\(text)")
    #expect(text.output.contains("MTU 247") && text.output.contains("not encrypted"))
    #expect(text.output.contains("Body Sensor Location (2A38)                   0x0011  read  chest\n"))
    let json = try daemon.bleshell("inspect", "Heart Belt", "--json")
    let lines = json.output.split(separator: "\n")
    #expect(json.status == 0 && lines.count == 11, "\(json.output)")
    #expect(lines.first?.contains(#""mtu":247"#) == true)
    #expect(lines.contains { $0.contains(#""text":"chest""#) && $0.contains(#""uuid":"2A38""#) })
  }
}
