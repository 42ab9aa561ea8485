import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell subscribe`
struct SubscribeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Prints the values that a characteristic notifies or indicates.",
    usage: """
      bleshell subscribe [<device>] <characteristic> [--indications] [--count <count>] [--time <time>] [--keep] \
      [--csv | --plot]
      """,
    discussion: """
      Without --count and --time it runs until Ctrl-C. With --keep and a device, it connects and subscribes again \
      whenever the connection is lost, and reports both. --plot draws values that are numbers over time, on the whole \
      screen of a terminal; q ends it.
      """)

  @Argument(help: "The device (default: the current one) and the characteristic.") var words: [String] = []
  @Flag(help: "Receive indications, of a characteristic that has notifications as well.") var indications = false
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @Flag(help: "Connect and subscribe again whenever the connection is lost.") var keep = false
  @Flag(help: "Print comma-separated values: time, handle, UUID, number, unit, hex, text.") var csv = false
  @Flag(help: "Draw the numbers over time.") var plot = false
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard [csv, plot, global.json].count(where: { $0 }) <= 1 else {
      throw ValidationError("--csv, --plot and --json: give one of them")
    }
    guard !keep || words.count == 2 else { throw ValidationError("--keep needs a device and a characteristic") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard !plot || output.hasScreen else { throw Failure("--plot needs a terminal; try --csv", status: 64) }
    let following = Following(output: output, isCSV: csv, isPlot: plot, left: count)
    if csv { output.line(Output.csvValueHeading) }
    let task = Task { @MainActor in
      // Without --keep the time begins with the subscription.
      let done: Void? = try await withDeadline(keep ? time ?? 0 : 0) { @MainActor in
        try await follow(following, in: shell, output)
        try Task.checkCancellation()
      }
      if done == nil { throw TimeIsOver() }
    }
    following.end = { task.cancel() }
    defer { following.finish() }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch is TimeIsOver {
      if let count { throw Failure("fewer than \(count) values came within the time") }
    } catch is CancellationError where following.isEnded || count == nil && time == nil {
      // Ctrl-C is the regular end.
    }
  }

  /// The time for values is over.
  private struct TimeIsOver: Error {}

  @MainActor private func follow(_ following: Following, in shell: Shell, _ output: Output) async throws {
    let deadline = timeout.deadline
    guard keep else {
      return try await shell.use(words, for: .subscribe, within: deadline, onlyConnecting: true) { device, rest in
        try await print(rest[0], of: device, following, within: deadline, in: shell, output)
      }
    }
    // The daemon connects again as soon as the device is heard; an explicit device that is current is used as it is.
    while true {
      do {
        // A time that was given is that for the first value; later ones come when the device is back.
        let patience = timeout.limit == nil || following.hasBegun ? .never : deadline
        try await shell.use(words[0], within: patience, onlyConnecting: true) { device in
          try await print(words[1], of: device, following, within: patience, in: shell, output)
        }
        return
      } catch let failure as LinkLost {
        following.interrupt("\(failure.message); connecting again")
      } catch let error as BluetoothError where Self.isLoss(error) {
        following.interrupt("\(error.message); connecting again")
      } catch let failure as Failure where following.hasBegun {
        // No adapter can be used for now, or the device is not heard.
        following.interrupt("\(failure.message); trying again")
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
    _ characteristic: String, of device: Device, _ following: Following, within deadline: Deadline, in shell: Shell,
    _ output: Output
  ) async throws {
    let attribute = try await deadline.bound { @MainActor in try await device.tree().attribute(characteristic) }
    let progress = output.progress("Waiting for the first value of \(attribute.title)")
    defer { progress.end() }
    let values = try await deadline.bound {
      try await device.peripheral.subscribe(.handle(attribute.handle), indications: indications ? true : nil)
    }
    let losses = try await shell.connection().observe(GATTValuesLost.self) { [device = device.peripheral] loss in
      guard loss.peripheral == device.identifier else { return }
      let text = "packets dropped because a buffer was full: \(loss.packets); values may be missing here"
      Task { @MainActor in following.interrupt(text) }
    } end: { _ in
    }
    defer { losses.cancel() }
    do {
      let isComplete = try await withDeadline(keep ? 0 : time ?? 0) { @MainActor in
        for try await value in values {
          progress.end()
          if try following.take(value, of: attribute, device) { return true }
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

/// The output of the values: lines, comma-separated values, or a plot.
@MainActor private final class Following {
  private let output: Output
  private let isCSV: Bool
  private let isPlot: Bool
  /// How many values are still to come; nil: no limit.
  private var left: Int?
  private var view: PlotView?
  /// The last message since the last value.
  private var said: String?
  /// Whether a value came.
  private(set) var hasBegun = false
  /// Whether a person has ended the plot.
  private(set) var isEnded = false
  /// Ends it.
  var end: () -> Void = {}

  init(output: Output, isCSV: Bool, isPlot: Bool, left: Int?) {
    (self.output, self.isCSV, self.isPlot, self.left) = (output, isCSV, isPlot, left)
  }

  /// - Returns: Whether it was the last one.
  func take(_ value: [UInt8], of attribute: Attribute, _ device: Device) throws -> Bool {
    if isPlot {
      try plot(of: attribute, device).add(value, of: attribute)
    } else if isCSV {
      output.csvValue(value, of: attribute, time: Date())
    } else {
      try output.value(value, of: attribute, device: device, time: Date())
    }
    (hasBegun, said) = (true, nil)
    left = left.map { $0 - 1 }
    return left == 0
  }

  /// Says why values are missing, once for each reason.
  func interrupt(_ text: String) {
    defer { said = text }
    guard said != text else { return }
    if let view { view.interrupt(text) } else { output.problem(text) }
  }

  func finish() { view?.finish() }

  private func plot(of attribute: Attribute, _ device: Device) -> PlotView {
    if let view { return view }
    let view = PlotView(title: "\(Output.clean(device.name)): \(attribute.title)", output: output) { [weak self] in
      self?.isEnded = true
      self?.end()
    }
    self.view = view
    return view
  }
}
