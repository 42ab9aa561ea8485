import BledRPC
import FoundationEssentials
import Logging
import Testing

@testable import BledCore

/// Files that start programs: G22.
@Suite struct WakeFolderTests {
  private func names(in path: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }

  @Test("G22: a file appears when something happens for a program that is gone, and goes when it is back")
  func wakes() throws {
    let path = "\(FileManager.default.temporaryDirectory.path)/bled-wake-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: "\(path)/stale", contents: nil)
    let folder = WakeFolder(path: path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
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

  @Test func onlyEmptyFilesAreRemoved() throws {
    let path = "\(FileManager.default.temporaryDirectory.path)/bled-wake-\(UUID().uuidString)"
    defer {
      try? FileManager.default.removeItem(atPath: path)
      try? FileManager.default.removeItem(atPath: "\(path)-link")
    }
    try FileManager.default.createDirectory(atPath: "\(path)/folder", withIntermediateDirectories: true)
    let create = { (name: String, text: String) in
      _ = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(text.utf8))
    }
    create("stale", "")
    create("letter", "dear")
    try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "letter")
    try FileManager.default.createSymbolicLink(atPath: "\(path)-link", withDestinationPath: path)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    _ = WakeFolder(path: "\(path)-link", logger: logger)
    #expect(names(in: path).sorted() == ["folder", "letter", "link", "stale"])
    _ = WakeFolder(path: path, logger: logger)
    #expect(names(in: path).sorted() == ["folder", "letter", "link"])
  }

  @Test func namesAreSafe() {
    #expect(WakeFolder.name(for: "com.example.heart-rate:1_a") == "com.example.heart-rate:1_a")
    #expect(WakeFolder.name(for: "../etc") == "\\x2e.\\x2fetc")
    #expect(WakeFolder.name(for: "é\\") == "\\xc3\\xa9\\x5c")
    #expect(WakeFolder.name(for: String(repeating: "ä", count: 64)).utf8.count <= 200)
  }
}
