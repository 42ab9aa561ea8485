import ArgumentParser
import BledClient
import BledRPC
import FoundationEssentials

/// `bleshell watch`
struct WatchCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Shows which devices are connected, and each link that comes up or ends.",
    discussion: "Shows the links of all programs. Without --time it runs until Ctrl-C.")

  @Option(help: "Stop after this many seconds.") var time: Double?
  @Flag(help: "Print comma-separated values: time, date, number of links, unit, identifier, name, event.")
  var csv = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    try checkTime(time)
    guard !csv || !global.json else { throw ValidationError("--csv and --json: give one of them") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    do {
      _ = try await withDeadline(time ?? 0) { @MainActor in
        var linked: Set<String> = []
        let changes = try await client.linkChanges()
        // The first line shows a reader that nothing is missed from here on.
        if csv { output.line("time,date,number,unit,peripheral,name,event") }
        for device in try await client.call(PeripheralList.self, Empty()).peripherals where device.state == "connected"
        {
          linked.insert(device.peripheral)
          try await show(
            .init(peripheral: device.peripheral, linked: true, name: device.name), linked.count, client, output)
        }
        if linked.isEmpty, !csv, !output.json { output.line("no device is connected; links are shown as they come up") }
        for try await change in changes {
          if change.linked { linked.insert(change.peripheral) } else { linked.remove(change.peripheral) }
          try await show(change, linked.count, client, output)
        }
        try Task.checkCancellation()
      }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
  }

  /// - Parameter count: The number of links, including it.
  private func show(
    _ change: PeripheralLinkChanged.Params, _ count: Int, _ client: BledClient, _ output: Output
  ) async throws {
    let now = Date()
    guard !output.json else { return try output.object("link", change, at: now.timeIntervalSince1970) }
    let event = change.linked ? "connected" : "disconnected"
    if csv {
      let time = now.timeIntervalSince1970
      return output.line(
        CSV.line(["\(time)", dateText(time), "\(count)", "links", change.peripheral, change.name ?? "", event]))
    }
    let time = output.styled(clockText(now), .dim)
    var name = change.name
    if name == nil {
      let known = try await client.call(PeripheralList.self, Empty()).peripherals
      name = known.first { $0.peripheral == change.peripheral }?.address
    }
    let shown = output.styled(Output.clean(name ?? "-"), .bold)
    output.line("\(time)  \(shown)  \(change.peripheral)  \(event)")
  }
}
