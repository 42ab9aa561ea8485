import FoundationEssentials
import Glibc
import ValueFormats

/// The files with the names and formats given by people: the user's own, and the one for all users.
enum NameFiles {
  /// The user's own.
  static var own: String {
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
    return (folder ?? environment["HOME", default: "/"] + "/.config") + "/bleshell/names"
  }

  /// Reads both; the user's own counts first.
  /// - Throws: `Failure` for a file that cannot be read, with the line.
  static func read() throws(Failure) -> NameList { try read(own).followed(by: read(NameList.systemFile)) }

  /// Reads both; a file with a fault counts as empty.
  /// - Parameter report: Called with each fault.
  static func readable(_ report: (String) -> Void) -> NameList {
    var names = NameList()
    for path in [own, NameList.systemFile] {
      do throws(Failure) {
        names = names.followed(by: try read(path))
      } catch {
        report(error.message)
      }
    }
    return names
  }

  /// Reads one of them; it is empty if the file does not exist.
  static func read(_ path: String) throws(Failure) -> NameList {
    guard let text = try text(path) else { return NameList() }
    do throws(NameList.Fault) {
      return try NameList(text)
    } catch {
      throw Failure("\(path):\(error)")
    }
  }

  /// - Returns: nil if the file does not exist.
  private static func text(_ path: String) throws(Failure) -> String? {
    guard let data = FileManager.default.contents(atPath: path) else {
      guard access(path, F_OK) == 0 else { return nil }
      throw Failure("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard data.count <= NameList.longest, let text = String(validating: data, as: UTF8.self) else {
      throw Failure("\(path) is not text in UTF-8 of at most \(NameList.longest >> 10) KiB")
    }
    return text
  }

  /// Gives a key a name or a format. A half that is nil stays as it is, and an empty one is removed.
  /// - Returns: the line; nil if nothing is left of it.
  static func set(
    _ key: NameList.Key, name: String?, format: String?, in path: String
  ) throws(Failure) -> String? {
    guard name?.contains(where: { $0 == ":" || $0.isNewline }) != true else {
      throw Failure("a name cannot have a colon or a line feed", status: 64)
    }
    let old = try read(path).entries.first { $0.key == key }
    let (newName, newFormat) = (name ?? old?.name ?? "", format ?? old?.formatText ?? "")
    guard !newName.isEmpty || !newFormat.isEmpty else { return try remove(key, in: path) }
    let line = NameList.line(key, name: newName, format: newFormat.isEmpty ? nil : newFormat)
    do throws(NameList.Fault) { _ = try NameList(line) } catch { throw Failure(error.message, status: 64) }
    try replace(key, in: path, with: line)
    return line
  }

  /// Removes the line of a key.
  /// - Returns: nil: no line is left.
  static func remove(_ key: NameList.Key, in path: String) throws(Failure) -> String? {
    try replace(key, in: path, with: nil)
    return nil
  }

  /// Writes another line for a key, or removes its line.
  /// - Parameter line: nil: it is removed.
  private static func replace(_ key: NameList.Key, in path: String, with line: String?) throws(Failure) {
    let old = try text(path) ?? ""
    let new = NameList.replacing(key, in: old, with: line)
    guard new != old else { return }
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    let isNewFolder = access(folder, F_OK) != 0
    do {
      try FileManager.default.createDirectory(at: URL(filePath: folder), withIntermediateDirectories: true)
      try Data(new.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw Failure("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    guard path == NameList.systemFile else { return }
    // Every user reads it; the umask of the writer does not count.
    guard chmod(path, 0o644) == 0, !isNewFolder || chmod(folder, 0o755) == 0 else {
      throw Failure("\(path) cannot be made readable for all users: \(String(cString: strerror(errno)))")
    }
  }
}
