import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import bleshell

/// The list of devices on the screen of a scan.
@Suite struct ScanListTests {
  private func report(_ name: String?, _ number: Int, rssi: Int, services: [BluetoothUUID]? = nil) -> ScanReport.Params
  {
    var report = ScanReport.Params(
      peripheral: "0000000\(number)-0000-4000-8000-000000000000", adapter: "simulated",
      address: "C0:DE:00:00:00:0\(number)", addressType: "random", connectable: true, data: HexBytes([]), time: 0)
    (report.name, report.rssi, report.services) = (name, rssi, services)
    return report
  }

  private func sample() -> ScanList {
    var list = ScanList()
    list.received(report("Echo", 1, rssi: -80), at: 1)
    list.received(report("belt", 2, rssi: -50, services: [0x180D]), at: 2)
    list.received(report(nil, 3, rssi: -60), at: 3)
    return list
  }

  private func order(_ list: ScanList) -> String { list.shown().map { String($0.report.address.suffix(1)) }.joined() }

  private func type(_ keys: [Key], _ list: inout ScanList) -> ScanList.Event? {
    keys.map { list.handle($0, page: 10) }.last
  }

  @Test("sorted by signal, age and name; those without a name are last")
  func orders() {
    var list = sample()
    #expect(order(list) == "231")
    _ = type([.character("s")], &list)
    #expect(list.order == .age && order(list) == "321")
    _ = type([.character("s")], &list)
    #expect(list.order == .name && order(list) == "213")
  }

  @Test("the selection moves, stays with its device, and Enter chooses it")
  func selection() {
    var list = sample()
    #expect(type([.enter], &list) == .changed, "nothing is selected")
    #expect(type([.down, .down, .enter], &list) == .chosen("00000003-0000-4000-8000-000000000000"))
    for rssi in [-40, -40, -40, -40, -40, -40, -40, -40] { list.received(report(nil, 3, rssi: rssi), at: 4) }
    #expect(order(list) == "321" && list.selected?.hasPrefix("00000003") == true)
    _ = type([.end], &list)
    #expect(list.selected?.hasPrefix("00000001") == true)
    _ = type([.pageUp], &list)
    #expect(list.selected?.hasPrefix("00000003") == true)
    #expect(type([.control("c")], &list) == .ended && type([.character("q")], &list) == .ended)
  }

  @Test("the filter is typed: names, services, levels; Escape removes it")
  func filter() {
    for (text, shown) in [
      ("ECHO", "1"), ("heart", "2"), ("180d", "2"), ("-70", "23"), ("-70 belt", "2"), ("c0:de", "231"), ("nobody", ""),
      ("00000001", ""),
    ] {
      var list = sample()
      _ = type([.character("/")] + text.map { .character($0) }, &list)
      #expect(list.isTyping && list.filter.text == text && order(list) == shown, "\(text)")
      _ = type([.enter], &list)
      #expect(!list.isTyping && order(list) == shown)
      _ = type([.character("/"), .escape], &list)
      #expect(!list.isTyping && order(list) == "231")
    }
    var list = sample()
    _ = type([.character("/"), .character("q"), .backspace, .down], &list)
    #expect(list.isTyping && list.filter.text.isEmpty && list.selected != nil, "q is a letter of the filter")
  }

  @Test("what is lost fades and goes; heard again it stays")
  func lost() {
    var list = sample()
    _ = type([.down], &list)
    list.lost("00000002-0000-4000-8000-000000000000", at: 10)
    list.lost("00000001-0000-4000-8000-000000000000", at: 10)
    list.tick(at: 12)
    #expect(list.shown().count { $0.lost != nil } == 2 && list.count == 3)
    list.received(report("Echo", 1, rssi: -80), at: 13)
    list.tick(at: 19)
    #expect(order(list) == "31" && list.selected == nil, "the selected one is gone")
  }

  @Test("below the list everything is shown that was heard of the selected device, where there is room")
  func detail() {
    var list = ScanList()
    var beacon = report("Beacon", 1, rssi: -50)
    beacon.connectable = false
    beacon.data = HexBytes([2, 0x01, 0x06, 5, 0xFF, 0x4C, 0x00, 0x02, 0x15, 3, 0x03, 0x0D, 0x18])
    beacon.scanResponse = HexBytes([7, 0x09] + Array("Beacon".utf8))
    list.received(beacon, at: 1)
    func lines(_ rows: Int) -> [String] {
      ScanScreen(columns: 80, rows: rows).lines(list, at: 1, notice: nil).map { $0.map(\.text).joined() }
    }
    #expect(lines(24).count == 3, "none is selected")
    _ = type([.down], &list)
    let shown = lines(24)
    #expect((10...24).contains(shown.count) && lines(11).count == 3, "\(shown)")
    for text in [
      "does not accept connections, -50 dBm on average", "Flags  general discoverable, BR/EDR not supported",
      "Manufacturer Specific Data  Apple: 0215", "Heart Rate", "in the scan response:", "Complete Local Name  Beacon",
    ] { #expect(shown.contains { $0.contains(text) }, "\(text) in \(shown)") }
    // Enter does not leave the screen for a connection that cannot be made.
    #expect(type([.enter], &list) == .changed && lines(24).last == "this device does not accept connections")
    #expect(type([.up], &list) == .changed && lines(24).last?.contains("q ends") == true)
  }

  @Test("random keys and reports leave a screen that fits")
  func random() {
    var generator = SeededRandom(seed: Seed.named("BLED_KEYS_SEED", otherwise: 2026))
    var list = ScanList()
    let keys: [Key] = [
      .up, .down, .pageUp, .pageDown, .home, .end, .character("s"), .character("/"), .character("日"), .enter, .escape,
      .backspace, .tab,
    ]
    for step in 0..<3000 {
      let number = Int.random(in: 0...9, using: &generator)
      let name = [nil, "日本語のとても長い名前のデバイス", "a\u{1B}[2J", "Echo"].randomElement(using: &generator) ?? nil
      list.received(report(name, number, rssi: Int.random(in: -127...20, using: &generator)), at: Double(step))
      if step % 7 == 0 { list.lost("0000000\(number)-0000-4000-8000-000000000000", at: Double(step)) }
      list.tick(at: Double(step))
      _ = list.handle(keys.randomElement(using: &generator) ?? .up, page: 5)
      let columns = Int.random(in: 1...100, using: &generator)
      let rows = Int.random(in: 1...30, using: &generator)
      let lines = ScanScreen(columns: columns, rows: rows).lines(list, at: Double(step), notice: nil)
      #expect(lines.count <= rows && lines.allSatisfy { $0.map(\.text).joined().columns <= columns })
      #expect(!lines.joined().contains { $0.text.contains("\u{1B}") })
    }
  }

  @Test("ages and bars")
  func cells() {
    #expect(ScanScreen.age(0.3) == "now" && ScanScreen.age(12.2) == "12s" && ScanScreen.age(200) == "3m")
    #expect(ScanScreen.bars([-100, -70, -40]) == "▁▅█" && ScanScreen.bars([]).isEmpty)
    #expect(CSV.line(["a", "b,c", "d\"e", "f\ng"]) == "a,\"b,c\",\"d\"\"e\",f\u{FFFD}g")
  }
}
