import BledRPC
import Testing

/// Mistakes and dead ends that a new user meets: each is answered at once, with the remedy.
@Suite(.serialized) struct BleshellFrictionTests {
  private static let custom = """
    { devices: [ { name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random",
        advertising: { name: "Custom" },
        services: [ { uuid: "6F3C0001-0000-4000-8000-000000000000", characteristics: [
          { uuid: "6F3C0002-0000-4000-8000-000000000000", value: "4900", properties: ["read", "write"] } ] } ] } ] }
    """

  @Test("a device with private addresses is found by its name again and again", .timeLimit(.minutes(10)))
  func privateAddresses() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ { name: "Private", address: "C0:DE:00:00:00:67", addressType: "random", privateAddress: 20,
            advertising: { name: "Private" },
            services: [ { uuid: "180F", characteristics: [
              { uuid: "2A19", value: "64", properties: ["read"] } ] } ] } ] }
        """)
    let first = try daemon.bleshell("read", "Private", "2A19")
    #expect(first.output.contains("100 %"), "\(first.errors)")
    func addresses() throws -> Set<String> {
      _ = try daemon.bleshell("scan", "--time", "2")
      let known = try daemon.bleshell("devices", "--json").objects()
      return Set(known.compactMap { if case .text(let address)? = $0["address"] { address } else { nil } })
    }
    try eventually("the address has changed") { try addresses().count > 1 }
    let later = try daemon.bleshell("read", "Private", "2A19")
    #expect(later.output.contains("100 %"), "\(later.errors)")
    let list = try daemon.bleshell("devices")
    #expect(list.lines.first?.contains("HEARD") == true, "\(list.output)")
  }

  @Test("an attribute of the current device goes first, and a wrong argument is refused at once")
  func current() throws {
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell(
      input: """
        connect "Heart Belt"
        read 2A38 2A38
        write 2A38 01 02
        subscribe 2A37 foo
        listen 2A37
        listen --stop
        read Echo B1ED0002-5EED-4B1E-8D00-000000000000

        """)
    #expect(run.lines.count { $0.contains("Body Sensor Location (2A38)") } == 2, "\(run)")
    #expect(run.errors.contains("2A38 is a characteristic of the current device, Heart Belt"), "\(run.errors)")
    #expect(run.errors.contains("the device has no characteristic foo"), "\(run.errors)")
    #expect(!run.errors.contains("not heard") && !run.errors.contains("line 6"), "\(run.errors)")
    #expect(run.lines.contains { $0.hasPrefix("Echo (") }, "\(run)")
  }

  @Test("an address that is none, and the beginning of a UUID where no device is known, are refused")
  func mistyped() throws {
    let daemon = try DaemonProcess(scenario: Self.custom)
    for address in ["C0:DE:00:00:00:1", "C0:DE:00:00:00:0G", "C0:DE:00:00:00"] {
      let run = try daemon.bleshell("read", address, "2A38")
      #expect(run.status == 64 && run.errors.contains("\(address) is not an address"), "\(run.errors)")
    }
    #expect(try daemon.bleshell("read", "Custom", "6F3C0002").status == 0)
    for words in [
      ["name", "6F3C0002", "State"], ["simulation", "set-value", "Custom", "6F3C0002", "0102"],
      ["scan", "--service", "6F3C0001"],
    ] {
      let run = try daemon.bleshell(arguments: words)
      #expect(run.status == 64 && run.errors.contains("is the beginning of a UUID"), "\(words): \(run.errors)")
    }
    let range = try daemon.bleshell("range", "E2C56DB5", "--time", "1")
    #expect(range.status == 64 && range.errors.contains("32 digits"), "\(range.errors)")
    let format = try daemon.bleshell("read", "Custom", "6F3C0002", "--as", "u8 state; i16 t")
    #expect(format.status == 64 && format.errors.contains("commas between"), "\(format.errors)")
  }

  @Test("commands for a device that is connected before them say where that is")
  func alone() throws {
    let daemon = try DaemonProcess()
    for words in [["listen", "2A37"], ["expect", "value", "2A19", "64", "within", "1"]] {
      let run = try daemon.bleshell(arguments: words)
      #expect(run.status == 64 && run.errors.contains("bleshell run"), "\(words): \(run.errors)")
    }
  }

  @Test("a scan finds a device by the name that the user gives it, and by its own")
  func ownName() throws {
    let daemon = try DaemonProcess(scenario: Self.custom)
    #expect(try daemon.bleshell("name", "C0:DE:00:00:00:66", "Test stand").status == 0)
    for name in ["Test stand", "Custom"] {
      let scan = try longEnough(for: { $0.output.contains("Test stand") }) {
        try daemon.bleshell("scan", "--name", name, "--time", $0)
      }
      #expect(scan.output.contains("Test stand"), "\(name): \(scan.output)")
    }
    #expect(try daemon.bleshell("scan", "--name", "Test b", "--time", "2").errors.contains("no device was heard"))
  }

  @Test("write takes numbers by a format, as read prints them")
  func formats() throws {
    let daemon = try DaemonProcess(scenario: Self.custom)
    let wrote = try daemon.bleshell("write", "Custom", "6F3C0002", "--as", "u16", "300")
    #expect(wrote.status == 0, "\(wrote.errors)")
    #expect(try daemon.bleshell("read", "Custom", "6F3C0002", "--value", "hex").output == "2c01\n")
    let wrong = try daemon.bleshell("write", "Custom", "6F3C0002", "--as", "u16", "70000")
    #expect(wrong.status == 64 && wrong.errors.contains("does not fit into u16"), "\(wrong.errors)")
  }

  @Test("output that cannot be written is a failure with a reason")
  func full() throws {
    let daemon = try DaemonProcess()
    let line = "exec \(ChildProcess.products)/bleshell adapters >/dev/full"
    let run = try ChildProcess(
      "/bin/sh", ["-c", line], environment: ["BLED_SOCKET": daemon.socketPath], folder: daemon.folder)
    #expect(try run.exitStatus() == 1)
    #expect(run.errors.contains("the output cannot be written: No space left"), "\(run.errors)")
  }
}
