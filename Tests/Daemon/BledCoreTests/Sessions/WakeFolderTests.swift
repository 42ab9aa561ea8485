import BledRPC
import FoundationEssentials
import Glibc
import Logging
import TestSupport
import Testing

@testable import BledCore

/// Files that start programs: G22.
@Suite struct WakeFolderTests {
  private func names(in path: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }

  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// A folder for one test.
  private func temporaryFolder() throws -> String {
    let path = "\(FileManager.default.temporaryDirectory.path)/bled-wake-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(chmod(path, 0o700) == 0)
    return path
  }

  @Test("G22: a file appears when something happens for a program that is gone, and goes when it is back")
  func wakes() throws {
    let path = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    WakeFolder(path: path, logger: logger).add("stale")
    let folder = WakeFolder(path: path, logger: logger)
    #expect(names(in: path) == [])

    let world = World(restoration: RestorationSettings(wakes: folder))
    let belt = world.peer()
    try belt.furnish()
    for user: UInt32 in [1, 2] {
      let client = world.client(user: user)
      _ = try client.result(SessionOpen.self, .init(restore: "belt logger"))
      try world.connect(client, belt)
      client.die()
    }
    #expect(names(in: path) == [])
    (world.daemon.links.links.first?.link as? ScriptedLink)?.end(reason: 0x08)
    #expect(names(in: path) == ["belt\\x20logger"])
    let back = world.client(user: 1)
    _ = try back.result(SessionOpen.self, .init(restore: "belt logger"))
    // The other user's program is awaited still.
    #expect(names(in: path) == ["belt\\x20logger"])
    _ = try world.client(user: 2).result(SessionEnd.self, .init(restore: "belt logger"))
    #expect(names(in: path) == [])
  }

  @Test("A daemon removes the files that a previous one left, and nothing else")
  func leftovers() throws {
    let path = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(atPath: "\(path)/folder", withIntermediateDirectories: true)
    let create = { (name: String, text: String) in
      _ = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(text.utf8))
    }
    create("empty", "")
    create("letter", "dear")
    #expect(mkfifo("\(path)/fifo", 0o600) == 0)
    try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "letter")
    let others = ["empty", "fifo", "folder", "letter", "link"]
    WakeFolder(path: path, logger: logger).add("stale")
    #expect(names(in: path).sorted() == others + ["stale"])
    _ = WakeFolder(path: path, logger: logger)
    #expect(names(in: path).sorted() == others)
  }

  @Test("What lies in the place of a file is not followed, not waited for and not removed", .timeLimit(.minutes(10)))
  func whatLiesInTheWay() throws {
    let path = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(mkdir("\(path)/wake", 0o700) == 0)
    #expect(mkfifo("\(path)/wake/fifo", 0o600) == 0)
    for (name, target) in [("dangling", "\(path)/made"), ("link", "\(path)/precious")] {
      try FileManager.default.createSymbolicLink(atPath: "\(path)/wake/\(name)", withDestinationPath: target)
    }
    #expect(FileManager.default.createFile(atPath: "\(path)/precious", contents: nil))
    #expect(FileManager.default.createFile(atPath: "\(path)/wake/file", contents: nil))
    let names = ["dangling", "fifo", "file", "link"]
    let lines = LogLines()
    let folder = WakeFolder(path: "\(path)/wake", logger: lines.logger)
    for name in names { folder.add(name) }
    #expect(lines.all.count == names.count, "\(lines.all)")
    for name in names { folder.remove(name) }
    #expect(self.names(in: "\(path)/wake").sorted() == names)
    #expect(self.names(in: path).sorted() == ["precious", "wake"])
  }

  @Test("A folder that others may write, or a link of another user, is not used")
  func foreignFolders() throws {
    let path = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    for mode in [0o777, 0o1777] as [mode_t] {
      mkdir("\(path)/wake", 0o700)
      WakeFolder(path: "\(path)/wake", logger: logger).add("stale")
      #expect(chmod("\(path)/wake", mode) == 0)
      let lines = LogLines()
      let folder = WakeFolder(path: "\(path)/wake", logger: lines.logger)
      folder.add("program")
      #expect(names(in: "\(path)/wake") == ["stale"])
      #expect(lines.all.contains { $0.contains("other users may write to \(path)/wake") }, "\(lines.all)")
      #expect(lines.all.contains { $0.contains("restoration.wakeDirectory") }, "\(lines.all)")
    }
    guard geteuid() == 0 else { return }
    #expect(chmod("\(path)/wake", 0o700) == 0 && chmod(path, 0o1777) == 0)
    #expect(symlink("wake", "\(path)/link") == 0 && lchown("\(path)/link", 65534, 65534) == 0)
    WakeFolder(path: "\(path)/link", logger: logger).add("program")
    #expect(names(in: "\(path)/wake") == ["stale"])
  }

  @Test("Identifiers with other octets are others, even if Swift calls them equal")
  func identifiersAreOctets() throws {
    let path = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = WakeFolder(path: "\(path)/wake", logger: logger)
    folder.add("caf\u{E9}")
    folder.add("cafe\u{301}")
    #expect(names(in: "\(path)/wake").sorted() == ["caf\\xc3\\xa9", "cafe\\xcc\\x81"])
    folder.remove("cafe\u{301}")
    #expect(names(in: "\(path)/wake").sorted() == ["caf\\xc3\\xa9"])
    folder.remove("caf\u{E9}")
    #expect(names(in: path) == [], "the folder goes with its last file")

    let world = World()
    let first = world.client(user: 5)
    _ = try first.result(SessionOpen.self, .init(restore: "caf\u{E9}"))
    _ = try first.result(ScanStart.self, .init(services: [0x180D]))
    first.die()
    #expect(try world.client(user: 5).result(SessionOpen.self, .init(restore: "cafe\u{301}")).restored == nil)
    #expect(try world.client(user: 5).result(SessionOpen.self, .init(restore: "caf\u{E9}")).restored != nil)
  }

  @Test func namesAreSafe() {
    #expect(WakeFolder.name(for: "com.example.heart-rate:1_a") == "com.example.heart-rate:1_a")
    #expect(WakeFolder.name(for: "../etc") == "\\x2e.\\x2fetc")
    #expect(WakeFolder.name(for: "é\\") == "\\xc3\\xa9\\x5c")
    let long = String(repeating: "ä", count: 63)
    #expect(
      WakeFolder.name(for: long + "a")
        == "sha256-2112490250d5e9316f3e124fe7d37182d40897833f9b8db7356f9def2d1a8dd4")
    #expect(WakeFolder.name(for: long + "a") != WakeFolder.name(for: long + "b"))
    #expect(WakeFolder.name(for: String(repeating: "ä", count: 64)).utf8.count <= 200)
  }
}
