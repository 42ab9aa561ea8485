import Glibc
import Testing

/// Completions that shells request from `bleshell`.
@Suite(.serialized) struct BleshellCompletionTests {
  private static let scenario = """
    { devices: [
        { name: "$(touch pwned)", address: "C0:DE:00:00:00:71", addressType: "random",
          advertising: { name: "$(touch pwned)" } },
        { name: "Heart Belt", address: "C0:DE:00:00:00:72", addressType: "random", advertising: { name: "Heart Belt" },
          services: [{ uuid: "180F", characteristics: [{ uuid: "2A19", properties: ["read"], value: "5f" }] }] } ] }
    """

  /// The completions of the last word in bash.
  private func bash(_ daemon: DaemonProcess, _ words: String...) throws -> [String] {
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      cd '\(daemon.folder.path)' && PATH='\(ChildProcess.products)':$PATH
      source <(bleshell --generate-completion-script bash)
      COMP_WORDS=(bleshell \(quoted)); COMP_CWORD=\(words.count)
      COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
      _bleshell bleshell "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let shell = try ChildProcess(
      "/bin/bash", ["--norc", "-c", script],
      environment: [
        "BLED_SOCKET": daemon.socketPath, "XDG_CONFIG_HOME": "\(daemon.folder.path)/config",
      ], folder: daemon.folder)
    #expect(try shell.exitStatus() == 0, "\(shell.errors)")
    return shell.output.split(separator: "\n").map(String.init)
  }

  @Test("bash completes devices, adapters and characteristics, and expands no name from the air")
  func bash() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    _ = try longEnough(for: { $0.lines.count == 3 }) { try daemon.bleshell("scan", "--time", $0) }
    let devices = try bash(daemon, "connect", "")
    #expect(devices.contains("Heart Belt") && devices.contains("C0:DE:00:00:00:71"), "\(devices)")
    #expect(!devices.contains { $0.contains("touch") } && access("\(daemon.folder.path)/pwned", F_OK) != 0)
    let adapter = daemon.adapter(0)
    #expect(try bash(daemon, "scan", "--adapter", String(adapter.prefix(3))) == [adapter])
    #expect(try bash(daemon, "phone", "Heart Belt", "noti") == ["notifications"])
    #expect(try bash(daemon, "phone", "neg") == ["negative"])
    // Characteristics only of a device that is connected already.
    #expect(try !bash(daemon, "read", "Heart Belt", "").contains("2A19"))
    let line = try daemon.start(["connect", "Heart Belt", "--time", "60"])
    try eventually("it is connected") { line.output.contains("connected to") }
    #expect(try bash(daemon, "read", "Heart Belt", "2A1") == ["2A19"])
    // Names that the user gives.
    #expect(try daemon.bleshell("name", "C0:DE:00:00:00:72", "My belt").status == 0)
    #expect(try daemon.bleshell("name", "2A19", "Charge").status == 0)
    #expect(try bash(daemon, "connect", "My") == ["My belt"])
    #expect(try bash(daemon, "subscribe", "Echo", "2A37", "+", "My") == ["My belt"])
    #expect(try bash(daemon, "read", "My belt", "Ch") == ["Charge"])
  }
}
