import ArgumentParser
import BledClient
import BledRPC
import FoundationEssentials

/// `bleshell subscribe`
struct SubscribeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Prints the values that a characteristic notifies or indicates.",
    usage: "bleshell subscribe [<device>] <characteristic> [--count <count>] [--time <time>]",
    discussion: "Without --count and --time it goes on until Ctrl-C.")

  @Argument(help: "The device, if it is not the current one, and the characteristic.") var words: [String]
  @Option(help: "End after so many values.") var count: Int?
  @Option(help: "End after so many seconds; with --count it is a failure if they come first.") var time: Double?
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count takes a number above 0") }
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
        output.problem("packets for which this machine had no room: \(loss.packets); values are missing here, perhaps")
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
          throw Failure("\(device.name) is gone")
        }
        if done == nil, let count { throw Failure("fewer than \(count) values came in time") }
      } catch is CancellationError where count == nil && time == nil {
        // Ctrl-C is the end that was asked for.
      }
    }
  }
}
