import BlueZ
import EventLoop
import FoundationEssentials
import Testing

@testable import bled_bluez

/// The file of devices' settings.
struct SettingsFileTests {
  private let loop: EventLoop
  private let folder = FileManager.default.temporaryDirectory.path + "/bled-bluez-\(UInt64.random(in: 0 ... .max))"

  init() throws {
    loop = try EventLoop()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func file() throws -> SettingsFile {
    try #require(SettingsFile(directory: folder, worker: Worker(loop: loop)))
  }

  private func put(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: folder + "/devices.json")) }

  /// Only the newest of the settings that wait is written.
  @Test func theNewestIsWritten() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let written = try file()
    #expect(try written.read().settings.isEmpty)
    for number in 0..<10 {
      var setting = DeviceSettings()
      setting.alias = "\(number)"
      written.write(["C0:DE:00:00:00:01 random": setting])
    }
    written.whenIdle { [loop] in loop.stop() }
    try loop.run()
    #expect(try file().read().settings["C0:DE:00:00:00:01 random"]?.alias == "9")
    #expect(try file().read().aside == nil)
  }

  /// The bus has ended the loop: pending writes are completed all the same, and an earlier write does not replace them.
  @Test func theLoopHasEnded() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let written = try file()
    for number in 0..<3 {
      var setting = DeviceSettings()
      setting.alias = "\(number)"
      written.write(["C0:DE:00:00:00:01 random": setting])
    }
    written.finish()
    #expect(try file().read().settings["C0:DE:00:00:00:01 random"]?.alias == "2")
    written.whenIdle { [loop] in loop.stop() }
    try loop.run()
    #expect(try file().read().settings["C0:DE:00:00:00:01 random"]?.alias == "2")
  }

  /// An earlier release wrote less.
  @Test func aFileOfAnEarlierRelease() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try put(#"{"C0:DE:00:00:00:01 random": {"isTrusted": true}}"#)
    #expect(try file().read().settings["C0:DE:00:00:00:01 random"]?.isTrusted == true)
  }

  @Test(arguments: ["{", String(repeating: " ", count: SettingsFile.largest) + "{}"])
  func aFileThatCannotBeUsed(_ text: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for _ in 0..<2 {
      try put(text)
      let (settings, aside) = try file().read()
      #expect(settings.isEmpty && aside == folder + "/devices.json.damaged")
      #expect(try file().read().aside == nil)
    }
  }
}
