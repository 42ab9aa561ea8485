import BlueZ
import EventLoop
import FoundationEssentials
import Glibc
import Synchronization

/// The settings of devices on disk: one small file, which is replaced as a whole, on a thread of its own.
final class SettingsFile {
  /// Larger than the file ever is, in octets.
  static let largest = 1 << 20

  private let path: String
  private let worker: Worker
  private let writer: Writer
  private var isWriting = false
  /// The newest settings, and their number: they are written when the thread is free.
  private var newest: (settings: [String: DeviceSettings], number: Int)?
  /// The number of the last settings that the thread has got.
  private var submitted = 0
  /// Called once all writes are complete.
  private var idle: () -> Void = {}
  /// Called when the file could not be written.
  var failed: (any Error) -> Void = { _ in }

  /// - Parameter directory: the state directory; nil: nothing is stored.
  init?(directory: String?, worker: Worker) {
    guard let directory else { return nil }
    let path = directory + "/devices.json"
    self.path = path
    self.worker = worker
    writer = Writer(path: path)
  }

  /// The settings; none without a file. A file that is too large, or has other content, is renamed: it must not prevent
  /// the start of the service.
  /// - Returns: the settings, and the new place of such a file.
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
    newest = (settings, (newest?.number ?? 0) + 1)
    writeNext()
  }

  private func writeNext() {
    guard !isWriting else { return }
    guard let (settings, number) = newest, number > submitted else { return idle() }
    submitted = number
    isWriting = true
    worker.submit { [writer] in
      try writer.write(settings, number)
    } _: { [weak self] result in
      guard let self else { return }
      isWriting = false
      if case .failure(let error) = result { failed(error) }
      writeNext()
    }
  }

  /// Calls back once all pending writes are complete, perhaps at once.
  func whenIdle(_ work: @escaping () -> Void) {
    idle = work
    writeNext()
  }

  /// Writes the newest settings on this thread if they are not in the file yet: the loop has ended.
  func finish() {
    guard let (settings, number) = newest, isWriting || number > submitted else { return }
    do { try writer.write(settings, number) } catch { failed(error) }
  }

  /// Writes the file, for either thread: the newest settings stay.
  private final class Writer: Sendable {
    private let path: String
    private let written = Mutex(0)

    init(path: String) { self.path = path }

    func write(_ settings: [String: DeviceSettings], _ number: Int) throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      let octets = try encoder.encode(settings)
      try written.withLock { written in
        guard number > written else { return }
        try octets.write(to: URL(filePath: path), options: .atomic)
        written = number
      }
    }
  }
}
