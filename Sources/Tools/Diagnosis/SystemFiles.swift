import Glibc

/// A system's files below a folder, for reading; all of them are small.
public struct SystemFiles: Sendable {
  private let root: String

  /// - Parameter root: The path of `/`: "" for this system.
  public init(root: String = "") { self.root = root }

  /// The names in a folder, in order; none if it cannot be read.
  func names(in path: String) -> [String] {
    guard let folder = opendir(root + path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      // Read where it lies: the kernel's record may be shorter than the whole type.
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

  /// True if it exists, or is a link to a path that need not exist.
  func isListed(_ path: String) -> Bool {
    var status = stat()
    return lstat(root + path, &status) == 0
  }

  /// A file's beginning, at most 64 KiB, without the newline at its end; nil if it cannot be read.
  func text(_ path: String) -> String? {
    guard let file = fopen(root + path, "re") else { return nil }
    defer { fclose(file) }
    var octets = [UInt8](repeating: 0, count: 65536)
    let count = fread(&octets, 1, octets.count, file)
    return String(decoding: octets[..<(octets[..<count].last == 10 ? count - 1 : count)], as: UTF8.self)
  }

  /// The target of a link; nil if the path is not a link or cannot be read.
  func target(_ path: String) -> String? {
    var octets = [CChar](repeating: 0, count: 4096)
    let count = readlink(root + path, &octets, octets.count)
    return count < 0 ? nil : String(decoding: octets[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  /// The ids of processes with this name, in order, as far as this program may see them.
  func processes(named name: String) -> [Int] {
    processes.filter { text("/proc/\($0)/comm") == name }
  }

  /// The ids of all processes, in order.
  var processes: [Int] { names(in: "/proc").compactMap { Int($0) }.sorted() }
}
