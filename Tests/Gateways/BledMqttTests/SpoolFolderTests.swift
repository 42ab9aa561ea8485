import Foundation
import MQTTGateway
import Testing

@testable import bled_mqtt

/// The folder of the spool, with entries that are no files of it.
struct SpoolFolderTests {
  private enum Entry: CaseIterable {
    case danglingLink
    case link
    case pipe
    case folder
    case empty
  }

  private func make(_ entry: Entry, at path: String) throws {
    switch entry {
    case .danglingLink: try #require(symlink("\(path).none", path) == 0)
    case .link: try #require(symlink("/etc/hostname", path) == 0)
    case .pipe: try #require(mkfifo(path, 0o600) == 0)
    case .folder: try #require(mkdir(path, 0o700) == 0)
    case .empty: try Data().write(to: URL(fileURLWithPath: path))
    }
  }

  @Test(arguments: Entry.allCases) private func anOddEntryIsMovedAside(_ entry: Entry) throws {
    let path = NSTemporaryDirectory() + "/bled-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = try SpoolFolder(path)
    try make(entry, at: "\(path)/0000000000000003.spool")
    let spool = try Spool(folder, limit: 1 << 20)
    try #require(spool.append(OutgoingMessage(topic: "t", payload: [7], quality: .atLeastOnce)) != nil)
    #expect(spool.next()?.message.payload == [7])
    #expect(spool.counters.damaged == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == ["0000000000000003.damaged", "0000000000000004.spool"])
  }
}
