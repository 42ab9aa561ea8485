import Bluetooth
import FoundationEssentials
import Glibc
import Logging
import TestSupport
import Testing

@testable import bled

/// Which lines of a log are written, and which are counted.
@Suite struct LogRepetitionsTests {
  private typealias Line = LogRepetitions.Line

  private let here = LogRepetitions.Kind(file: "a.swift", line: 1)
  private let there = LogRepetitions.Kind(file: "a.swift", line: 2)
  private var repetitions = LogRepetitions()

  private func at(_ seconds: Double) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  /// Logs lines at a time.
  /// - Returns: the number of written ones.
  private mutating func written(
    _ texts: some Sequence<String>, _ level: Logger.Level = .info, of kind: LogRepetitions.Kind, at seconds: Double
  ) -> Int {
    texts.reduce(0) { count, text in
      count + (repetitions.admits(Line(level: level, text: text), of: kind, at: at(seconds)) ? 1 : 0)
    }
  }

  /// The lines due at a time.
  private mutating func due(_ seconds: Double) -> [String] { repetitions.due(at: at(seconds)).map(\.text) }

  @Test mutating func aRepeatedLineIsWrittenOnceAndCountedOnceASecond() {
    #expect(repetitions.deadline == nil)
    let first = written(repeatElement("refused", count: 94_880), of: here, at: 0.5)
    #expect(first == 1)
    let early = due(1.4)
    #expect(early == [] && repetitions.deadline == at(1.5))
    let told = due(1.5)
    #expect(told == ["refused (repeated 94,879 times)"])
    // The counting continues.
    let second = written(["refused"], of: here, at: 2)
    let again = due(2.5)
    #expect(second == 0 && again == ["refused (repeated once)"])
    let nothing = due(3.5)
    #expect(nothing == [] && repetitions.deadline == nil)
    let later = written(["refused"], of: here, at: 9)
    #expect(later == 1)
  }

  @Test mutating func differentLinesFromOnePlaceAreLimited() {
    let first = written((0..<1000).map { "session \($0)" }, of: here, at: 0)
    let other = written(["session 1"], of: there, at: 0)
    #expect(first == 20 && other == 1)
    let told = due(1)
    #expect(told == ["session 999 (the last of 980 lines like this)"])
    let more = written(["session 1000"], of: here, at: 1.5)
    #expect(more == 0, "the flood goes on")
    let again = due(2)
    let nothing = due(3)
    #expect(again.count == 1 && nothing == [])
    let later = written(["session 1001"], of: here, at: 3)
    #expect(later == 1)
  }

  @Test mutating func whoDebugsSeesMore() {
    let count = written((0..<2000).map { "\($0)" }, .debug, of: here, at: 0)
    #expect(count == 1000)
  }

  @Test mutating func atTheEndAllIsTold() {
    _ = written(["a", "a", "a"], of: here, at: 0)
    let told = repetitions.due(at: at(0), isEnd: true)
    #expect(told == [Line(level: .info, text: "a (repeated 2 times)")])
  }
}

/// A real pipe or file at the end of the log.
@Suite struct LogWriterTests {
  private func makePipe() throws -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    #expect(pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  private func writer(_ descriptor: CInt) throws -> LogWriter {
    try LogWriter(descriptor) { Array("\($0.level) \($0.text)\n".utf8) }
  }

  private func log(_ writer: LogWriter, _ text: String, place: UInt) {
    writer.log(.init(level: .info, text: text), of: .init(file: "x.swift", line: place))
  }

  /// The number of times a line was logged, from the present lines and their counts of repetitions.
  private func times(_ line: String, in text: String) -> Int {
    text.split(separator: "\n").reduce(0) { sum, told in
      let words = told.split(separator: " ")
      guard words.dropFirst().first.map(String.init) == line else { return sum }
      // "info a", "info a (repeated once)", "info a (repeated 2 times)".
      return sum + (words.count < 4 ? 1 : Int(words[3]) ?? 1)
    }
  }

  /// The content of a descriptor up to its end.
  private func readAll(_ descriptor: CInt) -> String {
    var octets: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &piece, piece.count), count > 0 { octets += piece[..<count] }
    return String(decoding: octets, as: UTF8.self)
  }

  @Test("Logging does not wait for an unread pipe, and counts the lines without room", .timeLimit(.minutes(10)))
  func aPipeThatNobodyReads() throws {
    let (reading, writing) = try makePipe()
    let writer = try writer(writing)
    let text = String(repeating: "x", count: 1000)
    for number in 0..<5000 as Range<UInt> { log(writer, "\(number) \(text)", place: number) }
    writer.end(within: 10)
    // Now the pipe is read. A line is either present or counted as missing.
    var (numbers, lost): ([Int], Int) = ([], 0)
    var rest: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while numbers.count + lost < 5000 {
      rest += piece[..<read(reading, &piece, piece.count)]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
        rest = Array(rest[(end + 1)...])
        let number = try #require(words.count > 2 ? Int(words[1]) : nil)
        if words[0] == "warning" {
          lost += number
        } else {
          numbers.append(number)
          #expect(words[2] == text, "each line is whole")
        }
      }
    }
    #expect(lost > 1000 && numbers.count + lost == 5000)
    #expect(numbers == numbers.sorted())
    close(reading)
    close(writing)
  }

  @Test(
    "Repeated lines are told after a second, without another line", .timeLimit(.minutes(10)), arguments: [true, false])
  func repeated(isFile: Bool) throws {
    var template = Array("/tmp/bled-log-XXXXXX".utf8CString)
    let (reading, writing) = isFile ? (mkstemp(&template), CInt(-1)) : try makePipe()
    if isFile { #expect(fcntl(reading, F_SETFL, O_APPEND) == 0) }
    let writer = try writer(isFile ? reading : writing)
    for _ in 0..<3 { log(writer, "a", place: 1) }
    log(writer, "b", place: 2)
    // On a machine that is busy for a second it is reported between any two of the lines.
    var text = ""
    if isFile {
      // Lines written to a file are there at once.
      lseek(reading, 0, SEEK_SET)
      #expect(readAll(reading).hasPrefix("info a\n"))
      #expect(
        Patience.wait {
          lseek(reading, 0, SEEK_SET)
          text = readAll(reading)
          return times("a", in: text) == 3
        })
    } else {
      var octets = [UInt8](repeating: 0, count: 100)
      while times("a", in: text) < 3 || times("b", in: text) < 1, Patience.wait(for: reading) {
        text += String(decoding: octets[..<read(reading, &octets, 100)], as: UTF8.self)
      }
    }
    #expect(times("a", in: text) == 3 && times("b", in: text) == 1 && text.contains("repeated"), "\(text)")
    log(writer, "c", place: 3)
    log(writer, "c", place: 3)
    writer.end(within: 10_000)
    if isFile { lseek(reading, 0, SEEK_SET) } else { close(writing) }
    #expect(times("c", in: readAll(reading)) == 2)
    close(reading)
    if isFile { unlink(template) }
  }

  @Test func aReaderThatHasGoneIsNoReasonToStop() throws {
    let (reading, writing) = try makePipe()
    close(reading)
    signal(SIGPIPE, SIG_IGN)
    let writer = try writer(writing)
    for number in 0..<100 as Range<UInt> { log(writer, "\(number)", place: number) }
    #expect(throws: Never.self) { writer.end(within: 10_000) }
    close(writing)
  }
}
