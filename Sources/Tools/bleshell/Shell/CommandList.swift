import ArgumentParser
import BledRPC
import FoundationEssentials

/// The commands that can be typed, as the argument parser describes them.
struct CommandList: Sendable {
  /// A command.
  struct Command: Sendable {
    var name: String
    var aliases: [String] = []
    /// With their dashes; true if a value follows.
    var options: [String: Bool] = [:]
    var subcommands: [Command] = []
  }

  private(set) var commands: [Command] = []

  /// - Parameter description: As the argument parser writes it for tools; the result has no commands if it is another.
  init(description: String) {
    let json = try? JSONDecoder().decode(JSONValue.self, from: Data(description.utf8))
    commands = (json?["command"]).map { Self.command($0).subcommands } ?? []
  }

  /// Every word that begins a line.
  var names: [String] { commands.flatMap { [$0.name] + $0.aliases } }

  /// The command that a word denotes.
  func command(_ word: String?) -> Command? {
    commands.first { $0.name == word || $0.aliases.contains { $0 == word } }
  }

  private static func command(_ json: JSONValue) -> Command {
    var options: [String: Bool] = [:]
    for argument in json["arguments"]?.elements ?? [] where argument["kind"] != "positional" {
      for name in argument["names"]?.elements ?? [] where name["kind"] == "long" {
        if let text = name["name"]?.string { options["--" + text] = argument["kind"] == "option" }
      }
    }
    let aliases = (json["aliases"]?.elements ?? []).compactMap(\.string)
    let subcommands = (json["subcommands"]?.elements ?? []).map(command)
    return Command(
      name: json["commandName"]?.string ?? "", aliases: aliases, options: options, subcommands: subcommands)
  }
}

extension JSONValue {
  fileprivate subscript(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }
  fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
}
