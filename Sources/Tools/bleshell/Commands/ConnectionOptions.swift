import ArgumentParser

/// Options with a time limit for connections.
protocol TimeLimited: ParsableArguments {
  /// The limit in seconds.
  var limit: Double? { get }
}

extension TimeLimited {
  /// The deadline, counted from now.
  var deadline: Deadline { Deadline(limit: limit) }

  func validate() throws {
    guard 0...1e9 ~= limit ?? 0 else {
      throw ValidationError("--timeout must be 0 or more seconds, up to 1000000000")
    }
  }
}

/// The options for connecting to a command's device.
struct ConnectionOptions: TimeLimited {
  @Option(
    name: .customLong("timeout"),
    help: "Seconds for the whole command; without it 15 to look for the device, and 15 to connect to it; 0: no limit.")
  var limit: Double?
  @Option(
    help: "The adapter that looks for the device and connects to it (default: any).",
    completion: ShellCompletion.adapters)
  var adapter: String?
}

/// The options for connecting to a command's device several times.
struct ReconnectionOptions: TimeLimited {
  @Option(
    name: .customLong("timeout"),
    help: "Seconds to look for the device and to connect to it, each time (default: 15 for each step); 0: no limit.")
  var limit: Double?
  @Option(
    help: "The adapter that looks for the device and connects to it (default: any).",
    completion: ShellCompletion.adapters)
  var adapter: String?
}
