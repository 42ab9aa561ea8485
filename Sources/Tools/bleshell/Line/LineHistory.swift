import FoundationEssentials
import Glibc

/// The file with the lines of earlier runs. If it cannot be read or written, bleshell works without it.
struct LineHistory {
  /// Maximum lines used; a file with twice as many is shortened.
  private static let maximum = 500
  private static let libedit = "_HiStOrY_V2_"

  /// Nil if the environment names no place for it.
  private let path: String?

  init() {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    let state = environment["XDG_STATE_HOME"] ?? environment["HOME"].map { "\($0)/.local/state" }
    if let state { try? FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true) }
    path = state.map { "\($0)/bleshell_history" }
  }

  /// The lines, the oldest first.
  func lines() -> [String] {
    guard let path, let data = FileManager.default.contents(atPath: path) else { return [] }
    var all = String(decoding: data.suffix(1 << 20), as: UTF8.self).split(separator: "\n").map(String.init)
    // Earlier releases kept it with libedit, which writes blanks in octal.
    if all.first == Self.libedit { all = all.dropFirst().map { $0.replacing("\\040", with: " ") } }
    let lines = Array(all.suffix(Self.maximum))
    if all.count > 2 * Self.maximum {
      try? Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path), options: .atomic)
    }
    return lines
  }

  /// Adds a line.
  func append(_ line: String) {
    guard let path else { return }
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let octets = Array((line + "\n").utf8)
    _ = write(file, octets, octets.count)
  }
}
