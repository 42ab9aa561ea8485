import Glibc
import Logging

/// The directory in which a file appears when something happened for a disconnected program. systemd's path units watch
/// it (`bled-wake@.path`); it is in memory, so that a file costs microseconds.
public final class WakeFolder {
  /// Its path.
  public let path: String
  private let logger: Logger
  /// How many preserved sessions each file stands for: users may choose the same identifier.
  private var counts: [String: Int] = [:]

  /// Removes the files that a previous daemon left there: empty ones of our own user. The directory itself is created
  /// with its first file, if only its last part is missing, and goes with its last.
  public init(path: String, logger: Logger) {
    self.path = path
    self.logger = logger
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    guard let directory = fdopendir(descriptor) else {
      close(descriptor)
      return
    }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      // What is not empty, or belongs to another user, is not ours: the configuration may name any directory.
      if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_size == 0, status.st_uid == geteuid()
      {
        unlinkat(descriptor, name, 0)
      }
    }
  }

  /// Something happened for the program of this identifier.
  func add(_ identifier: String) {
    let name = Self.name(for: identifier)
    counts[name, default: 0] += 1
    mkdir(path, 0o755)
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else {
      return logger.warning(
        "the program of \"\(identifier)\" could not be woken: \(path)/\(name): \(String(cString: strerror(errno)))")
    }
    close(descriptor)
  }

  /// It is back, or its session is no longer preserved.
  func remove(_ identifier: String) {
    let name = Self.name(for: identifier)
    guard let count = counts[name] else { return }
    counts[name] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    unlink("\(path)/\(name)")
    if counts.isEmpty { rmdir(path) }
  }

  /// The identifier as a name of a file and of an instance of a unit (systemd.unit(5)): octets other than letters,
  /// digits, ":", "_", "." and "-" as "\x2f", and likewise a leading dot. A name that would be too long is cut.
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
      let next = isPlain ? String(UnicodeScalar(octet)) : "\\x\(octet < 16 ? "0" : "")\(String(octet, radix: 16))"
      guard name.utf8.count + next.utf8.count <= 200 else { break }
      name += next
    }
    return name
  }
}
