import ArgumentParser
import BledConnection
import BledRPC
import BledWeb

/// `bleshell metrics`
struct MetricsCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Shows bled's measurements.",
    discussion: """
      Of times there are the number of measurements, their mean, and a bound that half of them and 99 % of them did not \
      exceed. Metrics that are zero are left out without --all. What each program costs is in "sessions". With --listen \
      the metrics are served to Prometheus as http://ADDRESS:PORT/metrics, until Ctrl-C; while bled does not run the \
      answer is 503.
      """)

  /// The limit for connections of programs that scrape.
  private static let maximumConnections = 8

  @Flag(help: "Show metrics that are zero, too.") var all = false
  @Option(help: "Serve the metrics to Prometheus: 127.0.0.1:9459, [::1]:9459 or unix:PATH.")
  var listen: ListenAddress?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard listen == nil || !all else { throw ValidationError("--all is for the table: the page has all metrics") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if let listen { return try await serve(on: try listen.opened(), shell, output) }
    let metrics = try await shell.connection().call(MetricsGet.self, Empty()).metrics
    if output.json {
      for metric in metrics { try output.object(metric) }
      return
    }
    var table = Table(.init(heading: "METRIC"), .init(heading: "OF"), .init(heading: "VALUE", right: true))
    for metric in metrics {
      for sample in metric.samples where all || sample.value != 0 {
        let labels = sample.labels.sorted { $0.key < $1.key }.map(Self.text).joined(separator: ", ")
        let name = metric.name.dropFirst(metric.name.hasPrefix("bled_") ? "bled_".count : 0)
        for (part, value) in Self.values(sample) {
          table.rows.append([
            .init(text: String(name), style: .bold),
            .init(text: [labels, part].filter { !$0.isEmpty }.joined(separator: ", ")), .init(text: value),
          ])
        }
      }
    }
    table.lines(output).forEach(output.line)
  }

  /// Serves the page until the command is cancelled, the regular end.
  @MainActor private func serve(on listener: Listener, _ shell: Shell, _ output: Output) async throws {
    let page = MetricsPage { try await shell.connection().call(MetricsGet.self, Empty()).metrics }
    let server = HTTPServer(listener, limit: Self.maximumConnections) { await page.answer($0) }
    defer { server.close() }
    output.problem("serving \(listener.url)/metrics")
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
  }

  /// The value of a label; of a user the name.
  private static func text(_ label: (key: String, value: String)) -> String {
    label.key == "user" ? UInt32(label.value).flatMap(userName) ?? label.value : label.value
  }

  /// A value, "17" or "0.25"; of a histogram, which has four lines, with the name of each.
  private static func values(_ sample: Metric.Sample) -> [(part: String, value: String)] {
    guard let buckets = sample.buckets, let count = buckets.last?.count else { return [("", number(sample.value))] }
    guard count > 0 else { return [("", "0")] }
    let bounds = [50, 99].map { share in
      let bucket = buckets.first { Double($0.count) * 100 >= Double(count) * Double(share) }
      return ("\(share) % of them", bucket?.most.map { "\(Output.hasUTF8 ? "≤" : "<=") \(milliseconds($0))" } ?? "more")
    }
    return [("", "\(count)"), ("mean", milliseconds(sample.value / Double(count)))] + bounds
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\((value * 1000).rounded() / 1000)"
  }

  private static func milliseconds(_ seconds: Double) -> String { "\(number(seconds * 1000)) ms" }
}

extension ListenAddress: ExpressibleByArgument {
  /// Opens a socket that listens there.
  /// - Parameter option: the option with the address.
  /// - Throws: `Failure`, for instance if another program has the port.
  func opened(by option: String = "--listen") throws(Failure) -> Listener {
    do throws(ListenError) {
      return try listen()
    } catch {
      throw Failure("\(option): \(error)")
    }
  }
}
