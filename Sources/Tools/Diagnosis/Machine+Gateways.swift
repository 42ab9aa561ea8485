import Glibc

/// A service that offers bled's adapters to others, and writes its state into a file.
private struct Gateway {
  let name: String
  let check: Finding.Check
  let page: String
  /// True if there is a file to check.
  var hasConfiguration = true

  static let all = [
    Gateway(name: "bled-mqtt", check: .mqtt, page: "docs/mqtt.md"),
    Gateway(name: "bled-esphome", check: .esphome, page: "docs/home-assistant.md"),
    Gateway(name: "bled-hid", check: .hid, page: "docs/keyboards.md", hasConfiguration: false),
    Gateway(name: "bled-midi", check: .midi, page: "docs/midi.md", hasConfiguration: false),
  ]

  var unit: String { "\(name).service" }
  var enabled: String { "/etc/systemd/system/multi-user.target.wants/\(unit)" }
  /// A line "ok SECONDS TEXT" or "problem SECONDS TEXT"; it outlasts a restarted process.
  var report: String { "/run/\(name)/report" }
}

extension Machine {
  /// The gateways to MQTT, to Home Assistant, to the kernel's input and to ALSA's sequencer; none where they are not
  /// installed.
  var gatewayFindings: [Finding] {
    Gateway.all.compactMap { gateway in
      guard Service.unitFolders.contains(where: { files.exists("\($0)/\(gateway.unit)") }) else { return nil }
      return finding(gateway)
    }
  }

  private func finding(_ gateway: Gateway) -> Finding {
    let name = gateway.name
    let process = process(of: gateway.unit, named: name)
    guard files.isListed(gateway.enabled) || process != nil else {
      return Finding(
        gateway.check, .note, "\(name) is not enabled.",
        remedy: "If it is wanted: sudo systemctl enable --now \(name) (\(gateway.page))")
    }
    let report = files.text(gateway.report).flatMap(GatewayReport.init)
    guard let process else {
      let reason = report.flatMap { $0.isProblem ? ": \($0.text)" : nil }
      return Finding(
        gateway.check, .problem, "\(name) is enabled but does not run\(reason ?? ".")",
        remedy: """
          \(gateway.hasConfiguration ? "Try `\(name) --check`, then" : "Try") sudo systemctl restart \(name); \
          `journalctl -u \(name)` says why it ended.
          """)
    }
    guard let report else { return Finding(gateway.check, .ok, "\(name) runs (process \(process))") }
    let message = "\(name) (process \(process)): \(report.text), since \(report.since)"
    guard report.isProblem else { return Finding(gateway.check, .ok, message) }
    return Finding(
      gateway.check, .problem, message, remedy: "`journalctl -u \(name)` has more, and so has \(gateway.page).")
  }
}

/// The line written by a gateway.
private struct GatewayReport {
  let isProblem: Bool
  /// The time of day in UTC.
  let since: String
  let text: String

  init?(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 2)
    guard parts.count == 3, let seconds = Int(parts[1]), let since = Self.clock(seconds) else { return nil }
    switch parts[0] {
    case "ok": isProblem = false
    case "problem": isProblem = true
    default: return nil
    }
    self.since = since
    text = String(parts[2])
  }

  /// - Returns: nil for an impossible time.
  private static func clock(_ seconds: Int) -> String? {
    var seconds = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return nil }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M UTC", &parts)
    return String(decoding: text[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}
