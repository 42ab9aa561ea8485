import BledRPC
import Bluetooth
import Foundation
import Testing

@testable import bleshell

/// Keys of `bleshell inspect`, and its screen.
@Suite struct InspectionTests {
  private func sample() -> Inspection {
    var inspection = Inspection(heading: "Belt")
    inspection.found([
      ServiceDescription(
        handle: 0x0C, end: 0x11, uuid: 0x180D, primary: true,
        characteristics: [
          CharacteristicDescription(
            handle: 0x0E, end: 0x0F, uuid: 0x2A37, properties: ["notify"],
            descriptors: [DescriptorDescription(handle: 0x0F, uuid: 0x2902)]),
          CharacteristicDescription(handle: 0x11, end: 0x11, uuid: 0x2A38, properties: ["read", "write"]),
        ]),
      ServiceDescription(handle: 0x12, end: 0x12, uuid: 0x180F, primary: true),
    ])
    return inspection
  }

  private func type(_ keys: [Key], _ inspection: inout Inspection) -> Inspection.Event? {
    keys.map { inspection.handle($0, page: 5) }.last
  }

  private func text(_ text: String) -> [Key] { text.map { .character($0) } }

  private func screen(_ inspection: Inspection, _ columns: Int = 80, _ rows: Int = 24, at time: Double = 0) -> [String]
  {
    InspectScreen(columns: columns, rows: rows).lines(inspection, at: time).map { $0.map(\.text).joined() }
  }

  @Test("r reads the selected value, or all of a service; what cannot be read is said")
  func read() {
    var inspection = sample()
    #expect(inspection.selected?.handle == 0x0C)
    #expect(type([.character("r")], &inspection) == .read([0x11]), "the one that can be read")
    #expect(type([.down, .character("r")], &inspection) == .changed)
    #expect(inspection.notice == "Heart Rate Measurement (2A37) cannot be read")
    #expect(type([.down, .character("r")], &inspection) == .read([0x0F]))
    #expect(type([.end, .character("r")], &inspection) == .changed)
    #expect(inspection.notice == "Battery (180F) has nothing to read" || inspection.notice?.contains("180F") == true)
  }

  @Test("s subscribes and unsubscribes")
  func subscribe() {
    var inspection = sample()
    #expect(type([.down, .character("s")], &inspection) == .subscribe(0x0E))
    inspection.subscribes(0x0E, true)
    #expect(screen(inspection).contains { $0.contains("0x000e --*") })
    #expect(type([.character("s")], &inspection) == .unsubscribe(0x0E))
  }

