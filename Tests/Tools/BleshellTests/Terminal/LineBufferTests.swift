import TestSupport
import Testing

@testable import bleshell

/// The line that is being typed.
@Suite struct LineBufferTests {
  /// Types a text; "^x" is Ctrl and a letter.
  private func type(_ text: String, into buffer: inout LineBuffer) -> [LineBuffer.Event] {
    var decoder = KeyDecoder()
    return text.utf8.compactMap { decoder.handle($0) }.map { buffer.handle($0) }
  }

  @Test("keys move the cursor, insert and remove")
  func editing() {
    for (typed, line, cursor) in [
      ("abc", "abc", 3), ("abc\u{7F}", "ab", 2), ("abc\u{1B}[D\u{1B}[DX", "aXbc", 2), ("abc\u{01}x\u{05}y", "xabcy", 5),
      ("one two\u{17}", "one ", 4), ("one two\u{15}", "", 0), ("one two\u{01}\u{1B}f\u{0B}", "one", 3),
      ("one two\u{17}\u{01}\u{19} ", "two one ", 4), ("ab\u{01}\u{1B}[3~", "b", 0), ("ab\u{01}\u{04}", "b", 0),
      ("größe\u{7F}", "größ", 4), ("a\u{1B}[H\u{1B}[Fb", "ab", 2), ("x\u{1B}bd\u{1B}d", "d", 1),
    ] {
      var buffer = LineBuffer()
      _ = type(typed, into: &buffer)
      #expect(String(buffer.text) == line && buffer.cursor == cursor, "\(typed.debugDescription)")
    }
  }

  @Test("Ctrl-C discards the line, Enter enters it, Ctrl-D ends in an empty one only")
  func ends() {
    var buffer = LineBuffer()
    #expect(type("power off\u{03}", into: &buffer).last == .discarded)
    #expect(type("\n", into: &buffer) == [.entered("")])
    #expect(type("ab\n", into: &buffer).last == .entered("ab"))
    #expect(type("a\u{04}", into: &buffer).last == .changed && type("\u{03}\u{04}", into: &buffer).last == .ended)
    #expect(type("\t\u{0C}\u{1A}", into: &buffer) == [.completion, .cleared, .suspended])
  }

  @Test("the history is walked and searched; the line that was begun is not lost")
  func history() {
    var buffer = LineBuffer(history: ["scan", "read 2A19", "read 2A37"])
    _ = type("dra\u{1B}[A\u{1B}[A", into: &buffer)
    #expect(String(buffer.text) == "read 2A19")
    _ = type("\u{0E}\u{0E}\u{0E}", into: &buffer)
    #expect(String(buffer.text) == "dra")
    _ = type("\u{12}read", into: &buffer)
    #expect(buffer.searched == "read" && String(buffer.text) == "read 2A37")
    _ = type("\u{12}", into: &buffer)
    #expect(String(buffer.text) == "read 2A19")
    _ = type("\u{07}", into: &buffer)
    #expect(String(buffer.text) == "dra" && buffer.searched == nil)
    #expect(type("\u{12}sc\n", into: &buffer).last == .entered("scan"))
    #expect(buffer.remember("scan") && !buffer.remember("scan") && !buffer.remember("  "))
  }

  @Test("random keys keep the cursor in the line")
  func random() {
    var generator = SeededRandom(seed: Seed.named("BLED_KEYS_SEED", otherwise: 2026))
    var buffer = LineBuffer(history: ["one two", "three"])
    var decoder = KeyDecoder()
    for _ in 0..<20_000 {
      guard let key = decoder.handle(UInt8.random(in: 0...255, using: &generator)) else { continue }
      _ = buffer.handle(key)
      #expect((0...buffer.text.count).contains(buffer.cursor))
      let view = LineView(prompt: "Echo> ", line: buffer.text, cursor: buffer.cursor, width: 20)
      #expect(view.text.columns < 20 && view.cursorColumn < 20)
    }
  }

  @Test("a long line moves sideways, and wide characters count twice")
  func view() {
    let line = Array("0123456789abcdef")
    let end = LineView(prompt: "> ", line: line, cursor: 16, width: 10)
    #expect(end.text == "> 9abcdef" && end.cursorColumn == 9)
    let start = LineView(prompt: "> ", line: line, cursor: 0, width: 10)
    #expect(start.text == "> 0123456" && start.cursorColumn == 2)
    #expect(LineView(prompt: "> ", line: ["日", "本"], cursor: 2, width: 20).cursorColumn == 6)
    #expect("日本語".fitted(to: 5) == "日本…" && "ab".fitted(to: 4, right: true) == "  ab")
  }
}
