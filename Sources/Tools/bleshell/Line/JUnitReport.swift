/// The outcome of a line of a file for `run`.
enum LineOutcome: Equatable {
  case passed
  case failed(String)
  /// A line before it has failed.
  case skipped
}

/// The lines of a file for `run` as test cases in the XML format of JUnit, which CI systems read.
struct JUnitReport {
  private struct Case {
    let name: String
    let outcome: LineOutcome
    let seconds: Double
  }

  let suite: String
  private var cases: [Case] = []

  init(suite: String) { self.suite = suite }

  mutating func add(_ number: Int, _ line: String, _ outcome: LineOutcome, seconds: Double) {
    cases.append(Case(name: "\(number): \(line)", outcome: outcome, seconds: seconds))
  }

  /// The document.
  var xml: String {
    let failures = cases.count { if case .failed = $0.outcome { true } else { false } }
    let skipped = cases.count { $0.outcome == .skipped }
    let total = cases.reduce(0) { $0 + $1.seconds }
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuite name=\"\(Self.escaped(suite))\" tests=\"\(cases.count)\" failures=\"\(failures)\" "
        + "skipped=\"\(skipped)\" time=\"\(shortNumber(total))\">",
    ]
    for one in cases {
      let head =
        "  <testcase classname=\"\(Self.escaped(suite))\" name=\"\(Self.escaped(one.name))\" "
        + "time=\"\(shortNumber(one.seconds))\""
      switch one.outcome {
      case .passed: lines.append(head + "/>")
      case .failed(let message):
        lines.append(head + "><failure message=\"\(Self.escaped(message))\"/></testcase>")
      case .skipped: lines.append(head + "><skipped/></testcase>")
      }
    }
    return (lines + ["</testsuite>", ""]).joined(separator: "\n")
  }

  /// Text of an attribute. XML has no control characters but white space.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case "\t": result += " "
      default: result.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0xFFFE ? "\u{FFFD}" : scalar)
      }
    }
  }
}
