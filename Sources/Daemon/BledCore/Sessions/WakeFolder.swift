import Bluetooth
import BluetoothCrypto
import Glibc
import Logging

/// The directory of files that announce events for disconnected programs. systemd's path units watch it
/// (`bled-wake@.path`); it is in memory, so a file costs microseconds.
///
/// The configuration may name any directory. So each file contains a mark, only files with it are removed, and a
/// directory that other users may change is never used.
public final class WakeFolder {
  /// A file's content.
  private static let mark = Array("bled\n".utf8)
  /// The longest name with the plain identifier: a unit name, with systemd's additions, has at most 255 octets.
  private static let longestName = 200

  /// Its path.
  public let path: String
  private let logger: Logger
  /// The number of preserved sessions per file: users may choose equal identifiers.
  private var counts: [String: Int] = [:]
  /// The directory, while there are files in it.
  private var directory: TrustedDirectory?
  /// The created files.
  private var made: Set<String> = []

  /// Removes a previous daemon's files. The directory itself is created with its first file, if only its last part is
  /// missing; then it is removed with its last.
  public init(path: String, logger: Logger) {
    self.path = path
    self.logger = logger
    do throws(TrustedDirectory.Problem) {
      let directory = try TrustedDirectory(path)
      withExtendedLifetime(directory) { removeLeftovers(in: directory.descriptor) }
    } catch {
      if error != .refused(call: "open", code: ENOENT) {
        logger.warning("programs cannot be woken: \(path): \(Self.text(error))")
      }
    }
  }

  /// An event has happened for the program with this identifier.
  func add(_ identifier: String) {
    let name = Self.name(for: identifier)
    counts[name, default: 0] += 1
    guard !made.contains(name) else { return }
    do throws(TrustedDirectory.Problem) {
      try Self.make(name, in: try open())
      made.insert(name)
    } catch {
      logger.warning("the program of \"\(identifier)\" could not be woken: \(path)/\(name): \(Self.text(error))")
    }
  }

  /// Removes the file for a returned program, or one without a preserved session.
  func remove(_ identifier: String) {
    let name = Self.name(for: identifier)
    guard let count = counts[name] else { return }
    counts[name] = count > 1 ? count - 1 : nil
    guard count == 1, let directory else { return }
    if made.remove(name) != nil { unlinkat(directory.descriptor, name, 0) }
    guard counts.isEmpty else { return }
    if directory.isNew { rmdir(path) }
    self.directory = nil
  }

  /// The identifier as a file name and unit instance (systemd.unit(5)): octets other than letters, digits, ":", "_",
  /// "." and "-" as "\x2f", and likewise a leading dot. If that is too long, the identifier's SHA-256.
  static func name(for identifier: String) -> String {
    var name = ""
    for octet in identifier.utf8 {
      let isPlain: Bool =
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        case UInt8(ascii: "."): !name.isEmpty
        default: false
        }
      name += isPlain ? String(UnicodeScalar(octet)) : "\\x\(Hex.encode([octet]))"
    }
    guard name.utf8.count > longestName else { return name }
    return "sha256-\(Hex.encode(SHA256.hash(identifier.utf8)))"
  }

  // MARK: Files

  /// The directory's descriptor, which stays open until the last file is removed.
  private func open() throws(TrustedDirectory.Problem) -> CInt {
    if let directory { return directory.descriptor }
    let directory = try TrustedDirectory(path, creating: 0o755)
    self.directory = directory
    return directory.descriptor
  }

  /// Makes a file. An existing file with its name is neither opened nor followed.
  private static func make(_ name: String, in directory: CInt) throws(TrustedDirectory.Problem) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = openat(directory, name, flags, 0o644)
    guard descriptor >= 0 else { throw .refused(call: "open", code: errno) }
    defer { close(descriptor) }
    guard mark.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == mark.count else {
      let code = errno
      unlinkat(directory, name, 0)
      throw .refused(call: "write", code: code)
    }
  }

  private func removeLeftovers(in directory: CInt) {
    let copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return }
    guard let entries = fdopendir(copy) else {
      close(copy)
      return
    }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) {
          if Self.isMarked($0, in: directory) { unlinkat(directory, $0, 0) }
        }
      }
    }
  }

  private static func isMarked(_ name: UnsafePointer<CChar>, in directory: CInt) -> Bool {
    var status = stat()
    guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid(), Int(status.st_size) == mark.count
    else { return false }
    let descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var content = [UInt8](repeating: 0, count: mark.count)
    return read(descriptor, &content, content.count) == mark.count && content == mark
  }

  private static func text(_ problem: TrustedDirectory.Problem) -> String {
    switch problem {
    case .unsafe: "\(problem.description); set restoration.wakeDirectory to a directory that is only bled's"
    case .refused(_, EEXIST): "there is a file that is not bled's"
    case .refused: problem.description
    }
  }
}
