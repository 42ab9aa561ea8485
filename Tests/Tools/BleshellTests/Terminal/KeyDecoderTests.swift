import Testing

@testable import bleshell

/// The keys of a terminal.
@Suite struct KeyDecoderTests {
  private func keys(_ text: String) -> [Key] {
    var decoder = KeyDecoder()
    return text.utf8.compactMap { decoder.handle($0) }
  }

  @Test func keys() {
    #expect(
      keys("a\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[1;5C\u{1B}x\r\u{03}") == [
        .character("a"), .up, .down, .pageUp, .right, .alt("x"), .enter, .control("c"),
      ])
    #expect(keys("\u{1B}\u{03}") == [.control("c")], "Ctrl-C right after Escape is not lost")
    #expect(keys("é日😀") == [.character("é"), .character("日"), .character("😀")])
    #expect(keys("\u{1B}[200~x\u{1B}[Z") == [.character("x")], "keys that are not known are nothing")
  }

  @Test("an Escape alone is a key when nothing follows")
  func escape() {
    var decoder = KeyDecoder()
    #expect(decoder.handle(0x1B) == nil && decoder.isWaiting)
    #expect(decoder.finish() == .escape && !decoder.isWaiting && decoder.finish() == nil)
  }

  @Test("octets that are not UTF-8 and endless sequences are dropped")
  func nonsense() {
    var decoder = KeyDecoder()
    #expect([0xC3, 0x41].compactMap { decoder.handle($0) } == [.character("A")])
    #expect([0x1B, 0x5B].compactMap { decoder.handle($0) } == [])
    for _ in 0..<100 { _ = decoder.handle(UInt8(ascii: "1")) }
    _ = decoder.finish()
    #expect(decoder.handle(0x41) == .character("A"))
  }
}
