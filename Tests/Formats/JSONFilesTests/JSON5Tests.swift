import Bluetooth
import Glibc
import JSONFiles
import Testing

/// Valid JSON5 texts, and the place of the error in invalid ones.
@Suite struct JSON5Tests {
  private func read(_ text: String) throws(FileError) -> FileValue { try JSONFile.parse(text.utf8, name: "my.json") }

  @Test(arguments: [
    ("", 1, 1, "a value is missing"), ("{ a 1 }", 1, 5, "a colon"), ("{\n a: 1\n b: 2 }", 3, 2, "a comma or }"),
    ("[1 2]", 1, 4, "a comma or ]"), ("{ a: [1, 2 }", 1, 12, "a comma or ]"),
    ("{ a: [1, 2", 1, 6, "never closed: add ]"), ("{ a: 'b", 1, 6, "add a quotation mark"),
    ("{ /* a }", 1, 3, "close it"),
    ("{} }", 1, 4, "superfluous bracket"), ("{ a: / }", 1, 6, "a comment begins"), ("[,]", 1, 2, "a value is missing"),
    ("{ a: 'b\\", 1, 6, "add a quotation mark"), (String(repeating: "[", count: 300), 1, 201, "too deeply"),
    ("[\n/* a\n b */ yes]", 3, 7, "\"yes\" is not a value"), ("['ä', 'ö' 1]", 1, 11, "a comma"),
    ("{ 'a\nb': 1 }", 1, 3, "add a quotation mark"), ("{ a-b: 1 }", 1, 3, "needs quotation marks"),
    ("{ 1: 1 }", 1, 3, "quotation"), ("{", 1, 1, "never closed: add }"), ("[1,", 1, 1, "never closed: add ]"),
    ("[01]", 1, 2, "not a value"), ("[0x]", 1, 2, "not a value"), ("[1e]", 1, 2, "not a value"), ("[.]", 1, 2, "value"),
    ("['\\1']", 1, 3, "escape sequence"), ("['\\u12']", 1, 3, "escape sequence"),
    ("['\\uD800']", 1, 3, "escape sequence"), ("['\\uD83D\\u0041']", 1, 3, "escape sequence"),
    ("{\n  a: 1, // first\n  'a': 2 }", 3, 3, "is already defined at 2:3"),
    ("{ \(String(repeating: "a", count: 257)): 1 }", 1, 3, "longer than 256 octets"),
  ])
  func aFaultHasItsPlace(_ text: String, _ line: Int, _ column: Int, _ message: String) throws {
    let error = try #require(throws: FileError.self) { try read(text) }
    #expect(error.description.hasPrefix("my.json:\(line):\(column): not valid JSON5: "), "\(error)")
    #expect(error.message.contains(message), "\(error)")
  }

  @Test func commentsAndTrailingCommasAreAllowedEverywhere() throws {
    let root = try read(
      "\u{FEFF}// a\n{ /* b */ a /* c */ : /* d */ [1, /* e */ 2, ], // f\n /* g\n */ 'b': \"x\", } // h")
    let members = try root.members()
    #expect(members.map(\.name) == ["a", "b"])
    #expect(try members[0].value.elements().map { element in try element.number() } == [1, 2])
    #expect(try members[1].value.text() == "x")
  }

