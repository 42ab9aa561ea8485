import Testing

@testable import HIDGateway

@Suite("Report maps")
struct ReportMapTests {
  @Test("Lengths and numbers of reports")
  func lengths() throws {
    let keyboard = try ReportMap(Maps.keyboard)
    #expect(keyboard.length(of: ReportKey(.input, 1)) == 8)
    #expect(keyboard.length(of: ReportKey(.output, 1)) == 1)
    #expect(keyboard.length(of: ReportKey(.input, 2)) == 2)
    #expect(keyboard.length(of: ReportKey(.feature, 1)) == nil)
    #expect(keyboard.isNumbered(.input) && keyboard.isNumbered(.output) && !keyboard.isNumbered(.feature))
    let mouse = try ReportMap(Maps.mouse)
    #expect(mouse.length(of: ReportKey(.input, 0)) == 3)
    #expect(!mouse.isNumbered(.input))
  }

  @Test("Kinds of devices")
  func kinds() throws {
    let (keyboard, mouse) = (try ReportMap(Maps.keyboard), try ReportMap(Maps.mouse))
    #expect(keyboard.isKeyboard && !mouse.isKeyboard)
    #expect(keyboard.restsAtZero && mouse.restsAtZero)
    let gamepad = try ReportMap(Maps.gamepad)
    #expect(!gamepad.isKeyboard && !gamepad.restsAtZero)
  }

  @Test("A usage of four octets has its own page; a long item is passed over; globals are saved and restored")
  func rareItems() throws {
    let map = try ReportMap([
      0x0B, 0x06, 0x00, 0x01, 0x00, 0xA1, 0x01, 0xFE, 0x02, 0x10, 0xAA, 0xBB, 0x75, 0x08, 0x95, 0x02, 0xA4, 0x95, 0x20,
      0xB4, 0x81, 0x02, 0xC0,
    ])
    #expect(map.isKeyboard)
    #expect(map.length(of: ReportKey(.input, 0)) == 2)
  }

  @Test(
    "Hostile maps have a fault",
    arguments: [
      ([], "empty"),
      ([UInt8](repeating: 0x05, count: 4097), "more than 4096"),
      ([0x05], "inside an item"),
      ([0xFE, 0xFF, 0x00], "inside an item"),
      ([0xC0], "not open"),
      ([0xA1, 0x01, 0x75, 0x08, 0x95, 0x01, 0x81, 0x02], "open"),
      ([0x85, 0x00], "report ID 0"),
      ([0x86, 0x00, 0x01], "report ID 256"),
      ([0x77, 0xFF, 0xFF, 0xFF, 0xFF], "bits"),
      ([0x97, 0xFF, 0xFF, 0xFF, 0xFF], "fields"),
      ([0xB4], "not saved"),
      ([UInt8](repeating: 0xA4, count: 5), "too deep"),
      ([0x05, 0x01], "no report"),
      // 256 bits, 12288 times.
      ([0x76, 0x00, 0x01, 0x96, 0x00, 0x30, 0x81, 0x02], "more than 16384 octets"),
    ] as [([UInt8], String)])
  func hostile(octets: [UInt8], words: String) {
    let fault: ReportMap.Fault?
    do throws(ReportMap.Fault) { fault = try ReportMap(octets).fault } catch { fault = error }
    #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "")")
  }

  @Test("No octets trap: a thousand of random maps, and each beginning of real ones")
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1000 {
      let count = Int.random(in: 0...300, using: &generator)
      _ = try? ReportMap((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
    for map in [Maps.keyboard, Maps.mouse, Maps.gamepad] {
      for length in map.indices { _ = try? ReportMap(Array(map.prefix(length))) }
    }
  }
}
