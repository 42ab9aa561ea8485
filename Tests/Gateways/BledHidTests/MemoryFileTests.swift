import Bluetooth
import FoundationEssentials
import Testing

@testable import bled_hid

@Suite("What is remembered of devices")
struct MemoryFileTests {
  private let keyboard = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let lock = DeviceAddress(value: 0x0A0B_0C0D_0E0F, kind: .public)

  @Test("It outlasts the process")
  func lasts() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bled-hid-\(UInt64.random(in: .min ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = MemoryFile(directory: folder.path())
    file.remember(keyboard, isHID: true)
    file.remember(lock, isHID: false)
    var again = MemoryFile(directory: folder.path())
    #expect(again.isHID(keyboard) == true && again.isHID(lock) == false)
    file.remember(lock, isHID: nil)
    again = MemoryFile(directory: folder.path())
    #expect(again.isHID(keyboard) == true && again.isHID(lock) == nil)
    file.remember(lock, isHID: false)
    file.keep([lock])
    again = MemoryFile(directory: folder.path())
    #expect(again.isHID(keyboard) == nil && again.isHID(lock) == false)

    try Data("nonsense\nF0:F1 random input\n\u{FF} random\nF0:F1:F2:F3:F4:01 sideways input\n".utf8)
      .write(to: folder.appending(path: "devices"))
    #expect(MemoryFile(directory: folder.path()).isHID(keyboard) == nil)
  }

  @Test("Without a directory it lasts as long as the process")
  func nowhere() {
    let file = MemoryFile(directory: nil)
    file.remember(lock, isHID: false)
    #expect(file.isHID(lock) == false)
  }
}