  @Test("w takes a value as the command write does; Escape and ^C discard it")
  func write() {
    var inspection = sample()
    let begin: [Key] = [.down, .down, .down, .character("w")]
    #expect(type(begin + text("01 q"), &inspection) == .changed)
    #expect(screen(inspection).last == "write 0x0011: 01 q_")
    #expect(type([.backspace] + text("2") + [.enter], &inspection) == .changed)
    #expect(inspection.notice?.contains("hex digits") == true && inspection.input == nil, "01 2 are three digits")
    #expect(type([.character("w")] + text("01 02") + [.enter], &inspection) == .write(0x11, Writing(octets: [1, 2])))
    #expect(
      type([.character("w")] + text("'ab c' --text --no-response") + [.enter], &inspection)
        == .write(0x11, Writing(octets: Array("ab c".utf8), way: .withoutResponse)))
    #expect(
      type([.character("w"), .up, .up, .enter], &inspection) == .write(0x11, Writing(octets: [1, 2])), "the history")
    for key in [Key.escape, .control("c")] {
      #expect(type([.character("w")] + text("7") + [key], &inspection) == .changed && inspection.input == nil)
    }
    // Escape twice does not end the view of a user who only wanted to leave the line.
    #expect(type([.escape], &inspection) == .changed)
    #expect(type([.character("w")] + text("--signd 1") + [.enter], &inspection) == .changed)
    #expect(inspection.notice?.hasPrefix("expected a VALUE") == true)
  }

  @Test("a lost link is shown, with how to connect again; until then nothing is asked of the device")
  func lost() {
    var inspection = sample()
    inspection.subscribes(0x0E, true)
    #expect(type([.character("c")], &inspection) == .changed, "it is connected")
    inspection.lost("the supervision timeout is over")
    #expect(inspection.subscribed.isEmpty)
    let lines = screen(inspection)
    #expect(lines[0] == "Belt  not connected")
    #expect(lines.last == "c connects again, q ends; the link is lost: the supervision timeout is over")
    #expect(type([.down, .character("s")], &inspection) == .changed)
    #expect(inspection.notice == "not connected: c connects again")
    #expect(type([.character("c")], &inspection) == .reconnect && inspection.link == .connecting)
    #expect(type([.character("c")], &inspection) == .changed, "once is enough")
    inspection.isBack()
    #expect(inspection.link == .up && screen(inspection)[0] == "Belt  connected")
  }

  @Test("what a device notifies of a write before its answer is not overwritten by what was written")
  func notifiedFirst() {
    var inspection = sample()
    let asked = Date()
    inspection.value([0, 60], of: 0x0E, at: asked - 1, "notified")
    inspection.written([1], to: 0x0E, asked: asked, at: asked + 1)
    #expect(inspection.values[0x0E]?.octets == [1])
    inspection.value([0, 74], of: 0x0E, at: asked + 2, "notified")
    inspection.written([2], to: 0x0E, asked: asked, at: asked + 3)
    #expect(inspection.values[0x0E]?.octets == [0, 74] && inspection.values[0x0E]?.origin == "notified")
  }

  @Test("services fold; the selection stays with its attribute when the tree is new")
  func tree() {
    var inspection = sample()
    #expect(inspection.shown.count == 5)
    _ = type([.down, .down, .left], &inspection)
    #expect(inspection.shown.map(\.handle) == [0x0C, 0x12] && inspection.selected?.handle == 0x0C)
    #expect(screen(inspection).contains { $0.hasPrefix("> Heart Rate (180D)") })
    _ = type([.right, .down], &inspection)
    #expect(inspection.shown.count == 5 && inspection.selected?.handle == 0x0E)
    inspection.value([0, 74], of: 0x0E, at: Date(), "notified")
    inspection.found([
      ServiceDescription(
        handle: 0x0C, end: 0x0E, uuid: 0x180D, primary: true,
        characteristics: [CharacteristicDescription(handle: 0x0E, end: 0x0E, uuid: 0x2A37, properties: ["read"])])
    ])
    #expect(inspection.selected?.handle == 0x0E && inspection.values[0x0E]?.octets == [0, 74])
    inspection.found([])
    #expect(inspection.selected == nil && inspection.values.isEmpty)
    #expect(type([.down, .character("r"), .left, .character("w")], &inspection) == .changed)
  }

  @Test("what a pairing asks comes before all else, one question after the other; Escape refuses")
  func pairing() {
    var inspection = sample()
    let device = PairingDevice(peripheral: "7D49", address: "C0:DE:00:00:00:21", name: "Lock", isOurs: true)
    inspection.ask(PairingQuestion(PairingConfirm.Params(device: device, number: "012345", seconds: 30)), as: 1)
    inspection.ask(PairingQuestion(PairingEnterPasskey.Params(device: device, seconds: 30)), as: 2)
    #expect(screen(inspection).last == #"does "Lock" show 012345? y or n"#)
    #expect(type([.end, .character("q"), .enter], &inspection) == .changed)
    #expect(inspection.selected?.handle == 0x0C)
    #expect(type([.character("y")], &inspection) == .answered(1, "yes"))
    #expect(type([.character("n")], &inspection) == .answered(1, nil))
    #expect(type([.escape], &inspection) == .answered(1, nil))
    inspection.withdraw(1)
    #expect(type(text("0042"), &inspection) == .changed)
    #expect(screen(inspection).last == #"the passkey that "Lock" shows: 0042_"#)
    #expect(type([.enter], &inspection) == .answered(2, "0042"))
    #expect(type([.control("c")], &inspection) == .answered(2, nil))
    inspection.withdraw(2)
    inspection.showPasskey("type this passkey at Lock: 000042")
    #expect(screen(inspection).last == "type this passkey at Lock: 000042")
    inspection.pairingEnded()
    #expect(screen(inspection).last?.contains("r reads") == true)
  }

  @Test("what is awaited is said, and since when")
  func awaited() {
    var inspection = sample()
    inspection.awaits("reading 2A38", for: "read 17", at: 1)
    inspection.awaits("reading 2A37", for: "read 14", at: 2)
    #expect(screen(inspection, at: 1.5).last == "reading 2A38 …, and 1 more")
    inspection.arrived("read 14")
    #expect(screen(inspection, at: 4.2).last == "reading 2A38 … 3 s")
  }

  @Test("every size has a screen of that size, in which the selected line is seen")
  func sizes() {
    var inspection = sample()
    inspection.measured(-60)
    inspection.value(Array("chest".utf8), of: 0x11, at: Date(), "read")
    _ = type([.down, .down, .down], &inspection)
    for rows in 1...24 {
      for columns in [1, 2, 8, 20, 40, 80, 200] {
        let lines = screen(inspection, columns, rows)
        #expect(lines.count <= rows && lines.allSatisfy { $0.columns <= columns }, "\(columns) × \(rows)")
        if rows > 1, columns > 2 { #expect(lines.contains { $0.hasPrefix("> ") }, "\(columns) × \(rows)") }
      }
    }
  }
}
