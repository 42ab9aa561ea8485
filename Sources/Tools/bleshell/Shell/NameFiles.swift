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

  /// Writes another line for a key, or removes its line.
  /// - Parameter line: nil: it is removed.
  static func replace(_ key: NameList.Key, in path: String, with line: String?) throws(Failure) {
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
