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
      bleshell subscribe [<device>] <characteristic> ... [--indications] [--count <count>] [--time <time>] [--keep] \
      [--as <format>] [--csv | --plot]
      """,
    discussion: """
      Behind a device there can be several characteristics, whose values come as they are sent; --count is for all of \
      them. Without --count and --time it runs until Ctrl-C. With --keep and a device it never gives up: it waits for the \
      device, an adapter and bled, from the beginning and after each loss, and says with the time what it waits for and \
      when the device is back; --timeout limits how long the first connection may take, --time all of it. --plot draws \
      values that are numbers over time, on the whole screen of a terminal; q ends it.
      """)

  @Argument(
    help: "The device (default: the current one) and the characteristic.",
    completion: ShellCompletion.attributes(.subscribe))
  var words: [String] = []
  @Flag(help: "Receive indications, of a characteristic that has notifications as well.") var indications = false
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @Flag(help: "Wait for the device, the adapter and bled, and subscribe again whenever one of them was lost.")
  var keep = false
  @Flag(help: "Print comma-separated values: time, date, device, handle, UUID, number, unit, hex, text.")
  var csv = false
  @Flag(help: "Draw the numbers over time.") var plot = false
  @OptionGroup var format: ValueOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard [csv, plot, global.json].count(where: { $0 }) <= 1 else {
      throw ValidationError("--csv, --plot and --json: give one of them")
    }
    guard !keep || words.count >= 2 else { throw ValidationError("--keep needs a device and a characteristic") }
    guard !plot || words.count <= 2 else { throw ValidationError("--plot draws one characteristic") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard !plot || output.hasScreen else { throw Failure("--plot needs a terminal; try --csv", status: 64) }
    let following = Following(output: output, isCSV: csv, isPlot: plot, left: count)
    let keeper = keep ? Keeper(words[0], within: connection.deadline) { following.interrupt($0) } : nil
    if csv { output.line(Output.csvValueHeading) }
    let task = Task { @MainActor in
      // Without --keep the time begins with the subscription.
      let done: Void? = try await withDeadline(keep ? time ?? 0 : 0) { @MainActor in
        try await follow(following, keeper, in: shell, output)
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
      if let keeper, !keeper.hasBegun { throw keeper.neverBegan(time) }
      if let count { throw Failure("fewer than \(count) values came within the time") }
    } catch is CancellationError where following.isEnded || count == nil && time == nil {
      // Ctrl-C is the regular end.
    }
  }

  /// The time for values is over.
  private struct TimeIsOver: Error {}

  @MainActor private func follow(
    _ following: Following, _ keeper: Keeper?, in shell: Shell, _ output: Output
  ) async throws {
    guard let keeper else {
      let deadline = connection.deadline
      guard words.count <= 2 else {
        return try await shell.use(words[0], within: deadline, over: connection.adapter, onlyConnecting: true) {
          device in try await printAll(of: device, following, nil, within: deadline, in: shell, output)
        }
      }
      return try await shell.use(
        words, for: .subscribe, within: deadline, over: connection.adapter, onlyConnecting: true
      ) { device, rest in
        let attribute = try await resolve(rest[0], of: device, nil, within: deadline)
        try await print(attribute, of: device, following, nil, within: deadline, in: shell, output)
      }
    }
    try await keeper.run { @MainActor in
      let deadline = keeper.deadline
      try await shell.use(words[0], within: deadline, over: connection.adapter, onlyConnecting: true) { device in
        try await printAll(of: device, following, keeper, within: deadline, in: shell, output)
      }
    }
  }

  /// Prints the values of all characteristics, until one of them ends it.
  @MainActor private func printAll(
    of device: Device, _ following: Following, _ keeper: Keeper?, within deadline: Deadline, in shell: Shell,
    _ output: Output
  ) async throws {
    // One after the other: a description that is being read is not read again for the next text.
    var attributes: [Attribute] = []
    for text in words.dropFirst() {
      attributes.append(try await resolve(text, of: device, keeper, within: deadline))
    }
    try await untilFirst(
      of: attributes.map { attribute in
        { @MainActor in try await print(attribute, of: device, following, keeper, within: deadline, in: shell, output) }
      })
  }

  /// The characteristic that a text denotes.
  @MainActor private func resolve(
    _ characteristic: String, of device: Device, _ keeper: Keeper?, within deadline: Deadline
  ) async throws -> Attribute {
    var attribute = try await deadline.bound { @MainActor in
      do {
        return try await device.attribute(characteristic)
      } catch let failure as Failure where keeper?.hasBegun == true {
        // The device has served it, and may do so again.
        throw Failure(failure.message, passes: true)
      }
    }
    attribute.format = format.format ?? attribute.format
    return attribute
  }

  @MainActor private func print(
    _ attribute: Attribute, of device: Device, _ following: Following, _ keeper: Keeper?, within deadline: Deadline,
    in shell: Shell, _ output: Output
  ) async throws {
    let progress = output.progress("Waiting for the first value of \(attribute.title)")
    defer { progress.end() }
    let values = try await deadline.bound { [handle = attribute.handle] in
      try await device.peripheral.subscribe(.handle(handle), indications: indications ? true : nil)
    }
    keeper?.begins()
    let losses = try await shell.connection().observe(GATTValuesLost.self) { [device = device.peripheral] loss in
      guard loss.peripheral == device.identifier else { return }
      let text = "packets dropped because a buffer was full: \(loss.packets); values may be missing here"
      Task { @MainActor in following.interrupt(text) }
    } end: { _ in
    }
    defer { losses.cancel() }
    let isComplete = try await withDeadline(keep ? 0 : time ?? 0) { @MainActor in
      for try await value in values {
        progress.end()
        if try following.receive(value, of: attribute, device) { return true }
      }
      return false
    }
    guard let isComplete else { throw TimeIsOver() }
    if isComplete { return }
    try Task.checkCancellation()
    throw Failure("\(device.name) disconnected", passes: true)
  }
}

/// The output of the values: lines, comma-separated values, or a plot.
@MainActor private final class Following {
  private let output: Output
  private let isCSV: Bool
  private let isPlot: Bool
  /// The number of values still to print; nil: no limit.
  private var left: Int?
  private var view: PlotView?
  /// The last message since the last value.
  private var said: String?
  /// True if the user has ended the plot.
  private(set) var isEnded = false
  /// Ends it.
  var end: () -> Void = {}

  init(output: Output, isCSV: Bool, isPlot: Bool, left: Int?) {
    (self.output, self.isCSV, self.isPlot, self.left) = (output, isCSV, isPlot, left)
  }

  /// - Returns: True if it was the last one.
  func receive(_ value: [UInt8], of attribute: Attribute, _ device: Device) throws -> Bool {
    // Another characteristic may have sent the last one.
    guard left ?? 1 > 0 else { return true }
    if isPlot {
      try plot(of: attribute, device).add(value, of: attribute)
    } else if isCSV {
      output.csvValue(value, of: attribute, device: device, time: Date())
    } else {
      try output.value(value, of: attribute, device: device, time: Date())
    }
    said = nil
    left = left.map { $0 - 1 }
    return left == 0
  }

  /// Reports the reason for missing values, once for each reason.
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
