import BlueZ
import FoundationEssentials

/// The settings of devices on disk: one small file, which is replaced as a whole.
struct SettingsFile {
  private let path: String

  /// - Parameter directory: the state directory; nil: nothing is kept.
  init?(directory: String?) {
    guard let directory else { return nil }
    path = directory + "/devices.json"
  }

  /// The settings; none if there is no file yet.
  /// - Throws: if the file cannot be read or has other content: it is not to be overwritten then.
  func read() throws -> [String: DeviceSettings] {
    guard FileManager.default.fileExists(atPath: path) else { return [:] }
    return try JSONDecoder().decode([String: DeviceSettings].self, from: Data(contentsOf: URL(filePath: path)))
  }

  func write(_ settings: [String: DeviceSettings]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(settings).write(to: URL(filePath: path), options: .atomic)
  }
}
