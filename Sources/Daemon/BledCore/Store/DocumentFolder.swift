import EventLoop
import Glibc

/// Documents as files in one directory. A worker writes them, on a thread started with the first of them.
public final class DocumentFolder: DocumentStorage {
  /// Far larger than any file of ours.
  private static let largestFile = 16 << 20
  /// Maximum kept unreadable files of a document.
  private static let maximumAside = 5

  /// The directory.
  public let path: String
  private let folder: TrustedDirectory
  private let worker: Worker

  /// Opens a directory for this process alone; it is made if only its last part is missing. A directory that other
  /// users may change is refused.
  /// - Parameter worker: executes slow calls.
  public init(path: String, worker: Worker) throws(StoreError) {
    self.path = path
    self.worker = worker
    do throws(TrustedDirectory.Problem) {
      folder = try TrustedDirectory(path, creating: 0o700)
    } catch {
      throw StoreError(error, path: path)
    }
    guard flock(directory, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK ? .inUse(path: path) : .last("flock", path)
    }
    guard faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw .last("access", path) }
  }

  private var directory: CInt { folder.descriptor }

  /// The file with this name; nil if there is none.
  public func read(_ name: String) throws(StoreError) -> [UInt8]? {
    let file = "\(path)/\(name)"
    // A special file must not block us: opening a FIFO without O_NONBLOCK waits for a writer.
    let descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last("open", file)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last("stat", file) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: file) }
    var octets: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count == 0 { return octets }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw .last("read", file)
      }
      octets += piece[..<count]
      guard octets.count <= Self.largestFile else { throw .tooLarge(path: file) }
    }
  }

  /// Renames an unreadable file; of those renamed earlier the latest four are kept.
  /// - Returns: its path.
  public func setAside(_ name: String) throws(StoreError) -> String {
    let aside = "\(name).damaged"
    let places = [aside] + (1..<Self.maximumAside).map { "\(aside).\($0)" }
    if let last = places.last, unlinkat(directory, last, 0) != 0 { unlinkat(directory, last, AT_REMOVEDIR) }
    for (place, next) in zip(places, places.dropFirst()).reversed() {
      guard renameat(directory, place, directory, next) == 0 || errno == ENOENT else {
        throw .last("rename", "\(path)/\(place)")
      }
    }
    guard renameat(directory, name, directory, aside) == 0 else { throw .last("rename", "\(path)/\(name)") }
    return "\(path)/\(aside)"
  }

  /// Writes a file beside the old one, and returns only after both the file and its name have reached the disk.
  public func write(
    _ name: String, _ encode: @escaping @Sendable () throws -> EncodedDocument,
    _ done: @escaping (Result<[String], any Error>) -> Void
  ) {
    let (directory, path) = (directory, path)
    worker.submit {
      let document = try encode()
      try Self.replace(name, document.octets, in: directory, path)
      return document.remarks
    } _: { [self] result in
      // Until here the directory stays open.
      withExtendedLifetime(self) { done(result) }
    }
  }

  private static func replace(
    _ name: String, _ octets: [UInt8], in directory: CInt, _ path: String
  ) throws(StoreError) {
    let fresh = ".\(name).new"
    let file = "\(path)/\(fresh)"
    // A file left by an interrupted write, or existing for another reason, is not reused.
    unlinkat(directory, fresh, 0)
    let descriptor = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .last("open", file) }
    do throws(StoreError) {
      defer { close(descriptor) }
      var rest = octets[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
          if errno == EINTR { continue }
          throw .last("write", file)
        }
        rest = rest.dropFirst(count)
      }
      guard fsync(descriptor) == 0 else { throw .last("fsync", file) }
    } catch {
      unlinkat(directory, fresh, 0)
      throw error
    }
    guard renameat(directory, fresh, directory, name) == 0 else { throw .last("rename", file) }
    guard fsync(directory) == 0 else { throw .last("fsync", path) }
  }
}
