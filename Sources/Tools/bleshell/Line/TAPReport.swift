/// The lines of a file for `run` in the Test Anything Protocol (testanything.org), which CI systems and `prove` read,
/// in its version 13: `prove` knows no later one. The output of the commands stands between them: readers ignore other
/// lines.
struct TAPReport {
  private var count = 0

  /// The first lines.
  /// - Parameter count: How many lines have a command.
  static func heading(_ count: Int) -> [String] { ["TAP version 13", "1..\(count)"] }

  /// The lines about the next command.
  mutating func lines(_ number: Int, _ line: String, _ outcome: LineOutcome) -> [String] {
    count += 1
    let title = "\(count) - \(number): \(Self.escaped(line))"
    switch outcome {
    case .passed: return ["ok \(title)"]
    case .skipped: return ["ok \(title) # SKIP a line before it has failed"]
    case .failed(let message):
      return ["not ok \(title)"] + message.split(whereSeparator: \.isNewline).map { "# \(Output.clean(String($0)))" }
    }
  }

  /// A # would begin a directive.
  private static func escaped(_ text: String) -> String {
    Output.clean(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }
}
