import Foundation

/// The public functions of a module that may wait, as its sources declare them: tests that walk all of them fail when
/// there is another one.
public enum WaitingFunctions {
  /// Reads the sources of a module.
  /// - Parameters:
  ///   - module: Its folder below `Sources`.
  ///   - file: A file in the tests' folder, which is in a storey of `Tests`.
  /// - Returns: Names such as `Peripheral.write(_:to:response:)`, sorted; one for each overload.
  public static func names(of module: String, beside file: String = #filePath) throws -> [String] {
    let storey = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
    let root = storey.deletingLastPathComponent().deletingLastPathComponent()
    let folder = root.appending(path: "Sources/\(module)")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    var names: [String] = []
    for file in files ?? [] where file.pathExtension == "swift" {
      names += try Self.names(in: String(contentsOf: file, encoding: .utf8))
    }
    return names.sorted()
  }

  static func names(in source: String) -> [String] {
    var names: [String] = []
    var type = ""
    var declaration: String?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      if let found = typeName(line) { type = found }
      if line.drop(while: { $0 == " " }).hasPrefix("public "), line.contains("func ") { declaration = "" }
      guard let begun = declaration else { continue }
      declaration = begun + line + " "
      guard line.hasSuffix("{") || line.hasSuffix("}"), begun.isBalanced(with: line) else { continue }
      if let name = waitingName(begun + line) { names.append("\(type).\(name)") }
      declaration = nil
    }
    return names
  }

  /// The type of the members that follow a line without indentation.
  private static func typeName(_ line: Substring) -> String? {
    let words = line.split(separator: " ")
    guard line.first != " ", !line.hasPrefix("//"),
      let keyword = words.firstIndex(where: { ["extension", "class", "struct", "actor", "enum"].contains($0) }),
      keyword + 1 < words.endIndex
    else { return nil }
    return String(words[keyword + 1].prefix { $0.isLetter || $0.isNumber })
  }

  /// The name of an asynchronous function with its labels; nil for another one.
  private static func waitingName(_ declaration: String) -> String? {
    guard let start = declaration.range(of: "func ")?.upperBound,
      let open = declaration[start...].firstIndex(of: "(")
    else { return nil }
    var (depth, labels, label, end) = (0, "", "", open)
    var isLabel = true
    for index in declaration[open...].indices {
      let character = declaration[index]
      switch character {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      case ",": if depth == 1 { (label, isLabel) = ("", true) }
      case ":":
        if depth == 1, isLabel {
          labels += (label.split(separator: " ").first ?? "") + ":"
          isLabel = false
        }
      default: if depth == 1, isLabel { label.append(character) }
      }
      if depth == 0 {
        end = index
        break
      }
    }
    guard declaration[declaration.index(after: end)...].split(separator: " ").first == "async" else { return nil }
    return declaration[start..<open].prefix { $0 != "<" } + "(\(labels))"
  }
}

extension String {
  /// True if this and a further line have as many closing parentheses as opening ones.
  fileprivate func isBalanced(with line: Substring) -> Bool {
    (self + line).reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) } == 0
  }
}
