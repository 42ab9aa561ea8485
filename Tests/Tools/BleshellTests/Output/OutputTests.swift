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

  @Test("A name in quotation marks does not end them")
  func quoted() {
    #expect(Output.quoted("bob") == #""bob""#)
    #expect(
      Output.quoted("bob\" offers 1 file; code 417 930\u{202E}") == "\"bob' offers 1 file; code 417 930\u{FFFD}\"")
  }

  @Test("Text that a spreadsheet would evaluate has an apostrophe in front, numbers have not")
  func formulas() {
    #expect(
      CSV.line(["=1+1", "+x", "@SUM(A1)", "-cmd", "-60", "+5", "-1.5e3", "", "a=b", "\t=1"])
        == "'=1+1,'+x,'@SUM(A1),'-cmd,-60,+5,-1.5e3,,a=b,'\u{FFFD}=1")
    #expect(CSV.line(["=\"a\",b"]) == "\"'=\"\"a\"\",b\"")
  }

  private static let table = {
    var table = Table(.init(heading: "NAME"), .init(heading: "RSSI", right: true), .init(heading: "ADVERTISES"))
    table.flexible = 0
    for name in ["Sensor at the bedroom window", "日本語センサー"] {
      table.rows.append([
        .init(text: name), .init(text: "-61"), .init(text: "B1ED0001-5EED-4B1E-8D00-000000000000"),
      ])
    }
    return table
  }()

  @Test("Without a terminal nothing of a table is left out, and wide characters keep its columns")
  func wholeTables() {
    #expect(
      Self.table.lines(width: nil) { text, _ in text } == [
        "NAME                          RSSI  ADVERTISES",
        "Sensor at the bedroom window   -61  B1ED0001-5EED-4B1E-8D00-000000000000",
        "日本語センサー                 -61  B1ED0001-5EED-4B1E-8D00-000000000000",
      ])
  }

  @Test("On a terminal a table is as wide as that, and says with … where something is left out", arguments: 1...80)
  func fittedTables(width: Int) {
    let whole = Self.table.lines(width: nil) { text, _ in text }
    for (line, full) in zip(Self.table.lines(width: width, style: { text, _ in text }), whole) {
      #expect(line.columns <= width, "\(line)")
      let isWhole = line.filter { $0 != " " } == full.filter { $0 != " " }
      #expect(isWhole || line.contains("…"), "\(width): \(line)")
      // All but the name and the last field are whole, or not shown.
      #expect(!line.contains("B1ED") || line.contains("-61  B1ED"), "\(line)")
    }
    #expect(Self.table.lines(width: 40) { text, _ in text }[1] == "Sensor at the b…   -61  B1ED0001-5EED-4…")
  }

  @Test("Numbers of any size become the nearest whole number")
  func wholeNumbers() {
    #expect(
      [1.5, -2.4, 1e300, -1e300, .nan, .infinity].map { Int(nearest: $0) } == [2, -2, 1 << 62, -1 << 62, 0, 1 << 62])
    #expect(!clockText(Date(timeIntervalSince1970: 1e300)).isEmpty)
    #expect(!clockText(Date(timeIntervalSince1970: -1e300)).isEmpty)
  }
}
