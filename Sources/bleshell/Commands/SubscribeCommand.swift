import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell subscribe`
struct SubscribeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Prints the values that a characteristic notifies or indicates.",
    usage: "bleshell subscribe [<device>] <characteristic> [--indications] [--count <count>] [--time <time>] [--keep]",
    discussion: """
      Without --count and --time it runs until Ctrl-C. With --keep and a device, it connects and subscribes again \
      whenever the connection is lost, and reports both.
      """)

  @Argument(help: "The device (default: the current one) and the characteristic.") var words: [String] = []
  @Flag(help: "Receive indications, of a characteristic that has notifications as well.") var indications = false
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @Flag(help: "Connect and subscribe again whenever the connection is lost.") var keep = false
  @Flag(help: "Print comma-separated values: time, handle, UUID, number, unit, hex, text.") var csv = false
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard !csv || !global.json else { throw ValidationError("--csv and --json: give one of them") }
    guard !keep || words.count == 2 else { throw ValidationError("--keep needs a device and a characteristic") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if csv { output.line(Output.csvValueHeading) }
    let counter = Counter(left: count)
    do {
      // Without --keep the time begins with the subscription.
      let done: Void? = try await withDeadline(keep ? time ?? 0 : 0) { @MainActor in
        try await follow(counter, in: shell, output)
        try Task.checkCancellation()
      }
      if done == nil { try endOfTime() }
    } catch is TimeIsOver {
      try endOfTime()
    } catch is CancellationError where count == nil && time == nil {
      // Ctrl-C is the regular end.
    }
  }

  private func endOfTime() throws {
    if let count { throw Failure("fewer than \(count) values came within the time") }
  }

  /// The time for values is over.
  private struct TimeIsOver: Error {}

  /// How many values are still to come.
  @MainActor private final class Counter {
    var left: Int?

    init(left: Int?) { self.left = left }
  }

  @MainActor private func follow(_ counter: Counter, in shell: Shell, _ output: Output) async throws {
    guard keep else {
      return try await shell.use(words, for: .subscribe, timeout: timeout.timeout) { device, rest in
        try await print(rest[0], of: device, counter, in: shell, output)
      }
    }
    // The daemon connects again as soon as the device is heard; an explicit device that is current is used as it is.
    while true {
      do {
        try await shell.use(words[0], timeout: 0) { device in
          try await print(words[1], of: device, counter, in: shell, output)
        }
        return
      } catch let failure as LinkLost {
        output.problem("\(failure.message); connecting again")
      } catch let error as BluetoothError where Self.isLoss(error) {
        output.problem("\(error.message); connecting again")
      }
      // A device that stays current while it is away fails at once.
      try await Task.sleep(for: .seconds(1))
    }
  }

  private static func isLoss(_ error: BluetoothError) -> Bool {
    let codes: [GAPError] = [
      .disconnected, .notConnected, .connectionFailed, .adapterOff, .adapterAbsent, .adapterFailed,
    ]
    return error.domain == .hci || error.domain == .gap && codes.contains { $0.rawValue == error.code }
  }

  /// The link ended while values were awaited.
  private struct LinkLost: Error {
    let message: String
  }

  @MainActor private func print(
    _ characteristic: String, of device: Device, _ counter: Counter, in shell: Shell, _ output: Output
  ) async throws {
    let attribute = try await device.tree().attribute(characteristic)
    let progress = output.progress("Waiting for the first value of \(attribute.title)")
    defer { progress.end() }
    let values = try await device.peripheral.subscribe(
      .handle(attribute.handle), indications: indications ? true : nil)
    let losses = try await shell.connection().observe(GATTValuesLost.self) { [device = device.peripheral] loss in
      guard loss.peripheral == device.identifier else { return }
      output.problem("packets dropped because a buffer was full: \(loss.packets); values may be missing here")
    } end: { _ in
    }
    defer { losses.cancel() }
    do {
      let isComplete = try await withDeadline(keep ? 0 : time ?? 0) { @MainActor in
        for try await value in values {
          progress.end()
          if csv {
            output.csvValue(value, of: attribute, time: Date())
          } else {
            try output.value(value, of: attribute, device: device, time: Date())
          }
          counter.left = counter.left.map { $0 - 1 }
          if counter.left == 0 { return true }
        }
        return false
      }
      guard let isComplete else { throw TimeIsOver() }
      if isComplete { return }
    } catch let error as BluetoothError where keep && Self.isLoss(error) {
      throw LinkLost(message: "lost the connection to \(device.name)")
    }
    try Task.checkCancellation()
    if keep { throw LinkLost(message: "lost the connection to \(device.name)") }
    throw Failure("\(device.name) disconnected")
  }
}
