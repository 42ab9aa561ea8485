/// The help of a command, as the argument parser writes it, rearranged: the parser puts groups of options before the
/// command's own ones, and repeats those of every command.
enum HelpText {
  private static let own = "OPTIONS:\n"
  private static let common = "COMMON OPTIONS:"

  /// The command's own options first, then their groups; the options of every command on one line.
  static func arranged(_ text: String) -> String {
    let sections = text.split(separator: "\n\n").map { String($0.drop { $0 == "\n" }) }
    // The help of all commands explains the options of every command.
    guard sections.contains(where: { $0.hasPrefix(common) }), !text.contains("SUBCOMMANDS:") else { return text }
    let options = sections.filter { $0.hasPrefix(own) }.map(withoutCommon).filter { $0.contains("\n") }
    let others = sections.filter { !$0.hasPrefix(own) && !$0.hasPrefix(common) }
    let (head, groups) = (others.prefix { !isGroup($0) }, others.drop { !isGroup($0) })
    let last = "\(common) --socket, --json, --version, --help: see \"bleshell help all\""
    return (head + options + groups + [last]).joined(separator: "\n\n")
  }

  /// True for a section with options below a title.
  private static func isGroup(_ section: String) -> Bool {
    let title = section.prefix { $0 != "\n" }
    return title.last == ":" && title != "ARGUMENTS:" && title.allSatisfy { $0.isUppercase || " :".contains($0) }
  }

  private static func withoutCommon(_ section: String) -> String {
    var isCommon = false
    let lines = section.split(separator: "\n").filter { line in
      // The help of an option may take several lines.
      if line.hasPrefix("  -") { isCommon = line.hasPrefix("  --version ") || line.hasPrefix("  -h, --help ") }
      return !isCommon
    }
    return lines.joined(separator: "\n")
  }
}
