import FoundationEssentials

extension Configuration {
  /// Where the file is unless `--config` names another one. It may be missing.
  public static let defaultFile = "/etc/bled/bled.json"

  /// Reads a file.
  /// - Parameter path: nil for the default file, which may be missing.
  /// - Throws: `ConfigurationError`.
  public init(file path: String?) throws(ConfigurationError) {
    let file = path ?? Self.defaultFile
    let octets: Data
    do {
      octets = try Data(contentsOf: URL(filePath: file))
    } catch {
      let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
      if path == nil, isMissing {
        self.init()
        return
      }
      throw .unreadable(file: file, reason: isMissing ? "there is no such file" : "it cannot be read")
    }
    try self.init(octets, file: file)
  }

  /// Reads the content of a file.
  /// - Parameters:
  ///   - octets: JSON5: JSON that may have comments.
  ///   - file: the name for error messages.
  /// - Throws: `ConfigurationError`.
  public init(_ octets: Data, file: String) throws(ConfigurationError) {
    self.init()
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let section: ConfigurationSection
    do {
      section = try decoder.decode(ConfigurationSection.self, from: octets)
    } catch DecodingError.dataCorrupted(let context) {
      throw .notJSON(file: file, reason: context.underlyingError.map { "\($0)" } ?? context.debugDescription)
    } catch {
      throw .notJSON(file: file, reason: "it must be an object")
    }
    try read(section.named("", in: file))
  }
}
