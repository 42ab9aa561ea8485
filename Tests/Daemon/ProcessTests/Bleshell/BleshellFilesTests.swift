import FoundationEssentials
import Testing

/// `bleshell send` and `bleshell receive` as processes, each on an adapter of its own.
@Suite(.serialized) struct BleshellFilesTests {
  private let daemon: DaemonProcess
  private let source: String
  private let text = String(repeating: "0123456789abcdef", count: 8192)

  init() throws {
    daemon = try DaemonProcess(scenario: "{}", adapters: 3)
    source = "\(daemon.folder.path)/photo.txt"
    try ChildProcess.write(text, to: source)
  }

  private func receiver(_ arguments: String..., input: String, once: Bool = true) throws -> ChildProcess {
    let process = try daemon.start(
      ["receive", daemon.folder.path, "--name", "alice", "--adapter", daemon.adapter(1)] + (once ? ["--once"] : [])
        + arguments, input: input)
    try eventually("it receives") { process.errors.contains("receiving as \"alice\"") }
    return process
  }

  private func send(_ arguments: String..., input: String = "") throws -> BleshellRun {
    try daemon.bleshell(
      arguments: ["send", source, "--name", "bob", "--adapter", daemon.adapter(0), "--timeout", "200"] + arguments,
      input: input)
  }

  @Test("a file arrives whole, and takes no other file's name; both sides show one code")
  func sends() throws {
    let receiver = try receiver(input: "y\n")
    let sender = try send("--to", "alice", input: "y\n")
    #expect(sender.status == 0 && sender.output == "sent \(source) to alice, 131.1 kB\n", "\(sender.errors)")
    #expect(try receiver.exitStatus() == 0, "\(receiver.errors)")
    let target = "\(daemon.folder.path)/photo (2).txt"
    #expect(receiver.output == "received \(target) from bob, 131.1 kB\n")
    #expect(ChildProcess.read(target) == text && ChildProcess.read(source) == text)
    let codes = [sender.errors, receiver.errors].map { errors in
      errors.split(separator: "code ").dropFirst().first.map { String($0.prefix(7)) }
    }
    #expect(codes[0] == codes[1] && codes[0] != nil)
    #expect(receiver.errors.contains(#""bob" offers 1 file, 131.1 kB: "photo.txt"; code"#))
  }

  @Test("a sender that is expected is not asked about; without a name the receivers are listed")
  func expected() throws {
    let receiver = try receiver("--yes-from", "bob", "--json", input: "")
    try eventually("alice is listed") {
      let list = try daemon.bleshell("send", source, "--adapter", daemon.adapter(0), "--timeout", "3")
      #expect(list.status == 64, "\(list.errors)")
      return list.output == "alice\n" && list.errors.contains("name the receiver with --to")
    }
    let sender = try send("--to", "alice", "--yes", "--json")
    #expect(sender.status == 0, "\(sender.errors)")
    #expect(try receiver.exitStatus() == 0, "\(receiver.errors)")
    #expect(receiver.output.contains(#""kind":"received""#) && receiver.output.contains(#""octets":131072"#))
  }

  @Test("a receiver ends with the daemon, and says so")
  func daemonEnds() throws {
    let receiver = try receiver(input: "", once: false)
    daemon.process.send(signal: 9)
    #expect(try receiver.exitStatus() == 1)
    #expect(receiver.errors.contains("the connection to bled was closed"), "\(receiver.errors)")
  }

  @Test("a sender is told that the other side's room ends in the middle of its file")
  func fullDisk() throws {
    // A file has at most 51,200 octets; the free space of the disk does not show that.
    let limited = "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""
    let receiver = try ChildProcess(
      "/bin/sh",
      [
        "-c", limited, "\(ChildProcess.products)/bleshell", "receive", daemon.folder.path, "--name", "alice",
        "--adapter",
        daemon.adapter(1), "--once", "--yes-from", "bob", "--socket", daemon.socketPath,
      ], folder: daemon.folder)
    try eventually("it receives") { receiver.errors.contains("receiving as") || receiver.hasEnded }
    let sender = try send("--to", "alice", "--yes")
    #expect(sender.status == 1 && sender.errors.contains("has no room for it"), "\(sender.errors) \(receiver.errors)")
    #expect(try receiver.exitStatus() == 1)
    #expect(receiver.errors.contains("photo.txt: there is no room for it here"), "\(receiver.errors)")
    #expect(receiver.errors.contains("1 of 1 files of bob did not arrive"), "\(receiver.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path)
    #expect(!names.contains { $0.hasSuffix(".part") })
  }

  @Test("an offer that is declined, and codes that are not confirmed, send nothing")
  func refused() throws {
    let declining = try receiver(input: "n\n")
    let sender = try send("--to", "alice", "--yes")
    #expect(sender.status == 1 && sender.errors.contains("declined"), "\(sender.errors)")
    declining.send(signal: 2)
    _ = try declining.exitStatus()
    let receiver = try receiver(input: "y\n")
    let doubting = try send("--to", "alice", input: "n\n")
    #expect(doubting.status == 1 && doubting.errors.contains("the codes were not confirmed"), "\(doubting.errors)")
    #expect(try receiver.exitStatus() == 1 && receiver.errors.contains("1 of 1 files of bob did not arrive"))
  }

  @Test("a sender that was killed does not hold up another one, and its file goes on when it is sent again")
  func killed() throws {
    let receiver = try receiver("--yes-from", "bob", input: "", once: false)
    let large = "\(daemon.folder.path)/large.bin"
    try ChildProcess.write(String(repeating: "0123456789abcdef", count: 1 << 17), to: large)
    let first = try daemon.start(
      ["send", large, "--name", "bob", "--adapter", daemon.adapter(2), "--to", "alice", "--yes", "--timeout", "200"])
    let partial = {
      try? FileManager.default.contentsOfDirectory(atPath: daemon.folder.path).first { $0.hasSuffix(".part") }
    }
    try eventually("it sends") { partial() != nil }
    first.send(signal: 9)
    _ = try first.exitStatus()
    let second = try send("--to", "alice", "--yes")
    #expect(second.status == 0, "\(second.errors) \(receiver.errors)")
    #expect(ChildProcess.read("\(daemon.folder.path)/photo (2).txt") == text)
    #expect(partial() != nil && !FileManager.default.fileExists(atPath: "\(daemon.folder.path)/large (2).bin"))
    let again = try daemon.bleshell(
      arguments: [
        "send", large, "--name", "bob", "--adapter", daemon.adapter(2), "--to", "alice", "--yes", "--timeout", "200",
      ], input: "")
    #expect(again.status == 0, "\(again.errors) \(receiver.errors)")
    #expect(ChildProcess.read("\(daemon.folder.path)/large (2).bin") == ChildProcess.read(large) && partial() == nil)
    receiver.send(signal: 2)
    _ = try receiver.exitStatus()
  }

  @Test("a folder that cannot be written, and a file that cannot be read, are told before anything is done")
  func unusable() throws {
    let folder = try daemon.bleshell("receive", "/nowhere")
    #expect(folder.status == 1 && folder.errors.contains("/nowhere"))
    let file = try daemon.bleshell("send", "/dev/null", "--to", "alice")
    #expect(file.status == 1 && file.errors.contains("/dev/null is not a regular file"))
  }
}
