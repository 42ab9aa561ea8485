import FoundationEssentials
import Glibc
import Testing

/// A folder with the files of a system; it is removed with its suite.
final class SystemFolder {
  let root: String

  init() throws {
    var template = Array("/tmp/bled-diagnosis-XXXXXX".utf8CString)
    root = String(cString: try #require(mkdtemp(&template)))
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }
}

/// A suite on a system that is a folder.
protocol SystemSuite {
  var system: SystemFolder { get }
}

extension SystemSuite {
  var root: String { system.root }

  func write(_ path: String, _ text: String = "") throws {
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: root + path))
  }

  func link(_ path: String, to target: String) throws {
    try write("\(path).sibling")
    #expect(symlink(target, root + path) == 0)
  }
}
