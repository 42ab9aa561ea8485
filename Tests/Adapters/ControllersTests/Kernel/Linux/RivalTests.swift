import Foundation
import Testing

@testable import Controllers

/// Which process counts as bluetoothd.
@Suite struct RivalTests {
  private func found(name: String, ids: String, group: String = "0::/user.slice/user-1000.slice") throws -> Int? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bled-proc-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = folder.appending(path: "99")
    try FileManager.default.createDirectory(at: process, withIntermediateDirectories: true)
    for (file, text) in [
      ("comm", "\(name)\n"), ("status", "Name:\t\(name)\nUid:\t\(ids)\nGid:\t0\t0\t0\t0\n"), ("cgroup", "\(group)\n"),
    ] {
      try Data(text.utf8).write(to: process.appending(path: file))
    }
    return Rival.process(in: folder.path(percentEncoded: false))
  }

  @Test("A program of root, or the service")
  func own() throws {
    #expect(try found(name: "bluetoothd", ids: "0\t0\t0\t0") == 99)
    #expect(try found(name: "bluetoothd", ids: "7\t7\t7\t7", group: "0::/system.slice/bluetooth.service") == 99)
    #expect(try found(name: "bluetoothctl", ids: "0\t0\t0\t0") == nil)
  }

  @Test("Not a program of another user that has the name, nor a setuid program that such a user started")
  func imitations() throws {
    #expect(try found(name: "bluetoothd", ids: "65534\t65534\t65534\t65534") == nil)
    #expect(try found(name: "bluetoothd", ids: "65534\t0\t0\t0") == nil)
    let group = "0::/user.slice/user-1000.slice/user@1000.service/system.slice/bluetooth.service"
    #expect(try found(name: "bluetoothd", ids: "1000\t1000\t1000\t1000", group: group) == nil)
  }
}
