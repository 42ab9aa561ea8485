import FoundationEssentials
import Glibc
import Testing

/// The files that `make install` places below a DESTDIR.
@Suite struct InstallTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

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
    for name in ["bled", "bleshell"] { try ChildProcess.write("", to: "\(dist)/\(name)") }
    let install = try ChildProcess(
      "\(Self.root)/scripts/install", [dist],
      environment: [
        "DESTDIR": place, "PREFIX": "/usr", "SYSCONFDIR": "/etc", "UNITDIR": "/usr/lib/systemd/system",
        "SYSUSERSDIR": "/usr/lib/sysusers.d",
      ], folder: folder)
    #expect(try install.exitStatus() == 0, "\(install.errors)")
  }

  @Test("the units refer to pages and programs that are installed")
  func units() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    for unit in ["bled.service", "bled.socket", "bled-wake@.path"] {
      let lines = ChildProcess.read("\(place)/usr/lib/systemd/system/\(unit)").split(separator: "\n")
      let pages = lines.filter { $0.hasPrefix("Documentation=file:") }.map { $0.dropFirst("Documentation=file:".count) }
      #expect(!pages.isEmpty, "\(unit) names no page")
      for page in pages { #expect(access("\(place)\(page)", R_OK) == 0, "\(unit) names \(page), which is not there") }
      #expect(!lines.contains { $0.contains("@PREFIX@") || $0.contains("@CONFIG@") }, "\(unit)")
    }
    #expect(ChildProcess.read("\(place)/usr/lib/systemd/system/bled.service").contains("\nExecStart=/usr/bin/bled\n"))
    #expect(access("\(place)/usr/bin/bled", X_OK) == 0)
  }

  @Test("the service has an exposure of 2.0 at most", .enabled(if: access(analyzer, X_OK) == 0))
  func exposure() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    // The threshold is in tenths.
    let analysis = try ChildProcess(
      Self.analyzer,
      [
        "security", "--offline=yes", "--threshold=20", "--no-pager",
        "\(place)/usr/lib/systemd/system/bled.service",
      ], folder: folder)
    #expect(try analysis.exitStatus() == 0, "\(analysis.output)\(analysis.errors)")
  }
}
