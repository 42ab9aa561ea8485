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
      [--as <format>] [--csv | --columns | --plot]
      bleshell subscribe <device> <characteristic> ... + <device> <characteristic> ... [<options>]
      """,
    discussion: """
      Behind a device there can be several characteristics, and behind a + another device with its own. Values come as \
      they are sent; --count is for all of them. --time begins when all of them are subscribed. Without --count and \
      --time it runs until Ctrl-C. With --keep and a device it never gives up: it waits for the device, an adapter and \
      bled, from the beginning and after each loss, and says with the time what it waits for and when the device is \
      back; --timeout limits how long the first connection may take, --time all of it. --plot draws \
      values that are numbers over time, on the whole screen of a terminal; q ends it. --columns waits until all devices \
      are there, and prints a line for each value.
      """)

  @Argument(
    help: "The device (default: the current one) and the characteristics; more devices behind a +.",
    completion: ShellCompletion.attributes(.subscribe))
  var words: [String] = []
  @Flag(help: "Receive indications, of a characteristic that has notifications as well.") var indications = false
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @Flag(help: "Wait for the device, the adapter and bled, and subscribe again whenever one of them was lost.")
  var keep = false
  @Flag(help: "Print comma-separated values: time, date, device, handle, UUID, number, unit, hex, text.")
  var csv = false
  @Flag(help: "Print comma-separated values with a column for each value of the characteristics.") var columns = false
  @Flag(help: "Draw the numbers over time.") var plot = false
  @OptionGroup var format: ValueOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard [csv, columns, plot, global.json].count(where: { $0 }) <= 1 else {
      throw ValidationError("--csv, --columns, --plot and --json: give one of them")
    }
    guard !keep || words.count >= 2 else { throw ValidationError("--keep needs a device and a characteristic") }
    guard !plot || words.count <= 2 else { throw ValidationError("--plot draws one characteristic") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard !plot || output.hasScreen else { throw Failure("--plot needs a terminal; try --csv", status: 64) }
    let areOfCurrent = try await shell.areOfCurrent(words)
    guard !keep || !areOfCurrent else {
      throw Failure("--keep needs a device and a characteristic: \(words[0]) is one of the current device", status: 64)
    }
    let groups = areOfCurrent ? [] : try DeviceWords.groups(words, of: .subscribe)
    let following = ValueFollowing(
      output: output, form: csv ? .csv : columns ? .columns : plot ? .plot : .lines, devices: max(1, groups.count),
      left: count)
    let keepers = groups.map { group in
      keep ? Keeper(group.device, within: connection.deadline) { following.interrupt($0) } : nil
    }
    if csv { output.line(Output.csvValueHeading) }
    let task = Task { @MainActor in
      let done: Void? = try await withDeadline(time ?? 0, from: keep ? nil : following.isComplete) { @MainActor in
        try await follow(groups, following, keepers, areOfCurrent: areOfCurrent, in: shell, output)
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
      if let keeper = keepers.compactMap({ $0 }).first(where: { !$0.hasBegun }) { throw keeper.neverBegan(time) }
      if let count { throw Failure("fewer than \(count) values came within the time") }
    } catch is CancellationError where following.isEnded || count == nil && time == nil {
      // Ctrl-C is the regular end.
    }
  }

  /// The time for values is over.
  private struct TimeIsOver: Error {}

  @MainActor private func follow(
    _ groups: [DeviceWords], _ following: ValueFollowing, _ keepers: [Keeper?], areOfCurrent: Bool, in shell: Shell,
    _ output: Output
  ) async throws {
    let deadline = connection.deadline
    if areOfCurrent {
      return try await shell.use(nil, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
        try await printAll(words, of: device, at: 0, following, nil, within: deadline, in: shell, output)
      }
    }
    guard groups.count > 1 || keep || words.count > 2 else {
      return try await shell.use(
        words, for: .subscribe, within: deadline, over: connection.adapter, onlyConnecting: true
      ) { device, rest in
        try await printAll(rest, of: device, at: 0, following, nil, within: deadline, in: shell, output)
      }
    }
    try await untilFirst(
      of: zip(groups, keepers).enumerated().map { number, part in
        { @MainActor in
          let (group, keeper) = part
          func once(within deadline: Deadline) async throws {
            try await shell.use(group.device, within: deadline, over: connection.adapter, onlyConnecting: true) {
              try await printAll(
                group.characteristics, of: $0, at: number, following, keeper, within: deadline, in: shell, output)
            }
          }
          guard let keeper else { return try await once(within: deadline) }
          try await keeper.run { @MainActor in try await once(within: keeper.deadline) }
        }
      })
  }

  /// Prints the values of all characteristics of a device, until one of them ends it.
  /// - Parameter number: The place of the device among several.
  @MainActor private func printAll(
    _ characteristics: [String], of device: Device, at number: Int, _ following: ValueFollowing, _ keeper: Keeper?,
    within deadline: Deadline, in shell: Shell, _ output: Output
  ) async throws {
    // One after the other: a description that is being read is not read again for the next text.
    var attributes: [Attribute] = []
    for text in characteristics {
      attributes.append(try await resolve(text, of: device, keeper, within: deadline))
    }
    try await following.found(attributes, of: device, at: number)
    try await untilFirst(
      of: attributes.enumerated().map { index, attribute in
        { @MainActor in
          let place = ValueColumns.Place(device: number, attribute: index)
          try await print(attribute, of: device, at: place, following, keeper, within: deadline, in: shell, output)
        }
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
    _ attribute: Attribute, of device: Device, at place: ValueColumns.Place, _ following: ValueFollowing,
    _ keeper: Keeper?, within deadline: Deadline, in shell: Shell, _ output: Output
  ) async throws {
    let progress = output.progress("Waiting for the first value of \(attribute.title)")
    defer { progress.end() }
    let values = try await deadline.bound { [handle = attribute.handle] in
      try await device.peripheral.subscribe(.handle(handle), indications: indications ? true : nil)
    }
    keeper?.begins()
    following.subscribed(at: place.device)
    let losses = device.observeLosses { following.interrupt($0) }
    defer { losses.cancel() }
    device.isPrinting(attribute, true)
    defer { device.isPrinting(attribute, false) }
    for try await value in values {
      progress.end()
      device.prints(attribute)
      if try following.receive(value, of: attribute, device, at: place) { return }
    }
    try Task.checkCancellation()
    throw Failure("\(device.name) disconnected", passes: true)
  }
}
