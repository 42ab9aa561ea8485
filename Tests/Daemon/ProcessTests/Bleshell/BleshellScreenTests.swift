import BledRPC
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The full-screen table of `bleshell scan`, and the effect of random keys on a terminal.
@Suite(.serialized) struct BleshellScreenTests {
  @Test("scan has the whole screen; Ctrl-C gives it back and prints the table")
  func scan() throws {
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan"])
    try scan.wait(for: "\u{1B}[?1049h")
    try scan.wait(for: "Heart Belt")
    try scan.wait(for: "Echo")
    #expect(scan.output.contains("RSSI*") && scan.output.contains("Enter connects"))
    scan.type("s")
    try scan.wait(for: "AGE*")
    scan.type("/heart")
    try scan.wait(for: "filter: heart_")
    scan.resize(40, 10)
    scan.forget()
    scan.type("\u{1B}")
    try scan.wait(for: "s sorts by name")
    scan.type("\u{03}")
    #expect(try scan.exitStatus() == 0)
    let after = scan.output.components(separatedBy: "\u{1B}[?1049l").last ?? ""
    #expect(after.contains("NAME") && after.contains("Heart Belt") && after.contains("Echo"), "\(after)")
    #expect(scan.isSane)
  }

  @Test("Enter connects to the selected device, shows it, and q goes on in line mode")
  func choose() throws {
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan"])
    try scan.wait(for: "Echo")
    scan.type("/echo\n")
    try scan.wait(for: "filter echo")
    scan.type("\u{1B}[B\n")
    try scan.wait(for: "connected to Echo")
    try scan.wait(for: "B1ED0001-5EED")
    scan.type("q")
    try scan.wait(for: "Echo> ")
    scan.type("quit\n")
    #expect(try scan.exitStatus() == 0)
    #expect(scan.isSane)
  }

  @Test("an adapter that goes away is told, on the screen and without one")
  func adapter() throws {
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan"])
    try scan.wait(for: "Echo")
    let plain = try daemon.start(["scan", "--time", "0"])
    try eventually("bleshell scans") {
      try daemon.client().call(SessionList.self, .init()).sessions.count { $0.scan != nil } == 2
    }
    _ = try daemon.client().call(AdapterPower.self, .init(adapter: nil, on: false))
    try scan.wait(for: "adapter \(daemon.adapter(0)) is off")
    scan.type("q")
    #expect(try scan.exitStatus() == 0)
    try eventually("it is told without a screen") { plain.errors.contains("adapter \(daemon.adapter(0)) is off") }
    plain.send(signal: SIGINT)
    #expect(try plain.exitStatus() == 0)
    #expect(scan.isSane)
  }

  @Test("a daemon that is killed ends the screen with an error, and the terminal is sane")
  func killed() throws {
    let daemon = try DaemonProcess()
    let scan = try TerminalProcess(daemon, ["scan"])
    try scan.wait(for: "Echo")
    daemon.process.send(signal: SIGKILL)
    #expect(try scan.exitStatus() == 1)
    #expect(scan.isSane && scan.output.contains("bleshell: "), "\(scan.output)")
  }

  /// A thousand keys, the same each time. BLED_PANIC_TIME: instead new keys for this number of seconds; `make panic`
  /// uses ten minutes. BLED_PANIC_SEED: the keys, as a number or "random".
  @Test("random keys, sizes and the end of the daemon leave the terminal as it was")
  func panic() throws {
    let environment = ProcessInfo.processInfo.environment
    let time = environment["BLED_PANIC_TIME"].flatMap { Int($0) }
    let seed = Seed.named("BLED_PANIC_SEED", otherwise: time == nil ? 2026 : nil)
    var generator = SeededRandom(seed: seed)
    // Real time: the duration of pressing keys, if requested.
    let end = time.map { ContinuousClock.now + .seconds($0) }
    var round = 0
    while end.map({ ContinuousClock.now < $0 }) ?? (round < 2) {
      round += 1
      let daemon = try DaemonProcess()
      let shell = try TerminalProcess(daemon)
      for _ in 0..<500 {
        shell.type(Self.keys.randomElement(using: &generator) ?? "")
        if Int.random(in: 0..<20, using: &generator) == 0 {
          shell.resize(.random(in: 0...120, using: &generator), .random(in: 0...40, using: &generator))
        }
        shell.read(for: .random(in: 0..<20, using: &generator))
      }
      if Bool.random(using: &generator) {
        daemon.process.send(signal: SIGKILL)
        shell.type("\u{03}\u{03}\u{04}\u{04}")
      }
      shell.read(for: 100)
      shell.send(signal: Bool.random(using: &generator) ? SIGTERM : SIGHUP)
      let status = try shell.exitStatus()
      // Ctrl-C and Ctrl-\ are signals while a command runs.
      #expect(
        [0, 1, 64, 130, 128 + SIGQUIT, 128 + SIGTERM, 128 + SIGHUP].contains(status),
        "seed \(seed): status \(status): \(Self.fault(in: shell.output))")
      #expect(shell.isSane, "seed \(seed): \(shell.output.suffix(500).debugDescription)")
    }
  }

  /// The message of a program that traps, or else its last words.
  private static func fault(in output: String) -> String {
    let line = output.split(whereSeparator: \.isNewline).first { $0.contains("Fatal error") }
    return line.map(String.init) ?? output.suffix(500).debugDescription
  }

  private static let keys = [
    "scan\n", "connect Echo\n", "connect heart\\ belt\n", "subscribe 2A37\n", "services\n", "inspect\n",
    "inspect Echo\n", "r", "w", "c", "read ", "\t", "\t\t", "q",
    "s", "/", "\n", "\u{03}", "\u{1B}", "\u{1B}[A", "\u{1B}[B", "\u{1B}[5~", "\u{1B}[6~", "\u{12}", "\u{1A}", "\u{0C}",
    "\u{7F}", "\u{15}", "é", "日本", "\u{1B}[200~", "\u{1B}[1;5", "'", "\"", "\\", "use Echo\n", "disconnect\n",
    "devices\n", "help\n", "?\n", "sacn\n", "x", "0x11 ", "--", "\u{00}", "\u{1C}", "power off\n", "power on\n",
  ]
}
