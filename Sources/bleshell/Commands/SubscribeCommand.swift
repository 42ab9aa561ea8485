import ArgumentParser
import BledClient
import BledRPC
import FoundationEssentials

/// `bleshell subscribe`
struct SubscribeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Prints the values that a characteristic notifies or indicates.",
    usage: "bleshell subscribe [<device>] <characteristic> [--count <count>] [--time <time>]",
    discussion: "Without --count and --time it runs until Ctrl-C.")

  @Argument(help: "The device (default: the current one) and the characteristic.") var words: [String]
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC")
    try await shell.use(device, timeout: timeout.timeout) { device in
      let attribute = try await device.tree().attribute(rest[0])
      let values = try await device.peripheral.subscribe(attribute.handle)
      let losses = try await shell.connection().observe(GATTValuesLost.self) { [device = device.peripheral] loss in
        guard loss.peripheral == device.identifier else { return }
        output.problem("packets dropped because a buffer was full: \(loss.packets); values may be missing here")
      } end: { _ in
      }
      defer { losses.cancel() }
      do {
        let done: Void? = try await withDeadline(time ?? 0) { @MainActor in
          var left = count
          for try await value in values {
            try output.value(value, of: attribute, device: device, time: Date())
            left = left.map { $0 - 1 }
            if left == 0 { return }
          }
          try Task.checkCancellation()
          throw Failure("\(device.name) disconnected")
        }
        if done == nil, let count { throw Failure("fewer than \(count) values came within the time") }
      } catch is CancellationError where count == nil && time == nil {
        // Ctrl-C is the regular end.
      }
    }
  }
}
