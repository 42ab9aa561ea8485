import Bluetooth
import FoundationEssentials
import Testing

@testable import BondedDevices

@Suite("What is remembered of devices")
struct MemoryFileTests {
  private let keyboard = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let lock = DeviceAddress(value: 0x0A0B_0C0D_0E0F, kind: .public)

  @Test("It outlasts the process")
  func lasts() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "bled-memory-\(UInt64.random(in: .min ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = MemoryFile(directory: folder.path(), word: "input")
    file.remember(keyboard, hasService: true)
    file.remember(lock, hasService: false)
    var again = MemoryFile(directory: folder.path(), word: "input")
    #expect(again.hasService(keyboard) == true && again.hasService(lock) == false)
    file.remember(lock, hasService: nil)
    again = MemoryFile(directory: folder.path(), word: "input")
    #expect(again.hasService(keyboard) == true && again.hasService(lock) == nil)
    file.remember(lock, hasService: false)
    file.keep([lock])
    again = MemoryFile(directory: folder.path(), word: "input")
    #expect(again.hasService(keyboard) == nil && again.hasService(lock) == false)

    try Data("nonsense\nF0:F1 random input\n\u{FF} random\nF0:F1:F2:F3:F4:01 sideways input\n".utf8)
      .write(to: folder.appending(path: "devices"))
    #expect(MemoryFile(directory: folder.path(), word: "input").hasService(keyboard) == nil)
  }

  @Test("Without a directory it lasts as long as the process")
  func nowhere() {
    let file = MemoryFile(directory: nil, word: "input")
    file.remember(lock, hasService: false)
    #expect(file.hasService(lock) == false)
  }
}
