/// The lines of a file for `run` in the Test Anything Protocol (testanything.org), which CI systems and `prove` read,
/// in its version 13: `prove` knows no later one. The output of the commands stands between them as comments: a value
/// may look like a result.
struct TAPReport {
  private var count = 0

  /// The first line.
  static let heading = "TAP version 13"

  /// The last line: how many results there are. `quit` ends them early.
  var plan: String { "1..\(count)" }

  /// The lines about the next command.
  mutating func lines(_ number: Int, _ line: String, _ outcome: LineOutcome) -> [String] {
    count += 1
    let title = "\(count) - \(number): \(Self.escaped(line))"
    switch outcome {
    case .passed: return ["ok \(title)"]
    case .skipped: return ["ok \(title) # SKIP a line before it has failed"]
    case .failed(let message):
      return ["not ok \(title)"] + Output.comments(message).map(Output.clean)
    }
  }

  /// A # would begin a directive.
  private static func escaped(_ text: String) -> String {
    Output.clean(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }
}
