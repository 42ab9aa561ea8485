import ArgumentParser
import BledRPC
import Glibc

/// `bleshell sessions`
struct SessionsCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Lists who uses bled, what each holds, and what it costs.",
    discussion: """
      SCAN and LINK are the times for which a program had a scan and connections (hours:minutes:seconds), REPORTS and \
      VALUES what it was sent, LOST what there was no room for, FAILED those of its \
      REQUESTS that were refused or failed later, QUEUE the octets that wait for it. A program that is \
      gone is marked so, with its restoration identifier: what it holds is kept for it until it is back, or "end IDENTIFIER". Others than bleshell \
      itself are listed to those who have the permission "sessions" in bled's configuration.
      """)

  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let sessions = try await shell.connection().call(SessionList.self, Empty()).sessions
    if output.json {
      for session in sessions { try output.object(session) }
      return
    }
    var table = Table(
      .init(heading: "SESSION", right: true), .init(heading: "PROGRAM"), .init(heading: "PROCESS", right: true),
      .init(heading: "USER"), .init(heading: "SCAN", right: true), .init(heading: "REPORTS", right: true),
      .init(heading: "LINK", right: true), .init(heading: "VALUES", right: true), .init(heading: "LOST", right: true),
      .init(heading: "REQUESTS", right: true), .init(heading: "FAILED", right: true),
      .init(heading: "QUEUE", right: true), .init(heading: "HOLDS"))
    for session in sessions {
      let costs = session.costs
      let lost = costs.reportsDropped + costs.valuesRefused + costs.packetsLost
      table.rows.append([
        .init(text: "\(session.session)"), .init(text: session.label, style: .bold),
        .init(text: session.process.map(String.init) ?? "-"), .init(text: session.user.map(Self.name) ?? "-"),
        .init(text: Self.clock(costs.scanTime)), .init(text: "\(costs.reports)"),
        .init(text: Self.clock(costs.linkTime)), .init(text: "\(costs.values)"),
        .init(text: "\(lost)", style: lost == 0 ? .plain : .bad), .init(text: "\(costs.requests)"),
        .init(text: "\(costs.requestsFailed)"), .init(text: "\(costs.queueOctets)"), .init(text: session.holdings),
      ])
    }
    table.lines(output).forEach(output.line)
  }

  private static func name(_ user: Int) -> String {
    guard let number = uid_t(exactly: user), let name = getpwuid(number)?.pointee.pw_name else { return "\(user)" }
    return String(cString: name)
  }

  private static func clock(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded(.down))
    let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }
}

extension SessionDescription {
  /// What the program calls itself, and its file where that is another name.
  fileprivate var label: String {
    let label = [name, program == name ? nil : program.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
    return (label.isEmpty ? "-" : label) + (mine ? ", here" : "")
      + (preserved == true ? ", gone (\(Output.clean(restore ?? "?")))" : "")
  }

  /// What it holds, in words.
  fileprivate var holdings: String {
    func some(_ count: Int, _ one: String, _ many: String) -> String? {
      count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }
    func names(_ devices: [Device]) -> String? {
      devices.isEmpty ? nil : devices.map { $0.name ?? $0.address }.joined(separator: " ")
    }
    let parts = [
      scan.map { "scan" + $0.words }, names(connections).map { "connected: \($0)" },
      names(connecting).map { "waits for: \($0)" }, some(subscriptions.count, "subscription", "subscriptions"),
      services.isEmpty ? nil : "serves \(services.map { "\($0.uuid)" }.joined(separator: " "))",
      some(advertisements.count, "advertisement", "advertisements"),
    ]
    let text = parts.compactMap { $0 }.joined(separator: "; ")
    return text.isEmpty ? "-" : text
  }
}

extension ScanStart.Params {
  /// What it is limited to, in words with a space before them.
  fileprivate var words: String {
    let words = [
      adapter.map { "on \($0)" }, services.map { $0.map { "\($0)" }.joined(separator: " ") }, name.map { "\"\($0)\"" },
      address, rssi.map { "from \($0) dBm" }, duplicates == true ? "with duplicates" : nil,
      active == false ? "passive" : nil,
    ].compactMap { $0 }.filter { !$0.isEmpty }
    return words.map { " " + $0 }.joined()
  }
}

/// `bleshell end`
struct EndCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "Ends the session that bled keeps for a program of yours that is gone.",
    discussion: "What the program held, its scan, links, services and advertisements, is given back.")

  @Argument(help: "The restoration identifier, as \"bleshell sessions\" shows it.") var identifier: String
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    _ = try await shell.connection().call(SessionEnd.self, .init(restore: identifier))
    if output.json {
      try output.object(SessionEnd.Params(restore: identifier))
    } else {
      output.line("ended \(Output.clean(identifier))")
    }
  }
}
