import FoundationEssentials
import Glibc
import Testing

/// The files that `make install` places below a DESTDIR.
@Suite struct InstallTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  private static let analyzer = "/usr/bin/systemd-analyze"

  private let folder: TemporaryFolder
  private let place: String

  /// Installs empty programs.
  init() throws {
    folder = try TemporaryFolder()
    place = "\(folder.path)/root"
    let dist = "\(folder.path)/dist"
    defer { try? FileManager.default.removeItem(atPath: dist) }
    try FileManager.default.createDirectory(atPath: dist, withIntermediateDirectories: true)
    for part in ["completions", "notices"] {
      try FileManager.default.createDirectory(atPath: "\(dist)/\(part)", withIntermediateDirectories: true)
    }
    for name in ["bled", "bleshell"] {
      try ChildProcess.write("", to: "\(dist)/\(name)")
      for shell in ["bash", "zsh", "fish"] { try ChildProcess.write("", to: "\(dist)/completions/\(name).\(shell)") }
    }
    try ChildProcess.write("", to: "\(dist)/notices/swift-log.txt")
    let install = try ChildProcess(
      "\(Self.root)/scripts/install", [dist],
      environment: [
        "DESTDIR": place, "PREFIX": "/usr", "SYSCONFDIR": "/etc", "UNITDIR": "/usr/lib/systemd/system",
        "SYSUSERSDIR": "/usr/lib/sysusers.d", "ZSHDIR": "/usr/share/zsh/site-functions",
      ], folder: folder)
    #expect(try install.exitStatus() == 0, "\(install.errors)")
  }

  @Test("the units refer to pages and programs that are installed")
  func units() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    for unit in ["bled.service", "bled.socket", "bled-wake@.path", "bled-metrics.service"] {
      let lines = ChildProcess.read("\(place)/usr/lib/systemd/system/\(unit)").split(separator: "\n")
      let pages = lines.filter { $0.hasPrefix("Documentation=file:") }.map { $0.dropFirst("Documentation=file:".count) }
      #expect(!pages.isEmpty, "\(unit) names no page")
      for page in pages { #expect(access("\(place)\(page)", R_OK) == 0, "\(unit) names \(page), which is not there") }
      #expect(!lines.contains { $0.contains("@PREFIX@") || $0.contains("@CONFIG@") }, "\(unit)")
    }
    #expect(ChildProcess.read("\(place)/usr/lib/systemd/system/bled.service").contains("\nExecStart=/usr/bin/bled\n"))
    #expect(access("\(place)/usr/bin/bled", X_OK) == 0)
  }

  @Test("links in the installed pages lead to installed files, and to headings that exist")
  func links() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    let pages = "\(place)/usr/share/doc/bled"
    let names = try FileManager.default.subpathsOfDirectory(atPath: pages).filter { $0.hasSuffix(".md") }
    #expect(names.count > 15)
    var count = 0
    for name in names {
      let folder = name.split(separator: "/").dropLast().map { "/\($0)" }.joined()
      for link in Self.targets(in: ChildProcess.read("\(pages)/\(name)")) where !link.contains("://") {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts[0].isEmpty ? "\(pages)/\(name)" : "\(pages)\(folder)/\(parts[0])"
        count += 1
        #expect(access(path, R_OK) == 0, "\(name) links to \(link), which is not there")
        if parts.count == 2 {
          #expect(Self.anchors(in: ChildProcess.read(path)).contains(parts[1]), "\(name) links to \(link)")
        }
      }
    }
    #expect(count > 50)
    for example in ["python/heart_rate.py", "scenarios/lock.json", "Package.swift", "Sources/Chat/main.swift"] {
      #expect(access("\(pages)/Examples/\(example)", R_OK) == 0, "\(example) is not installed")
    }
  }

  /// The targets of a page's links: the text between "](" and the next ")".
  private static func targets(in page: String) -> [String] {
    page.split(separator: "](").dropFirst().compactMap { rest in
      rest.firstIndex(of: ")").map { String(rest[..<$0]) }
    }
  }

  /// The anchors of a page's headings: lower case, hyphens for spaces, no punctuation.
  private static func anchors(in page: String) -> Set<String> {
    let headings = page.split(separator: "\n").filter { $0.hasPrefix("#") }
    return Set(
      headings.map { heading in
        let words = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
        return String(words.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
      })
  }

  @Test(
    "the services have an exposure of 2.0 at most", .enabled(if: access(analyzer, X_OK) == 0),
    arguments: ["bled", "bled-metrics"])
  func exposure(service: String) throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    // The threshold is in tenths.
    let analysis = try ChildProcess(
      Self.analyzer,
      [
        "security", "--offline=yes", "--threshold=20", "--no-pager",
        "\(place)/usr/lib/systemd/system/\(service).service",
      ], folder: folder)
    #expect(try analysis.exitStatus() == 0, "\(analysis.output)\(analysis.errors)")
  }
}
