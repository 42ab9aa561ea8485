import BlueZ
import EventLoop
import FoundationEssentials
import Glibc

/// The settings of devices on disk: one small file, which is replaced as a whole, on a thread of its own.
final class SettingsFile {
  /// Larger than the file ever is, in octets.
  static let largest = 1 << 20

  private let path: String
  private let worker: Worker
  private var isWriting = false
  /// The settings that are to be written when the thread is free: only the newest count.
  private var next: [String: DeviceSettings]?
  /// Called once nothing is being written.
  private var idle: () -> Void = {}
  /// Called when the file could not be written.
  var failed: (any Error) -> Void = { _ in }

  /// - Parameter directory: the state directory; nil: nothing is kept.
  init?(directory: String?, worker: Worker) {
    guard let directory else { return nil }
    path = directory + "/devices.json"
    self.worker = worker
  }

  /// The settings; none if there is no file yet. A file that is too large, or has other content, is renamed: it must
  /// not keep the service from starting.
  /// - Returns: the settings, and where such a file is now.
  /// - Throws: if the file cannot be read or renamed.
  func read() throws -> (settings: [String: DeviceSettings], aside: String?) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw CocoaError(.fileReadUnknown) }
      return ([:], nil)
    }
    if status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.largest {
      let octets = try Data(contentsOf: URL(filePath: path))
      let settings = try? JSONDecoder().decode([String: DeviceSettings].self, from: octets)
      if let settings { return (settings, nil) }
    }
    let aside = path + ".damaged"
    try? FileManager.default.removeItem(atPath: aside)
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    return ([:], aside)
  }

  /// Writes the settings, after a write that is under way.
  func write(_ settings: [String: DeviceSettings]) {
    next = settings
    writeNext()
  }

  private func writeNext() {
    guard !isWriting else { return }
    guard let settings = next else { return idle() }
    next = nil
    isWriting = true
    worker.submit { [path] in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      try encoder.encode(settings).write(to: URL(filePath: path), options: .atomic)
    } _: { [weak self] result in
      guard let self else { return }
      isWriting = false
      if case .failure(let error) = result { failed(error) }
      writeNext()
    }
  }

  /// Calls back when all that was to be written is, perhaps at once.
  func whenIdle(_ work: @escaping () -> Void) {
    idle = work
    writeNext()
  }
}
