import FoundationEssentials
import Testing

@testable import bleshell

/// The manual page, which `make reference` makes of the commands.
@Suite struct ManualPageTests {
  @Test("bleshell(1) has every command and every option")
  @MainActor func isComplete() throws {
    let file = "\(#filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" })/docs/man/bleshell.1"
    let page = String(decoding: try #require(FileManager.default.contents(atPath: file)), as: UTF8.self)
      .replacing("\\-", with: "-")
    func check(_ command: CommandList.Command, _ path: String) {
      let name = path.isEmpty ? command.name : "\(path) \(command.name)"
      if command.subcommands.isEmpty {
        #expect(page.contains("\\fB\(name)\\fR"), "make reference: \(name) is missing")
      }
      for option in command.options.keys { #expect(page.contains(option), "make reference: \(option) is missing") }
      for subcommand in command.subcommands where subcommand.name != "help" { check(subcommand, name) }
    }
    let commands = CommandLanguage(root: Bleshell.self).list.commands
    #expect(commands.count > 30)
    for command in commands where command.name != "help" { check(command, "") }
  }
}
