import Diagnosis

/// Findings for people: a table that is 80 columns wide, with each remedy below its problem.
struct DoctorTable {
  private static let width = 80
  private static let checkWidth = Finding.Check.allCases.map(\.rawValue.count).max() ?? 0
  private static let verdictWidth = Finding.Verdict.problem.rawValue.count

  private let findings: [Finding]

  init(_ findings: [Finding]) { self.findings = findings }

  func lines(_ output: Output) -> [String] {
    var lines = [output.styled(Self.row("CHECK", "STATE") + "FOUND", .dim)]
    for finding in findings {
      let texts = Self.wrapped(finding.message) + (finding.remedy.map { Self.wrapped("-> \($0)") } ?? [])
      for (index, text) in texts.enumerated() {
        guard index == 0 else {
          lines.append(Self.row("", "") + text)
          continue
        }
        let style: Output.Style =
          switch finding.verdict {
          case .ok: .good
          case .note: .dim
          case .problem: .bad
          }
        let verdict = Self.padded(finding.verdict.rawValue, Self.verdictWidth)
        let check = Self.padded(finding.check.rawValue, Self.checkWidth)
        lines.append("\(check)  \(output.styled(verdict, style))  \(text)")
      }
    }
    let problems = findings.count { $0.verdict == .problem }
    lines.append(problems == 0 ? "Nothing is wrong." : problems == 1 ? "1 problem." : "\(problems) problems.")
    return lines
  }

  private static func row(_ check: String, _ verdict: String) -> String {
    "\(padded(check, checkWidth))  \(padded(verdict, verdictWidth))  "
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func wrapped(_ text: String) -> [String] { Output.wrapped(text, to: width - row("", "").count) }
}

extension Output {
  /// The words of a text, in as many lines as they need; a longer word has a line of its own.
  /// - Parameter room: The columns of a line.
  static func wrapped(_ text: String, to room: Int) -> [String] {
    var lines: [String] = []
    for word in clean(text).split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= room {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
