import FoundationEssentials
import Testing

@testable import bleshell

/// Output for other programs, terminals and spreadsheets.
@Suite struct OutputTests {
  @Test("JSON has what a terminal acts on as escapes, and means the same")
  func escapes() throws {
    let text = "a\u{9B}2J\u{202E}\u{7F}\u{200B}\u{E0001}é😀"
    let encoded = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
    let escaped = Output.escaped(encoded)
    #expect(escaped == #"["a\u009b2J\u202e\u007f\u200b\udb40\udc01é😀"]"#)
    #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [text])
    #expect(Output.escaped(#"{"a":"b"}"#) == #"{"a":"b"}"#)
  }

  @Test("Text that a spreadsheet would evaluate has an apostrophe in front, numbers have not")
  func formulas() {
    #expect(
      CSV.line(["=1+1", "+x", "@SUM(A1)", "-cmd", "-60", "+5", "-1.5e3", "", "a=b", "\t=1"])
        == "'=1+1,'+x,'@SUM(A1),'-cmd,-60,+5,-1.5e3,,a=b,'\u{FFFD}=1")
    #expect(CSV.line(["=\"a\",b"]) == "\"'=\"\"a\"\",b\"")
  }

  @Test("Numbers of any size become the nearest whole number")
  func wholeNumbers() {
    #expect(
      [1.5, -2.4, 1e300, -1e300, .nan, .infinity].map { Int(nearest: $0) } == [2, -2, 1 << 62, -1 << 62, 0, 1 << 62])
    #expect(!clockText(Date(timeIntervalSince1970: 1e300)).isEmpty)
    #expect(!clockText(Date(timeIntervalSince1970: -1e300)).isEmpty)
  }
}
