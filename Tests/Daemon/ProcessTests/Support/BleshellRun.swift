import BledRPC
import FoundationEssentials
import Glibc
import Testing

/// The result of a run of `bleshell`.
struct BleshellRun {
  let status: Int32
  let output: String
  let errors: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Its lines as JSON objects.
  func objects() throws -> [[String: JSONValue]] {
    try lines.map { try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8)) }
  }
}

/// Runs something for a second, or for up to four minutes until its result contains the text that a busy machine needs
/// longer for.
func longEnough(
  for fits: (BleshellRun) -> Bool, _ run: (_ seconds: String) throws -> BleshellRun
) rethrows -> BleshellRun {
  for seconds in [1, 4, 16, 64] {
    let result = try run("\(seconds)")
    if fits(result) { return result }
  }
  return try run("256")
}

extension DaemonProcess {
  /// Runs `bleshell` against this daemon to its end.
  func bleshell(_ arguments: String..., input: String = "") throws -> BleshellRun {
    try bleshell(arguments: arguments, input: input)
  }

  /// A run with a list of arguments.
  func bleshell(arguments: [String], input: String = "") throws -> BleshellRun {
    let process = try start(arguments, input: input)
    let status = try process.exitStatus()
    return BleshellRun(status: status, output: process.output, errors: process.errors)
  }

  /// Runs `bleshell` until its output fits, and then interrupts it as Ctrl-C does.
  func bleshell(_ arguments: String..., interruptedWhen fits: (String) -> Bool) throws -> BleshellRun {
    let process = try start(arguments)
    try eventually("\(arguments) has printed what is waited for") { fits(process.output) || process.hasEnded }
    process.send(signal: SIGINT)
    return BleshellRun(status: try process.exitStatus(), output: process.output, errors: process.errors)
  }

  /// Starts `bleshell` against this daemon.
  func start(_ arguments: [String], input: String = "") throws -> ChildProcess {
    try ChildProcess(
      "bleshell", arguments, environment: ["BLED_SOCKET": socketPath, "XDG_CONFIG_HOME": "\(folder.path)/config"],
      input: input, folder: folder)
  }
}
