import EventLoop
import Glibc
import MQTTGateway

/// The files of the spool in a folder.
final class SpoolFolder: SpoolStore {
  /// A failed system call.
  struct Failure: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String { "\(path): \(String(cString: strerror(code)))" }
  }

  /// Maximum damaged files kept.
  private static let maximumDamaged = 4
  private static let ending = ".spool"
  private static let damagedEnding = ".damaged"

  private let path: String
  /// The file that is being written, and its length.
  private var written: (number: UInt64, descriptor: Int32, length: Int)?
  /// The file with marked messages.
  private var marked: (number: UInt64, descriptor: Int32)?

  /// Makes the folder, if it is missing.
  init(_ path: String) throws {
    self.path = path
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure(path: path, code: errno) }
  }

  deinit { closeAll() }

  private func name(_ number: UInt64, _ ending: String = ending) -> String {
    let digits = String(number, radix: 16)
    return "\(path)/" + String(repeating: "0", count: 16 - digits.count) + digits + ending
  }

  func files() throws -> [(number: UInt64, length: Int)] {
    try numbers(Self.ending).map { number in
      var status = stat()
      let name = name(number)
      // The entry itself, without following links: an entry that is not a file cannot be read, and is moved aside then.
      guard lstat(name, &status) == 0 else { throw Failure(path: name, code: errno) }
      return (number, Int(status.st_size))
    }
  }

  private func numbers(_ ending: String) throws -> [UInt64] {
    guard let folder = opendir(path) else { throw Failure(path: path, code: errno) }
    defer { closedir(folder) }
    var numbers: [UInt64] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.utf8.count == 16 + ending.utf8.count, name.hasSuffix(ending),
        let number = UInt64(name.prefix(16), radix: 16)
      else { continue }
      numbers.append(number)
    }
    return numbers.sorted()
  }

  func read(_ number: UInt64, limit: Int) throws -> [UInt8] {
    let name = name(number)
    // Without O_NONBLOCK a pipe would wait for its writer.
    let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(path: name, code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(path: name, code: EINVAL)
    }
    var octets: [UInt8] = []
    while true {
      var code: Int32 = 0
      let part = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, length in
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        code = count < 0 ? errno : 0
        length = max(0, count)
      }
      if code == EINTR { continue }
      guard code == 0 else { throw Failure(path: name, code: code) }
      guard !part.isEmpty else { return octets }
      octets += part
      guard octets.count <= limit else { throw Failure(path: name, code: EFBIG) }
    }
  }

  func append(_ octets: [UInt8], to number: UInt64) throws {
    let name = name(number)
    if written?.number != number {
      closeWritten()
      let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw Failure(path: name, code: errno) }
      written = (number, descriptor, 0)
    }
    guard let (_, descriptor, length) = written else { return }
    let count = octets.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(length)) }
    let code = count < 0 ? errno : ENOSPC
    guard count == octets.count else {
      // The messages before it stay valid.
      if length == 0 { unlink(name) } else if ftruncate(descriptor, off_t(length)) != 0 { unlink(name) }
      closeWritten()
      throw Failure(path: name, code: code)
    }
    written?.length += count
  }

  func set(_ octet: UInt8, at offset: Int, of number: UInt64) throws {
    let name = name(number)
    if marked?.number != number {
      closeMarked()
      let descriptor = open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { throw Failure(path: name, code: errno) }
      marked = (number, descriptor)
    }
    guard let descriptor = marked?.descriptor else { return }
    var octet = octet
    guard pwrite(descriptor, &octet, 1, off_t(offset)) == 1 else { throw Failure(path: name, code: errno) }
  }

  func remove(_ number: UInt64) throws {
    forget(number)
    let name = name(number)
    guard unlink(name) == 0 || errno == ENOENT else { throw Failure(path: name, code: errno) }
  }

  func moveAside(_ number: UInt64) throws {
    forget(number)
    let name = name(number)
    guard rename(name, self.name(number, Self.damagedEnding)) == 0 else {
      let code = errno
      unlink(name)
      throw Failure(path: name, code: code)
    }
    for old in try numbers(Self.damagedEnding).dropLast(Self.maximumDamaged) {
      unlink(self.name(old, Self.damagedEnding))
    }
  }

  private func forget(_ number: UInt64) {
    if written?.number == number { closeWritten() }
    if marked?.number == number { closeMarked() }
  }

  private func closeWritten() {
    if let written { close(written.descriptor) }
    written = nil
  }

  private func closeMarked() {
    if let marked { close(marked.descriptor) }
    marked = nil
  }

  private func closeAll() {
    closeWritten()
    closeMarked()
  }
}
