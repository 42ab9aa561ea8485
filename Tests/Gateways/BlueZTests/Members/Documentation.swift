import FoundationEssentials

@testable import BlueZ

/// The members of BlueZ's interfaces as its documentation has them: `Tests/BlueZ/interfaces.json`.
struct Documentation: Decodable {
  struct Members: Decodable {
    /// The types of the arguments and of the results of each.
    var methods: [String: [String]]?
    /// The types of their arguments.
    var signals: [String: String]?
    /// The type of each, "read" or "readwrite", and "optional" where it need not be there.
    var properties: [String: [String]]?
  }

  /// Members or interfaces that are not there, or never have a value, on purpose.
  struct Exception: Decodable {
    /// Without "org.bluez.".
    let names: [String]
    let reason: String

    /// Its line in the table of docs/bluez.md.
    var row: String { "| \(names.map { "`\($0)`" }.joined(separator: ", ")) | \(reason) |" }
  }

  let release: String
  let interfaces: [String: Members]
  let missing: [Exception]
  let valueless: [Exception]

  private static var package: URL {
    (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
  }

  static func read() throws -> Documentation {
    let file = package.appending(path: "Tests/BlueZ/interfaces.json")
    return try JSONDecoder().decode(Documentation.self, from: Data(contentsOf: file))
  }

  /// The lines of docs/bluez.md.
  static func page() throws -> [String] {
    let octets = try Data(contentsOf: package.appending(path: "docs/bluez.md"))
    return String(decoding: octets, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// All members, as "Adapter1.Name".
  var members: [String: [String]] {
    var members: [String: [String]] = [:]
    for (interface, of) in interfaces {
      let short = interface.dropFirst("org.bluez.".count)
      for (name, types) in of.methods ?? [:] { members["\(short).\(name)"] = ["method"] + types }
      for (name, types) in of.signals ?? [:] { members["\(short).\(name)"] = ["signal", types] }
      for (name, property) in of.properties ?? [:] {
        members["\(short).\(name)"] = ["property"] + property.prefix(2)
      }
    }
    return members
  }

  /// All members as they are served.
  static var served: [String: [String]] {
    var members: [String: [String]] = [:]
    for interface in Interface.allCases where interface.rawValue.hasPrefix("org.bluez.") {
      let short = interface.rawValue.dropFirst("org.bluez.".count)
      let description = interface.description
      for method in description.methods {
        members["\(short).\(method.name)"] = ["method", method.types, method.results]
      }
      for signal in description.signals { members["\(short).\(signal.name)"] = ["signal", signal.types] }
      for property in description.properties {
        members["\(short).\(property.name)"] = ["property", property.type, property.isWritable ? "readwrite" : "read"]
      }
    }
    return members
  }
}
