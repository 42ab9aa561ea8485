import Testing

@testable import bleshell

/// The help of commands.
@Suite struct HelpTextTests {
  @MainActor private func help(_ words: String...) -> String {
    let language = CommandLanguage(root: Bleshell.self)
    do {
      var command = try language.parse(words + ["--help"])
      try command.run()
      return ""
    } catch {
      return language.outcome(of: error, json: false).message
    }
  }

  @Test("a command's own options precede their groups, and those of every command have one line")
  @MainActor func groups() throws {
    let text = help("advertise")
    let titles = text.split(separator: "\n").filter { !$0.hasPrefix(" ") && $0.contains(":") }
      .map { $0.prefix { $0 != ":" } }.filter { $0 == $0.uppercased() }
    #expect(titles == ["OVERVIEW", "USAGE", "OPTIONS", "HOW IT IS SENT", "RESPONSES OF DEVICES", "COMMON OPTIONS"])
    let (own, groups) = (try #require(text.firstRange(of: "  --name")), try #require(text.firstRange(of: "  --uri")))
    #expect(own.lowerBound < groups.lowerBound)
    #expect(!text.contains("\n  -h, --help") && !text.contains("  --socket <") && !text.contains("Show the version"))
    #expect(text.hasSuffix("COMMON OPTIONS: --socket, --json, --version, --help: see \"bleshell help all\""))
  }

  @Test("arguments stay before the options, and a command without options of its own has no such section")
  @MainActor func arguments() throws {
    let text = help("simulation", "vanish")
    #expect(text.contains("ARGUMENTS:\n  <name>") && !text.contains("\nOPTIONS:"), "\(text)")
  }

  @Test("the help of all commands explains the options of every command")
  @MainActor func all() {
    let text = help()
    #expect(text.contains("  --socket <socket>") && text.contains("  -h, --help"), "\(text)")
  }
}
