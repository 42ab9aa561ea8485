import BledRPC
import FoundationEssentials
import Testing

/// What a run of `bleshell` gave.
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

extension DaemonProcess {
  /// Runs `bleshell` against this daemon to its end.
  func bleshell(_ arguments: String..., input: String = "") throws -> BleshellRun {
    try bleshell(arguments: arguments, input: input)
  }

  /// The same with a list.
  func bleshell(arguments: [String], input: String = "") throws -> BleshellRun {
    let process = try start(arguments, input: input)
    let status = try process.exitStatus(within: 40)
    return BleshellRun(status: status, output: process.output, errors: process.errors)
  }

  /// Starts `bleshell` against this daemon.
  func start(_ arguments: [String], input: String = "") throws -> ChildProcess {
    try ChildProcess(
      "bleshell", arguments, environment: ["BLED_SOCKET": socketPath], input: input, folder: folder)
  }
}
