import Glibc

/// A file written by people: JSON with comments, trailing commas and the other additions in JSON5.
///
/// Its values are read through `FileValue` and `FileMembers`, which know their place in the file, so every error names
/// the line and the column.
public enum JSONFile {
  /// The longest accepted file, in octets: 4 MiB.
  public static let longest = 4 << 20

  /// Reads a file.
  /// - Returns: its outermost value.
  /// - Throws: the fault and its place.
  public static func read(_ path: String) throws(FileError) -> FileValue {
    try parse(try octets(of: path), name: path)
  }

  /// Reads a file's contents once, for programs that pass them on: a pipe has them only once.
  /// - Returns: all octets; of a file that is too long more than `longest`, which `parse` refuses.
  /// - Throws: the fault if it cannot be read.
  package static func octets(of path: String) throws(FileError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var octets: [UInt8] = []
    // The size of special files is not known in advance, and some are endless.
    while octets.count <= longest {
      var count = 0
      let more = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, length in
        repeat { count = Glibc.read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
        length = max(count, 0)
      }
      guard count >= 0 else { throw unreadable(path, errno) }
      guard count > 0 else { break }
      octets += more
    }
    return octets
  }

  /// Parses a file's contents.
  /// - Parameter name: the file's name in messages.
  /// - Returns: its outermost value.
  /// - Throws: the fault and its place.
  public static func parse(_ octets: some Sequence<UInt8>, name: String) throws(FileError) -> FileValue {
    let octets = Array(octets)
    guard octets.count <= longest else {
      throw FileError(file: name, place: nil, message: "the file is longer than \(longest >> 20) MiB: shorten it")
    }
    do throws(JSON5Parser.Fault) {
      return FileValue(try JSON5Parser.parse(octets), path: "", file: name)
    } catch {
      throw FileError(file: name, place: error.place, message: "not valid JSON5: \(error.message)")
    }
  }

  private static func unreadable(_ path: String, _ code: Int32) -> FileError {
    let reason =
      switch code {
      case ENOENT: "there is no such file: check its name"
      case EACCES: "permission denied: check its owner and mode"
      case EISDIR: "it is a directory: name a file in it"
      default: "\(String(cString: strerror(code)))"
      }
    return FileError(
      file: path, place: nil, message: "the file cannot be read: \(reason)", isMissingFile: code == ENOENT)
  }
}
