import FoundationEssentials
import Glibc

/// The key that clients need, in the state directory: made once, from the system's random numbers.
struct KeyFile {
  /// A file that is not a key of this program, or cannot be read or written.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The length of a key, in octets.
  private static let length = 32

  private let directory: String
  private var path: String { directory + "/key" }

  init(directory: String) { self.directory = directory }

  /// The key in the form in which people enter it: base64.
  /// - Returns: nil without a file.
  func text() throws -> String? { try key().map { Data($0).base64EncodedString() } }

  /// - Returns: nil without a file.
  func key() throws -> [UInt8]? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let text: Data
    do {
      text = try Data(contentsOf: URL(filePath: path)).prefix { $0 != UInt8(ascii: "\n") }
    } catch {
      throw Fault(description: "\(path) cannot be read: \(error)")
    }
    guard let key = Data(base64Encoded: text), key.count == Self.length else {
      throw Fault(description: "\(path) is not a key of 32 octets in base64: restore it, or remove it to get a new one")
    }
    return Array(key)
  }

  /// The key; generates one if there is none, and the directory itself if only that is missing.
  func keyOrNew() throws -> [UInt8] {
    if let key = try key() { return key }
    var generator = SystemRandomNumberGenerator()
    let key = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let line = Data(key).base64EncodedString() + "\n"
    // For an existing one, and for a missing parent, opening the file has the outcome.
    mkdir(directory, 0o700)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    guard write(descriptor, line, line.utf8.count) == line.utf8.count, fsync(descriptor) == 0 else {
      let code = errno
      unlink(path)
      throw failure(code)
    }
    return key
  }

  private func failure(_ code: Int32) -> Fault {
    Fault(description: "\(path) cannot be written: \(String(cString: strerror(code)))")
  }
}
