import ArgumentParser
import BledRPC
import Glibc

/// `bleshell sessions`
struct SessionsCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Lists the programs that use bled, their resources and usage.",
    discussion: """
      VALUES is what a program was sent, LOST what was dropped because a buffer was full, FAILED the REQUESTS that \
      failed, and QUEUE the octets that wait for it. Below that are the times for which it scanned and was connected \
      (hours:minutes:seconds), and what it holds. A preserved session of a program that has ended is marked "gone", \
      with its restoration identifier; it ends with "end IDENTIFIER", or when bled's time limit is reached. To see the programs \
      of others you need the permission "sessions" in bled's configuration.
      """)

  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let sessions = try await shell.sessions()
    if output.json {
      for session in sessions { try output.object(session) }
      return
    }
    var table = Table(
      .init(heading: "SESSION", right: true), .init(heading: "PROGRAM"), .init(heading: "PROCESS", right: true),
      .init(heading: "USER"), .init(heading: "REQUESTS", right: true), .init(heading: "FAILED", right: true),
      .init(heading: "VALUES", right: true), .init(heading: "LOST", right: true), .init(heading: "QUEUE", right: true))
    table.flexible = 1
    for session in sessions {
      let costs = session.costs
      let lost = costs.reportsDropped + costs.valuesRefused + costs.packetsLost
      table.rows.append([
        .init(text: "\(session.session)"), .init(text: session.label, style: .bold),
        .init(text: session.process.map(String.init) ?? "-"), .init(text: session.user.map(Self.name) ?? "-"),
        .init(text: "\(costs.requests)"), .init(text: "\(costs.requestsFailed)"), .init(text: "\(costs.values)"),
        .init(text: "\(lost)", style: lost == 0 ? .plain : .bad), .init(text: "\(costs.queueOctets)"),
      ])
    }
    let lines = table.lines(output)
    lines.prefix(1).forEach(output.line)
    for (session, line) in zip(sessions, lines.dropFirst()) {
      output.line(line)
      for text in Output.wrapped(session.summary, to: 71) { output.line("         " + output.styled(text, .dim)) }
    }
  }

  private static func name(_ user: Int) -> String {
    UInt32(exactly: user).flatMap(userName) ?? "\(user)"
  }
}

extension Shell {
  /// All sessions that the user may see.
  func sessions() async throws -> [SessionDescription] {
    var sessions: [SessionDescription] = []
    var page: SessionList.Result
    repeat {
      page = try await connection().call(SessionList.self, .init(after: sessions.last?.session))
      sessions += page.sessions
    } while page.more ?? false
    return sessions
  }
}

extension SessionDescription {
  /// "bleshell, process 31900"
  var holder: String {
    let process = preserved == true ? "gone" : process.map { "process \($0)" }
    return mine ? "this bleshell" : [name ?? program, process].compactMap { $0 }.joined(separator: ", ")
  }

  /// The name given by the program, and its executable's if it differs.
  fileprivate var label: String {
    let label = [name, program == name ? nil : program.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
    return (label.isEmpty ? "-" : label) + (mine ? ", here" : preserved == true ? ", gone" : "")
  }

  /// Its resources, and the times of their use.
  fileprivate var summary: String {
    let restored = preserved == true ? "gone (\(Output.clean(restore ?? "?"))); " : ""
    return restored
      + "scan \(Self.clock(costs.scanTime)) (\(costs.reports) reports), link \(Self.clock(costs.linkTime)); \(holdings)"
  }

  private static func clock(_ seconds: Double) -> String {
    let whole = Int(nearest: seconds.rounded(.down))
    let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }

  /// The holdings of the session, as text.
  fileprivate var holdings: String {
    func some(_ count: Int, _ one: String, _ many: String) -> String? {
      count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }
    func names(_ devices: [Device]) -> String? {
      devices.isEmpty ? nil : devices.map { $0.name ?? $0.address }.joined(separator: " ")
    }
    let parts = [
      scan.map { "scan" + $0.words }, names(connections).map { "connected: \($0)" },
      names(connecting).map { "waits for: \($0)" }, searching.map { "looks for: \(Self.words($0))" },
      some(subscriptions.count, "subscription", "subscriptions"),
      services.isEmpty ? nil : "serves \(services.map { "\($0.uuid)" }.joined(separator: " "))",
      some(advertisements.count, "advertisement", "advertisements"),
      some(channels?.count ?? 0, "channel", "channels").map { $0 + stuck },
      listening.map { "listens on \(Self.words($0))" },
      some(acquired?.count ?? 0, "acquired characteristic", "acquired characteristics"),
    ]
    let text = parts.compactMap { $0 }.joined(separator: "; ")
    return text.isEmpty ? "-" : text
  }

  /// The number of its channels that wait for a device that does not read.
  private var stuck: String {
    let count = channels?.count { !$0.hasRoom } ?? 0
    return count == 0 ? "" : " (\(count) without room)"
  }

  private static func words(_ numbers: [Listening]) -> String {
    numbers.map { "\($0.psm)" }.joined(separator: " ")
  }

  private static func words(_ searches: [Search]) -> String {
    searches.map { search in
      let words = [
        search.name.map { "\"\($0)\"" }, search.namePrefix.map { "\"\($0)\(Output.ellipsis)\"" },
        search.service.map { "\($0)" },
      ]
      return words.compactMap { $0 }.joined(separator: " ")
    }.joined(separator: ", ")
  }
}

extension ScanStart.Params {
  /// Its filters, as text with a leading space.
  fileprivate var words: String {
    let words: [String?] = [
      adapter.map { "on \($0)" }, services?.map { "\($0)" }.joined(separator: " "), name.map { "\"\($0)\"" }, address,
      filters?.map(\.words).joined(separator: " or "), signalWords, lost.map { "lost after \($0) s" },
      duplicates == true ? "with duplicates" : nil, active == false ? "passive" : nil,
    ]
    return words.compactMap(\.self).filter { !$0.isEmpty }.map { " " + $0 }.joined()
  }

  private var signalWords: String? {
    guard let rssi else { return nil }
    return "from \(rssi) dBm" + (rssiOut.map { " to \($0) dBm" } ?? "")
  }
}

/// `bleshell end`
struct EndCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "Ends the preserved session of a program of yours that has ended.",
    discussion: "bled releases the program's scan, links, services and advertisements.")

  @Argument(help: "The restoration identifier, as shown by \"bleshell sessions\".") var identifier: String
  @OptionGroup(title: "Common options") var global: GlobalOptions

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
