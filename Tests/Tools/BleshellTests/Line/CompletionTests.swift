import BledRPC
import Bluetooth
import Testing
import ValueFormats

@testable import bleshell

/// Offers of Tab and of "did you mean".
@Suite struct CompletionTests {
  private static let tree = [
    ServiceDescription(
      handle: 1, end: 9, uuid: 0x180D, primary: true,
      characteristics: [
        .init(handle: 3, end: 4, uuid: 0x2A37, properties: ["notify"]),
        .init(handle: 6, end: 6, uuid: 0x2A38, properties: ["read"]),
        .init(handle: 8, end: 8, uuid: 0x2A39, properties: ["write"]),
        .init(
          handle: 0x11, end: 0x11, uuid: BluetoothUUID("B1ED0002-5EED-4B1E-8D00-000000000000") ?? 0,
          properties: ["read", "write"]),
      ])
  ]

  private static let list = CommandList(description: Bleshell._dumpHelp())

  private func place(_ line: String) -> CompletionPlace { CompletionPlace(CommandWords(line), commands: Self.list) }

  @Test("words are split as in a shell, and the last one is found")
  func words() throws {
    #expect(
      try CommandWords(#"write "Heart Belt" a\ b 'c d' # e"#).complete() == ["write", "Heart Belt", "a b", "c d"])
    #expect(throws: Failure.self) { try CommandWords("read \"x").complete() }
    #expect(CommandWords("read 'Heart B").last == .init(start: 5, text: "Heart B", quote: "'"))
    #expect(Array(CommandWords("read Echo ").before) == ["read", "Echo"])
    #expect(Array(CommandWords("read Ec").before) == ["read"])
    #expect(CommandWords("read # x").last == nil)
  }

  @Test("what can stand where")
  func places() {
    guard case .words(let commands) = place("sc") else {
      Issue.record("no commands")
      return
    }
    #expect(Set(["scan", "devices", "use", "quit"]).isSubset(of: commands))
    #expect(place("connect He") == .devices && place("use ") == .devices)
    #expect(place("write ") == .attributes(.write, of: nil))
    #expect(place("read --timeout 3 Echo ") == .attributes(.read, of: "Echo"))
    #expect(place("write Echo 2A37 ") == .words([]) && place("scan --time ") == .words([]))
    #expect(place("subscribe Echo 2A37 ") == .attributes(.subscribe, of: "Echo"))
    #expect(place("subscribe Echo 2A37 + ") == .devices)
    #expect(place("subscribe Echo 2A37 + Belt 2A38 ") == .attributes(.subscribe, of: "Belt"))
    guard case .words(let options) = place("subscribe --") else {
      Issue.record("no options")
      return
    }
    #expect(Set(["--count", "--indications", "--json"]).isSubset(of: options) && !options.contains("--socket"))
    #expect(place("pairing forget ") == .devices)
  }

  @Test("only characteristics that fit the verb, by name and by UUID")
  func attributes() throws {
    #expect(Self.tree.words(for: .subscribe) == ["Heart Rate Measurement", "2A37"])
    let naming = AttributeNaming(list: try NameList("180D/2A37 = Pulse"))
    #expect(Self.tree.words(for: .subscribe, naming) == ["Pulse", "Heart Rate Measurement", "2A37"])
    #expect(Self.tree.words(for: .write).contains("2A39") && !Self.tree.words(for: .write).contains("2A38"))
  }

  @Test("a word is completed as far as all agree, and quoted as it was begun")
  func completions() throws {
    let words = CommandWords("connect heart")
    let last = try #require(words.last)
    let one = try #require(Completion(last, among: ["Heart Belt", "Echo"]))
    #expect(one.start == 8 && one.typed == #"Heart\ Belt "# && !one.isAmbiguous)
    let quoted = try #require(CommandWords("connect \"heart").last)
    #expect(Completion(quoted, among: ["Heart Belt"])?.typed == "\"Heart Belt\" ")
    let two = try #require(Completion(last, among: ["Heart Belt", "Heart Beat", "Echo"]))
    #expect(two.isAmbiguous && two.typed == #"Heart\ Be"# && two.rows(width: 80).count == 1)
    #expect(Completion(last, among: ["Echo"]) == nil)
  }

  @Test("attributes by handle, UUID, UUID prefix, name, and UUID behind 0x")
  func attribute() throws {
    for (text, handle) in [
      ("0x0011", 0x11), ("0x11", 0x11), ("2A38", 6), ("0x2A38", 6), ("b1ed", 0x11), ("B1ED0002", 0x11),
      ("body sensor location", 6), ("180D/heart rate m", 3),
    ] {
      #expect(try Self.tree.attribute(text).handle == UInt16(handle), "\(text)")
    }
    for (text, words) in [
      ("17", "write it in hex: 0x0011"), ("0x0044", "the handle 0x0044"),
      ("2A36", "did you mean 2A37 or 2A38 or 2A39?"),
      ("Haert Rate Measurement", "did you mean Heart Rate Measurement?"),
      ("180F/2A19", "has no service or characteristic 180F"),
      ("2A3", "did you mean 2A37 or 2A38 or 2A39?"),
    ] {
      let failure = #expect(throws: Failure.self) { try Self.tree.attribute(text) }
      #expect(failure?.message.contains(words) == true, "\(text): \(failure?.message ?? "")")
    }
  }

  @Test("what may have been meant")
  func suggestions() {
    let names = Self.list.names
    #expect(Suggestion.question("sacn", among: names) == "; did you mean scan?")
    #expect(Suggestion.nearest(to: "conect", among: names) == ["connect"])
    #expect(Suggestion.nearest(to: "disc", among: names) == ["disconnect"])
    #expect(Suggestion.nearest(to: "xyzzy", among: names).isEmpty && Suggestion.nearest(to: "", among: names).isEmpty)
    #expect(Suggestion.nearest(to: "haert", among: ["Heart Belt", "Echo"]) == ["Heart Belt"])
  }
}
