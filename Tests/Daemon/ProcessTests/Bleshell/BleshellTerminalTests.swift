import BledRPC
import Glibc
import Testing

/// `bleshell` reading commands from a terminal.
@Suite(.serialized) struct BleshellTerminalTests {
  @Test("a prompt that names the device, completion, colour unless disabled, the end at Ctrl-D; the history is kept")
  func terminal() throws {
    let daemon = try DaemonProcess()
    for noColor in ["", "1"] {
      let shell = try TerminalProcess(daemon, environment: ["NO_COLOR": noColor])
      try shell.wait(for: "bleshell> ")
      shell.type("adap\t\nconnect Echo\nread nothing\ndisconnect\n\u{04}")
      #expect(try shell.exitStatus() == 0)
      let screen = shell.output
      #expect(screen.contains("ADAPTER"), "Tab made the command whole: \(screen)")
      #expect(screen.contains("Echo> "))
      #expect(screen.contains("no characteristic nothing"))
      #expect(screen.contains("disconnected from ") && screen.hasSuffix("bleshell> \r\u{1B}[10C\r\n"))
      #expect(screen.contains("\u{1B}[1m") == noColor.isEmpty)
      #expect(shell.isSane)
    }
    #expect(ChildProcess.read("\(daemon.folder.path)/bleshell_history").contains("connect"))
  }

  @Test("help on a terminal that says it is 10 columns wide and has no rows")
  func narrow() throws {
    let help = try TerminalProcess(try DaemonProcess(), ["help", "scan"], size: (10, 0))
    #expect(try help.exitStatus() == 0)
    #expect(help.output.contains("--duplicates"), "\(help.output)")
  }

