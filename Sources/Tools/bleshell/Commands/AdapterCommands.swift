import ArgumentParser
import BledRPC
import FoundationEssentials

/// `bleshell adapters`
struct AdaptersCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "adapters", abstract: "Lists the adapters, and the remedies for unusable ones.",
    aliases: ["list", "show"])

  @Flag(help: "Show the names of the controllers' features, too.") var features = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let adapters = try await shell.connection().call(AdapterList.self, Empty()).adapters
    if output.json {
      for adapter in adapters { try output.object(adapter) }
      return
    }
    var table = Table(
      .init(heading: "ADAPTER"), .init(heading: "ADDRESS"), .init(heading: "STATE"),
      .init(heading: "LINKS", right: true), .init(heading: "ADVERTISING", right: true), .init(heading: "SCANNING"))
    // Adapters can be named by their addresses.
    table.flexible = 0
    for adapter in adapters {
      table.rows.append([
        .init(text: adapter.adapter, style: .bold),
        .init(text: adapter.address.map { "\($0) \(adapter.addressType ?? "")" } ?? "-"),
        .init(text: adapter.state.text, style: adapter.state == "on" ? .good : .bad), .init(text: "\(adapter.links)"),
        .init(text: "\(adapter.advertising)"), .init(text: adapter.scanning ? "yes" : "no"),
      ])
    }
    let lines = table.lines(output)
    lines.prefix(1).forEach(output.line)
    for (adapter, line) in zip(adapters, lines.dropFirst()) {
      output.line(line)
      for text in Output.wrapped(adapter.nature, to: 78) { output.line("  " + output.styled(text, .dim)) }
      guard features else { continue }
      let names = adapter.features?.joined(separator: ", ") ?? "unknown"
      for text in Output.wrapped("features: \(names)", to: 78) { output.line("  " + text) }
    }
    for adapter in adapters {
      if let problem = adapter.problemText {
        output.line(Output.clean(problem))
      } else if adapter.state == "absent" {
        output.line("\(adapter.adapter) is absent: \(adapter.remedy)")
      }
    }
    for adapter in adapters {
      for quirk in adapter.quirks ?? [] { output.line("\(adapter.adapter): \(Output.clean(quirk.text))") }
      if let activities = adapter.takingTurns {
        output.line(
          "\(adapter.adapter): cannot do at once, takes turns: \(activities.map(\.text).joined(separator: ", "))")
      }
      if let activities = adapter.heldBack {
        output.line(
          "\(adapter.adapter): waits until its links have ended: \(activities.map(\.text).joined(separator: ", "))")
      }
    }
    if adapters.isEmpty { throw Failure("bled has no adapter: plug one in, or start it with --adapter simulated") }
  }
}

extension AdapterDescription {
  /// The kind and the abilities of the adapter: "simulated, named desk, PHYs 1M 2M coded, packets of up to 251 octets".
  fileprivate var nature: String {
    let abilities = [
      phys.map { "PHYs \($0.map(\.text).joined(separator: " "))" },
      longestPacket.map { "packets of up to \($0) octets" },
      sinceReport.map { "last report \(Int(min($0, 1e9))) s ago" },
    ]
    let called = name == adapter || name.isEmpty ? nil : "named \(name)"
    return ([kind.text, called] + abilities).compactMap { $0 }.joined(separator: ", ")
  }
}

extension AdapterDescription.Quirk {
  /// The fault, and the date of learning it: "it refuses …; learned on 2026-11-27".
  var text: String { reason + (learned.map { "; learned on \(Self.day($0))" } ?? "") }

  /// The day of a time, in UTC.
  private static func day(_ time: Double) -> String {
    guard (0..<253_402_300_800).contains(time) else { return "an unknown day" }
    return Date(timeIntervalSince1970: time).formatted(.iso8601.year().month().day())
  }
}

/// `bleshell power`
struct PowerCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "Switches an adapter on or off, for all programs.")

  /// The power state.
  enum Power: String, ExpressibleByArgument, CaseIterable { case on, off }

  @Argument(help: "on or off.") var power: Power
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let adapter = try await shell.connection().call(
      AdapterPower.self, .init(adapter: adapter, on: power == .on), timeout: .seconds(30))
    if output.json { try output.object(adapter) } else { output.line("\(adapter.adapter) is \(adapter.state)") }
  }
}
