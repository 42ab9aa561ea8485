import ArgumentParser
import Glibc

/// The commands that can be typed, below one that contains them all.
@MainActor final class CommandLanguage {
  /// The command without a name: it reads commands line by line.
  let root: any ShellCommand.Type
  /// The names and options of the commands.
  private(set) lazy var list = CommandList(description: root._dumpHelp())

  init(root: any ShellCommand.Type) { self.root = root }

  /// The command that words denote.
  /// - Throws: `Failure` for a first word that is not a command, with a similar one; otherwise the argument parser's
  ///   errors.
  func parse(_ words: [String]) throws -> any ParsableCommand {
    if words == ["help"] { return try ShortHelp.parse([]) }
    if words == ["help", "all"] { return try root.parseAsRoot(["help"]) }
    // For an unknown command the parser returns the help of all.
    if words.first == "help", let asked = words.dropFirst().first { try checkCommand(asked) }
    do {
      return try root.parseAsRoot(words)
    } catch {
      if let remedy = OtherTools.remedy(for: words) { throw Failure(remedy, status: 64) }
      if let first = words.first(where: { $0 != "--json" }) { try checkCommand(first) }
      throw error
    }
  }

  private func checkCommand(_ word: String) throws {
    let names = list.names
    guard !word.hasPrefix("-"), !(names + ["help"]).contains(word), !names.isEmpty else { return }
    throw Failure(
      "there is no command \(word)"
        + Suggestion.question(word, among: names, then: "\"help\" lists the commands"), status: 64)
  }

  /// The parser's text for an error, or the requested help, and its exit status.
  /// - Parameter json: Without the usage, which is for people.
  func outcome(of error: any Error, json: Bool) -> (message: String, status: Int32) {
    // The parser makes the text for either, and traps if its indented columns have no width. It must not read the
    // terminal's width, which could have become narrower.
    setenv("COLUMNS", "\(max(40, Output.terminalSize.columns))", 1)
    let (text, status) = (root.fullMessage(for: error), root.exitCode(for: error).rawValue)
    guard status != 0 else { return (HelpText.arranged(text), status) }
    return (json ? root.message(for: error) : String(text.trimmingPrefix("Error: ")), status)
  }
}