  @Test(
    "a terminal without screens, or in a locale without UTF-8, gets lines in ASCII, and a prompt",
    arguments: [["TERM": ""], ["TERM": "dumb"], ["LANG": "C"], ["LANG": "de_DE.UTF-8", "LC_ALL": "de_DE"]])
  func plain(environment: [String: String]) throws {
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan", "--time", "2"], environment: environment, size: (44, 24))
    #expect(try scan.exitStatus() == 0)
    #expect(scan.output.contains("Heart Belt") && !scan.output.contains("\u{1B}"), "\(scan.output)")
    // Its lines are cut at the edge.
    let hasUTF8 = environment["LANG"] == nil
    #expect(hasUTF8 || scan.output.utf8.allSatisfy { $0 < 0x80 }, "\(scan.output)")
    let shell = try TerminalProcess(daemon, environment: environment)
    try shell.wait(for: "bleshell> ")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0 && !shell.output.contains("\u{1B}"), "\(shell.output)")
  }

  @Test("the line of a progress is removed before a value is printed, also that of another characteristic")
  func progress() throws {
    let daemon = try DaemonProcess()
    let terminal = try TerminalProcess(
      daemon, ["subscribe", "Heart Belt", "2A37", "+", "Battery", "2A19", "--count", "3"], size: (120, 24))
    #expect(try terminal.exitStatus() == 0)
    let parts = terminal.output.split(separator: "\r")
    #expect(parts.contains { $0.contains("Waiting for the first value") }, "\(terminal.output)")
    #expect(!parts.contains { $0.contains("Waiting for") && $0.contains(" bpm") }, "\(terminal.output)")
  }

  @Test("subscribe prints a value once, also while listen shows the values")
  func once() throws {
    let sent = (10..<60).map { "{ after: 0.2, value: \"\($0)\" }" }.joined(separator: ", ")
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ { name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random",
            advertising: { name: "Custom" },
            services: [ { uuid: "FFF0", characteristics: [
              { uuid: "FFF1", properties: ["notify"], rule: { kind: "recording", sent: [\(sent)] } } ] } ] } ] }
        """)
    let shell = try TerminalProcess(daemon, environment: ["NO_COLOR": "1"], size: (120, 24))
    try shell.wait(for: "bleshell> ")
    shell.type("connect Custom\nlisten FFF1\nsubscribe FFF1 --count 3\nlisten --stop\nquit\n")
    #expect(try shell.exitStatus() == 0)
    let values = shell.output.split(separator: "FFF1: ").dropFirst().map { String($0.prefix(2)) }
    #expect(values.count >= 3 && Set(values).count == values.count, "\(shell.output)")
  }

  @Test("LC_CTYPE goes before LANG")
  func characters() throws {
    let environment = ["LANG": "C", "LC_CTYPE": "C.utf8"]
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan"], environment: environment)
    try scan.wait(for: "\u{1B}[?1049h")
    scan.type("q")
    #expect(try scan.exitStatus() == 0)
  }

  @Test("Ctrl-C at the prompt discards the line")
  func discard() throws {
    let daemon = try DaemonProcess()
    let shell = try TerminalProcess(daemon)
    try shell.wait(for: "bleshell> ")
    shell.type("power off\u{03}\n")
    try shell.wait(for: "^C")
    shell.type("power on\n")
    try shell.wait(for: "\(daemon.adapter(0)) is on")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0)
    #expect(
      !shell.output.contains("\(daemon.adapter(0)) is off") && !shell.output.contains("is off"), "\(shell.output)")
  }

  @Test("Ctrl-C ends a command, and then the prompt is back")
  func interrupt() throws {
    let daemon = try DaemonProcess()
    let shell = try TerminalProcess(daemon)
    shell.type("subscribe \"Heart Belt\" 2A37\n")
    try shell.wait(for: " bpm")
    shell.forget()
    shell.type("\u{03}")
    try shell.wait(for: "bleshell> ")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0)
    #expect(shell.isSane)
  }

  @Test("several devices; Tab discovers what the current one has and offers what fits the verb")
  func devices() throws {
    let daemon = try DaemonProcess()
    let shell = try TerminalProcess(daemon)
    shell.type("connect Echo\nconnect 'Heart Belt'\n")
    try shell.wait(for: "Heart Belt> ")
    shell.forget()
    shell.type("subscribe \t")
    try shell.wait(for: "subscribe ")
    try shell.wait(for: "2A37")
    #expect(!shell.output.contains("Body Sensor"), "it cannot be subscribed to")
    shell.type("\u{15}read body\t")
    try shell.wait(for: #"read Body\ Sensor\ Location "#)
    shell.type("\n")
    try shell.wait(for: "chest")
    shell.type("use ech\t\n")
    try shell.wait(for: "Echo> ")
    shell.forget()
    shell.type("read\n")
    try shell.wait(for: "read needs a CHARACTERISTIC of Echo, one of:")
    try shell.wait(for: "B1ED0002")
    shell.type("read 17\ndevices\n")
    try shell.wait(for: "connected, current")
    try shell.wait(for: "connected, here")
    #expect(shell.output.contains("write it in hex: 0x0011"))
    shell.type("disconnect \"Heart Belt\"\nuse Heart\n")
    try shell.wait(for: "Heart is not connected here; connected: Echo")
    shell.type("sacn\n")
    try shell.wait(for: "did you mean scan?")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0)
    #expect(shell.isSane)
  }

  @Test("a prompt of a shell that connect began is its only one, and says at once that the link is lost")
  func lost() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [
            { "name": "Shy", "address": "C0:DE:00:00:00:09", "addressType": "random", "disconnectAfter": 2,
              "advertising": { "name": "Shy" } },
            { "name": "Calm", "address": "C0:DE:00:00:00:0A", "addressType": "random",
              "advertising": { "name": "Calm" } } ] }
        """)
    let shell = try TerminalProcess(daemon, ["connect", "Calm"])
    try shell.wait(for: "Calm> ")
    shell.type("connect Shy\n")
    try shell.wait(for: "Shy> ")
    shell.type("power of")
    shell.forget()
    // Nothing is typed now.
    try shell.wait(for: "Shy disconnected")
    try shell.wait(for: "\"use Calm\" switches to another device")
    try shell.wait(for: "bleshell> power of")
    shell.type("\u{03}quit\n")
    #expect(try shell.exitStatus() == 0, "one quit ends the one shell")
    #expect(shell.isSane)
  }

  @Test("signals that end it leave the terminal as it was")
  func signals() throws {
    let daemon = try DaemonProcess()
    for signal in [SIGTERM, SIGHUP] {
      let shell = try TerminalProcess(daemon)
      try shell.wait(for: "bleshell> ")
      #expect(!shell.isSane, "keys come one by one")
      shell.send(signal: signal)
      #expect(try shell.exitStatus() == 128 + signal)
      #expect(shell.isSane)
    }
  }

  @Test("one that was stopped and goes on has its modes again, whatever the terminal was set to meanwhile")
  func goesOn() throws {
    let daemon = try DaemonProcess()
    let shell = try TerminalProcess(daemon, ["scan"])
    try shell.wait(for: "Echo")
    shell.send(signal: SIGSTOP)
    shell.makeSane()
    #expect(shell.hasModesOfBefore)
    shell.forget()
    shell.send(signal: SIGCONT)
    try shell.wait(for: "\u{1B}[?1049h")
    try shell.wait(for: "Echo")
    #expect(!shell.hasModesOfBefore, "keys come one by one again")
    shell.type("q")
    #expect(try shell.exitStatus() == 0)
    #expect(shell.isSane)
  }
}
