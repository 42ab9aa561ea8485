import Foundation
import Testing

/// Any JSON value, so that tests can walk through vectors whose fields differ from case to case.
enum JSONValue: Decodable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// The field of an object.
  subscript(key: String) -> JSONValue? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }
  var string: String? { if case .string(let value) = self { value } else { nil } }
  var int: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}

/// The conformance vectors, which are not part of this project: the folder in `BLED_VECTORS`, else
/// `../shared/conformance` beside the package.
enum Vectors {
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["BLED_VECTORS"] { return URL(fileURLWithPath: path) }
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return package.deletingLastPathComponent().appendingPathComponent("shared/conformance")
  }()

  /// True if the file exists; otherwise suites are skipped.
  static func has(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path)
  }

  /// The message of a skipped suite.
  static func missing(_ file: String) -> Comment { "\(file) is not in \(folder.path); set BLED_VECTORS to its folder" }

  /// The content of a file.
  static func load<Content: Decodable>(_ file: String, as type: Content.Type = JSONValue.self) throws -> Content {
    try JSONDecoder().decode(type, from: Data(contentsOf: folder.appendingPathComponent(file)))
  }
}
