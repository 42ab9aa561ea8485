import ArgumentParser
import BledRPC

/// `bleshell adapters`
struct AdaptersCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "adapters", abstract: "Lists the adapters, and what to do about those that cannot be used.")

  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let adapters = try await shell.connection().call(AdapterList.self, Empty()).adapters
    if output.json {
      for adapter in adapters { try output.object(adapter) }
      return
    }
    var table = Table(
      .init(heading: "ADAPTER"), .init(heading: "KIND"), .init(heading: "ADDRESS"), .init(heading: "STATE"),
      .init(heading: "LINKS", right: true), .init(heading: "ADVERTISING", right: true), .init(heading: "SCANNING"),
      .init(heading: "PHYS"), .init(heading: "PACKET", right: true),
      .init(heading: "NAME"))
    for adapter in adapters {
      table.rows.append([
        .init(text: adapter.adapter, style: .bold), .init(text: adapter.kind),
        .init(text: adapter.address.map { "\($0) \(adapter.addressType ?? "")" } ?? "-"),
        .init(text: adapter.state, style: adapter.state == "on" ? .good : .bad), .init(text: "\(adapter.links)"),
        .init(text: "\(adapter.advertising)"), .init(text: adapter.scanning ? "yes" : "no"),
        .init(text: adapter.phys.map { $0.joined(separator: " ") } ?? "-"),
        .init(text: adapter.longestPacket.map { "\($0)" } ?? "-"), .init(text: adapter.name),
      ])
    }
    table.lines(output).forEach(output.line)
    for adapter in adapters {
      if let problem = adapter.problem {
        output.line("\(adapter.adapter): \(Output.clean("\(problem.message) \(problem.remedy)"))")
      }
    }
    for adapter in adapters {
      if let activities = adapter.takingTurns {
        output.line("\(adapter.adapter): cannot do at once, takes turns: \(activities.joined(separator: ", "))")
      }
      if let activities = adapter.heldBack {
        output.line("\(adapter.adapter): waits until its links have ended: \(activities.joined(separator: ", "))")
      }
    }
    if adapters.isEmpty { throw Failure("bled has no adapter: plug one in, or start it with --adapter simulated") }
  }
}

/// `bleshell power`
struct PowerCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "Switches an adapter on or off, for all programs.")

  /// The power state.
  enum Power: String, ExpressibleByArgument, CaseIterable { case on, off }

  @Argument(help: "on or off.") var power: Power
  @Option(help: "The adapter (default: the first).") var adapter: String?
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let adapter = try await shell.connection().call(
      AdapterPower.self, .init(adapter: adapter, on: power == .on), timeout: .seconds(30))
    if output.json { try output.object(adapter) } else { output.line("\(adapter.adapter) is \(adapter.state)") }
  }
}
