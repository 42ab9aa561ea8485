/// Why a scenario cannot be used: where in which file, what is wrong there, and what to do.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, or what stands for it.
  public let file: String
  /// The place in it, such as `devices[1].services[0].uuid`, or `line 7, column 3`; empty for the whole.
  public let path: String
  /// What is wrong and what to do, in a sentence.
  public let message: String

  /// File, place and message in one line.
  public var description: String { path.isEmpty ? "\(file): \(message)" : "\(file): \(path): \(message)" }

  /// Describes what is wrong.
  init(file: String, path: String = "", message: String) {
    self.file = file
    self.path = path
    self.message = message
  }

  /// Tells where the text is no JSON5.
  init(file: String, _ fault: JSON5Syntax.Fault) {
    self.init(file: file, path: "line \(fault.line), column \(fault.column)", message: fault.message)
  }

  /// Tells what the decoder found.
  init(file: String, _ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self.init(file: file, path: Self.path(context.codingPath), message: "\"\(key.stringValue)\" is missing: add it.")
    case .typeMismatch(let type, let context):
      self.init(
        file: file, path: Self.path(context.codingPath), message: "this must be \(Self.word(for: type)): change it.")
    case .valueNotFound(let type, let context):
      self.init(
        file: file, path: Self.path(context.codingPath),
        message: "this must be \(Self.word(for: type)), not null: change it or leave it out.")
    case .dataCorrupted(let context):
      self.init(file: file, path: Self.path(context.codingPath), message: context.debugDescription)
    @unknown default:
      self.init(file: file, message: "\(error)")
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    var path = ""
    for key in keys {
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + key.stringValue
      }
    }
    return path
  }

  private static func word(for type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a text in quotes"
    case is Bool.Type: "true or false"
    case is Double.Type, is Int.Type: "a number"
    case is [String: Any].Type: "an object in braces"
    case is any Collection.Type: "a list in brackets"
    default: "an object in braces"
    }
  }
}
