import BledRPC
import Glibc
import Testing

/// `bleshell uart` on simulated devices that echo their input, and values for scripts.
@Suite(.serialized) struct BleshellSerialTests {
  private static let scenario = """
    { devices: [
        { name: "Nordic", address: "C0:DE:00:00:00:61", addressType: "random", advertising: { name: "Nordic" },
          services: [{ uuid: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", characteristics: [
            { uuid: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", properties: ["write", "writeWithoutResponse"] },
            { uuid: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", properties: ["notify"], value: "4f4b0a",
              notifyEvery: 0.2 }] }] },
        { name: "HM", address: "C0:DE:00:00:00:62", addressType: "random", advertising: { name: "HM" },
          services: [{ uuid: "FFE0", characteristics: [
            { uuid: "FFE1", properties: ["read", "writeWithoutResponse", "notify"],
              rule: { kind: "echo" } }] }] },
        { name: "Plain", address: "C0:DE:00:00:00:63", addressType: "random", advertising: { name: "Plain" },
          services: [{ uuid: "180F", characteristics: [
            { uuid: "2A19", properties: ["read"], value: "5f" }, { uuid: "2A26", properties: ["read"], value: "312e30" },
            { uuid: "FFF1", properties: ["read"], value: "ff00" }] }] } ] }
    """

  @Test("standard input goes to the device, and what it sends to standard output")
  func pipe() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let echo = try daemon.bleshell("uart", "HM", "--count", "6", input: "hello\n")
    #expect(echo.status == 0 && echo.output == "hello\n", "\(echo)")
    let long = String(repeating: "0123456789", count: 100)
    let packets = try daemon.bleshell("uart", "HM", "--rx", "FFE1", "--count", "1000", input: long)
    #expect(packets.output == long, "longer than a packet")
    let nordic = try daemon.bleshell("uart", "Nordic", "--count", "6")
    #expect(nordic.status == 0 && nordic.output == "OK\nOK\n", "\(nordic)")
    let ends = try daemon.bleshell("uart", "HM", "--line-end", "crlf", "--count", "3", input: "a\n")
    #expect(ends.output == "a\r\n", "\(ends)")
    let ended = try daemon.bleshell("uart", "HM", "--eof", input: long)
    #expect(ended.status == 0 && ended.output == long, "it ends with its input, and nothing is lost")
    let piped = try daemon.bleshell("uart", "HM", input: "hello\n")
    #expect(piped.status == 0 && piped.output == "hello\n", "it ends by itself with a pipe")
    let timed = try daemon.bleshell("uart", "HM", "--time", "0.5")
    #expect(timed.status == 0 && timed.output.isEmpty, "\(timed)")
  }

  @Test("what is no serial line is refused")
  func refused() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let unknown = try daemon.bleshell("uart", "Plain")
    #expect(unknown.status == 1 && unknown.errors.contains("Nordic UART, HM-10"), "\(unknown.errors)")
    let readOnly = try daemon.bleshell("uart", "Plain", "--rx", "2A19")
    #expect(readOnly.errors.contains("cannot be written without response"), "\(readOnly.errors)")
    #expect(try daemon.bleshell("uart", "Plain", "--link", "x").status == 64)
  }

  @Test("another program can use the device as a terminal, close it, and open it again")
  func pseudoTerminal() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let link = "\(daemon.folder.path)/port"
    let uart = try daemon.start(["uart", "HM", "--pty", "--link", link])
    try eventually("the link is there") { access(link, F_OK) == 0 || uart.hasEnded }
    for text in ["first\n", "second\n"] {
      let port = open(link, O_RDWR | O_NOCTTY)
      try #require(port >= 0)
      #expect(write(port, text, text.utf8.count) == text.utf8.count)
      var octets = [UInt8](repeating: 0, count: 64)
      var received: [UInt8] = []
      while received.count < text.utf8.count {
        let count = read(port, &octets, octets.count)
        guard count > 0 else { break }
        received += octets[..<count]
      }
      #expect(String(decoding: received, as: UTF8.self) == text)
      close(port)
    }
    uart.send(signal: SIGINT)
    #expect(try uart.exitStatus() == 0, "\(uart.errors)")
    #expect(access(link, F_OK) != 0, "the link is removed")
  }

  @Test("the end of the link ends the command, with its reason")
  func lost() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let uart = try daemon.start(["uart", "Nordic"])
    try eventually("it is used") { uart.output.contains("OK") }
    _ = try daemon.bleshell("power", "off")
    #expect(try uart.exitStatus() == 1 && !uart.errors.isEmpty, "\(uart.errors)")
  }

  @Test("read --value prints the value alone")
  func values() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    for (characteristic, form, printed) in [
      ("2A19", "number", "95\n"), ("2A19", "hex", "5f\n"), ("2A26", "text", "1.0\n"), ("2A26", "raw", "1.0"),
    ] {
      let read = try daemon.bleshell("read", "Plain", characteristic, "--value", form)
      #expect(read.status == 0 && read.output == printed, "\(read)")
    }
    #expect(try daemon.bleshell("read", "Plain", "2A26", "--value", "number").status == 1)
    #expect(try daemon.bleshell("read", "Plain", "FFF1", "--value", "text").status == 1)
    #expect(try daemon.bleshell("read", "Plain", "2A19", "--value", "raw", "--json").status == 64)
  }

  @Test("sleep, and values that are read, in ranges, as text and under a mask, in files for run")
  func scripts() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let good = try daemon.bleshell(
      input: """
        connect Plain
        sleep 0.1
        expect value 2A19 90..100 within 5
        expect value 2A26 1.0 --text within 5
        expect value FFF1 0f00 --mask 0fff within 5
        """)
    #expect(good.status == 0 && good.output.contains("95 %"), "\(good)")
    let bad = try daemon.bleshell(input: "connect Plain\nexpect value 2A19 1..2 within 0.5\n")
    #expect(bad.status == 2 && bad.errors.contains("not within 0.5 s: value 2A19 1..2"), "\(bad)")
    #expect(try daemon.bleshell("sleep", "x").status == 64)
  }

  @Test("--adapter chooses the adapter of a connection")
  func adapters() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario, adapters: 2)
    let connected = try daemon.bleshell("connect", "Plain", "--adapter", daemon.adapter(0), "--json")
    #expect(try connected.objects().first?["adapter"] == .text(daemon.adapter(0)), "\(connected)")
    // The devices of the file are not there for the second adapter.
    let missing = try daemon.bleshell("read", "Plain", "2A19", "--adapter", "nothing")
    #expect(missing.status == 1 && missing.errors.contains("nothing"), "\(missing)")
    let other = try daemon.bleshell(input: "connect Plain\nread 2A19 --adapter \(daemon.adapter(1))\n")
    #expect(other.errors.contains("Plain is connected over \(daemon.adapter(0)): disconnect first"), "\(other)")
  }

  @Test("values that are listened to are shown at the prompt, while something is typed")
  func listening() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let terminal = try TerminalProcess(daemon, [])
    try terminal.wait(for: "bleshell> ")
    terminal.type("connect Nordic\r")
    try terminal.wait(for: "Nordic> ")
    terminal.type("listen 6E400003\r")
    try terminal.wait(for: "4f4b0a")
    terminal.type("abc")
    try terminal.wait(for: "Nordic> abc")
    terminal.forget()
    try terminal.wait(for: "4f4b0a")
    try terminal.wait(for: "Nordic> abc")
    terminal.type("\u{15}listen 6E400003 --stop\rquit\r")
    #expect(try terminal.exitStatus() == 0)
  }
}
