/// What is wrong with the configuration file, where, and what to do.
public enum ConfigurationError: Error, Hashable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(file: String, reason: String)
  /// The file is no JSON.
  case notJSON(file: String, reason: String)
  /// There is no such key.
  case unknownKey(file: String, key: String, known: [String])
  /// The value of a key makes no sense.
  case badValue(file: String, key: String, remedy: String)

  /// What is wrong and what to do, in one line.
  public var description: String {
    switch self {
    case .unreadable(let file, let reason): "\(file): \(reason); give another file with --config"
    case .notJSON(let file, let reason): "\(file) is no JSON5: \(reason)"
    case .unknownKey(let file, let key, let known):
      "\(file): there is no key \"\(key)\"; the keys there are: \(known.joined(separator: ", "))"
    case .badValue(let file, let key, let remedy): "\(file): \"\(key)\": \(remedy)"
    }
  }
}