  @Test(arguments: [
    ("0", 0), ("-0.5", -0.5), ("+1", 1), (".5", 0.5), ("5.", 5), ("0xfF", 255), ("-0X10", -16), ("1e3", 1000),
    ("1E-2", 0.01), ("Infinity", .infinity), ("-Infinity", -.infinity),
  ])
  func numbers(_ text: String, _ number: Double) throws { #expect(try read(text).number() == number) }

  @Test func notANumber() throws { #expect(try read("NaN").number().isNaN) }

  @Test(arguments: [
    (#"'it\'s "so"'"#, "it's \"so\""), (#""\b\f\n\r\t\v\0\/\\\q""#, "\u{8}\u{C}\n\r\t\u{B}\0/\\q"),
    (#""\x41\u00e4\uD83D\uDE00""#, "Aä😀"), ("'a\\\nb\\\r\nc'", "abc"), ("'tab\there'", "tab\there"),
  ])
  func texts(_ text: String, _ value: String) throws { #expect(try read(text).text() == value) }

  @Test func theLinesOfATextAreCounted() throws {
    let elements = try read("['a\\\nb',\n 1, 2]").elements()
    #expect(elements[2].failure("").place?.description == "3:5")
  }

  @Test("a part of a file is passed on as it was read")
  func json() throws {
    let text =
      #"{ a: [1, -0.5, 1e300, -0.0, Infinity, -Infinity, NaN, null, true], /* b */ 'c"\\\n': { d: [], 'ä': "\u0001/'" } }"#
    let written = try read(text).json
    #expect(
      written
        == #"{"a":[1,-0.5,1e+300,-0.0,Infinity,-Infinity,NaN,null,true],"c\"\\\u000a":{"d":[],"ä":"\u0001/'"}}"#)
    #expect(try read(written).json == written)
    #expect(try read("[9007199254740993, 0x10, 1e18, 1e19]").json == "[9007199254740992,16,1000000000000000000,1e+19]")
  }

  @Test("names that Swift considers equal are two names")
  func namesAreOctets() throws {
    let members = try read("{ '\u{E9}': 1, 'e\u{301}': 2 }").members()
    #expect(members.count == 2 && members[0].name == members[1].name)
    #expect(members[0].isNamed("\u{E9}") && !members[1].isNamed("\u{E9}"))
  }

  @Test func whatIsNotUTF8IsRefused() throws {
    for octets in [[0xFF], [0x22, 0xC3, 0x22], [0x5B, 0xC0, 0x80, 0x5D], [0, 0x7B, 0, 0x7D]] as [[UInt8]] {
      #expect(throws: FileError.self) { try JSONFile.parse(octets, name: "my.json") }
    }
  }

  @Test func aFileIsBounded() throws {
    let long = try #require(throws: FileError.self) {
      try JSONFile.parse(repeatElement(0x20, count: JSONFile.longest + 1), name: "my.json")
    }
    #expect(long.message.contains("longer than 4 MiB"))
    #expect(throws: FileError.self) { try JSONFile.read("/dev/zero") }
    // A place is found in one pass, however long a line is.
    let list = "[" + String(repeating: "1,", count: 500_000) + "]"
    #expect(try read(list).elements().last?.failure("").place?.column == 1_000_000)
  }

  @Test func aPipeIsReadOnce() throws {
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let text = Array("{ a: 1 }".utf8)
    let count = write(ends[1], text, text.count)
    close(ends[1])
    try #require(count == text.count)
    #expect(try JSONFile.octets(of: "/dev/fd/\(ends[0])") == text)
    #expect(try JSONFile.octets(of: "/dev/zero").count > JSONFile.longest)
  }

  @Test(arguments: [("/no/such/file", "there is no such file", true), ("/", "it is a directory", false)])
  func whatCannotBeReadIsNamed(_ path: String, _ reason: String, _ isMissing: Bool) throws {
    let error = try #require(throws: FileError.self) { try JSONFile.read(path) }
    #expect(error.description.hasPrefix("\(path): the file cannot be read: \(reason)"))
    #expect(error.place == nil && error.isMissingFile == isMissing)
  }
}

/// Values that are read, and the errors about values that do not fit.
@Suite struct FileValueTests {
  private enum Name: String, CaseIterable { case number, text, list, uuid, word, hex }
  private enum Word: String, CaseIterable { case one, two }

  private func members(_ text: String) throws(FileError) -> FileMembers<Name> {
    let root = try JSONFile.parse(text.utf8, name: "my.json")
    return try FileMembers(try root.members()[0].value)
  }

  @Test func valuesThatFit() throws {
    let members = try members(
      "{ part: { number: 0x10, text: 'a', list: ['b', 'c'], uuid: '180D', word: 'two', hex: '00fF' } }")
    #expect(try members.integer(.number, in: 0...UInt8.max) == 16)
    #expect(try members.required(.text) == "a")
    #expect(try members.required(.list) == ["b", "c"])
    #expect(try members.required(.uuid) == (0x180D as BluetoothUUID))
    #expect(try members.word(.word) == Word.two)
    #expect(try members.value(.hex).octets(atMost: 2) == [0, 0xFF])
  }

  @Test func whatIsMissingOrNullHasItsDefault() throws {
    let members = try members("{ part: { number: null } }")
    #expect(try members.integer(.number, in: 0...9, default: 3) == 3)
    #expect(try members.value(.text, default: "x") == "x")
    #expect(try members.word(.word, default: Word.one) == .one)
    #expect(try members.optional(.list, [String].self) == nil)
  }

  @Test(arguments: [
    ("{ part: { nummer: 1 } }", "1:11: part.nummer: this name is not known: give one of number, text, list"),
    ("{ part: [] }", "1:9: part: this must be an object in braces"),
    ("{\n part: { number: 'a' } }", "2:18: part.number: this must be a number"),
    ("{ part: { number: 10 } }", "1:19: part.number: 10.0 is not valid: give a whole number from 0 to 9"),
    ("{ part: { number: 0.5 } }", "1:19: part.number: 0.5 is not valid"),
    ("{ part: { number: 1e300 } }", "1:19: part.number: 1e+300 is not valid"),
    ("{ part: { number: NaN } }", "1:19: part.number: nan is not valid"),
    ("{ part: {} }", "1:9: part: \"number\" is missing: add it"),
    ("{ part: { number: 1, list: ['a', 2] } }", "1:34: part.list[1]: this must be a string in quotation marks"),
    ("{ part: { number: 1, list: ['a', null] } }", "1:34: part.list[1]: this must be a string in quotation marks, not"),
    ("{ part: { number: 1, uuid: 'x' } }", "1:28: part.uuid: \"x\" is not a UUID"),
    ("{ part: { number: 1, word: '\\u001b[2J' } }", "1:28: part.word: \"\u{FFFD}[2J\" is not valid: give one of one"),
    ("{ part: { number: 1, hex: '1' } }", "1:27: part.hex: \"1\" is not hex"),
    ("{ part: { number: 1, hex: '010203' } }", "1:27: part.hex: 3 octets are too many: give at most 2"),
  ])
  func mistakesHaveTheirPlace(_ text: String, _ message: String) throws {
    let error = try #require(throws: FileError.self) {
      let members = try members(text)
      _ = try members.integer(.number, in: 0...9)
      _ = try members.optional(.list, [String].self)
      _ = try members.optional(.uuid, BluetoothUUID.self)
      _ = try members.word(.word, default: Word.one)
      _ = try members[.hex]?.octets(atMost: 2)
    }
    #expect(error.description.hasPrefix("my.json:\(message)"), "\(error)")
  }
}
