import FoundationEssentials

/// The doc comments of the types of the messages and of their members, as they stand in `Sources/Daemon/BledRPC`, and
/// of the errors: the first paragraph of each.
struct DocComments {
  /// The package's folder, found from this file's place in it.
  static var package: String {
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
  }

  private var types: [String: String] = [:]
  private var members: [String: String] = [:]
  private var files: [String: String] = [:]

  /// Reads the sources.
  init() throws {
    let folder = Self.package + "/Sources/Daemon/BledRPC"
    let messages = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    let files = messages.map { "Sources/Daemon/BledRPC/\($0)" } + ["Sources/Formats/Bluetooth/BluetoothError.swift"]
    for file in files where file.hasSuffix(".swift") {
      let text = String(decoding: try Data(contentsOf: URL(filePath: "\(Self.package)/\(file)")), as: UTF8.self)
      read(text, of: file)
    }
  }

  /// The sources are formatted, so that a line's indentation identifies its type.
  private mutating func read(_ text: String, of file: String) {
    var outer: [(indentation: Int, name: String)] = []
    var comment: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let code = line.drop { $0 == " " }
      let indentation = line.count - code.count
      if code.hasPrefix("///") {
        comment.append(code.dropFirst(3).drop { $0 == " " })
        continue
      }
      defer { comment = [] }
      let words = code.split { " :,<({".contains($0) }.map { $0.filter { $0 != "`" } }
      let keywords = ["struct", "enum", "extension", "var", "let", "case"]
      guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count, keyword < 3 else {
        continue
      }
      outer.removeAll { $0.indentation >= indentation }
      let name = (outer.last.map { $0.name + "." } ?? "") + words[keyword + 1]
      if ["var", "let", "case"].contains(words[keyword]) {
        if outer.last?.indentation == indentation - 2 { record(comment, of: name, in: file, \.members) }
      } else {
        outer.append((indentation, name))
        if words[keyword] != "extension" { record(comment, of: name, in: file, \.types) }
      }
    }
  }

  private mutating func record(
    _ comment: [Substring], of name: String, in file: String, _ table: WritableKeyPath<DocComments, [String: String]>
  ) {
    files[name] = file
    // Only the first paragraph, and in the spelling of Markdown.
    let words = comment.prefix { !$0.isEmpty }.joined(separator: " ").replacing("``", with: "`")
    if !words.isEmpty { self[keyPath: table][name] = words }
  }

  /// The doc comment of a type; nil if there is none.
  func type(_ name: String) -> String? { types[name] }

  /// The doc comment of a member; nil if there is none.
  func member(_ name: String) -> String? { members[name] }

  /// The file in which a type or a member is declared.
  func file(of name: String) -> String { files[name] ?? "Sources/Daemon/BledRPC" }
}
