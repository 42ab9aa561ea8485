import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import bled

/// Entries for systemd's journal, and their way if the journal does not accept them.
@Suite struct JournalTests {
  @Test func fieldsAreLinesOrCountedOctets() {
    #expect(JournalEntry.field("ADAPTER", "hci0") == Array("ADAPTER=hci0\n".utf8))
    #expect(JournalEntry.field("EMPTY", "") == Array("EMPTY=\n".utf8))
    // A line feed cannot forge a field.
    let forged = JournalEntry.field("PERIPHERAL", "x\nPRIORITY=0")
    #expect(forged == Array("PERIPHERAL\n".utf8) + [12, 0, 0, 0, 0, 0, 0, 0] + Array("x\nPRIORITY=0\n".utf8))
    let long = JournalEntry.field("A", "\n" + String(repeating: "x", count: 0x1233))
    #expect(long.dropFirst(2).prefix(8).elementsEqual([0x34, 0x12, 0, 0, 0, 0, 0, 0]))
  }

  @Test func theJournalIsKnownByDeviceAndInode() {
    var status = stat()
    fstat(0, &status)
    #expect(JournalSocket.isJournal(0, stream: "\(status.st_dev):\(status.st_ino)"))
    for other in [nil, "", "\(status.st_dev)", "\(status.st_dev):\(status.st_ino)0", "8:\(status.st_ino &+ 1)"] {
      #expect(!JournalSocket.isJournal(0, stream: other), "\(other ?? "nil")")
    }
    #expect(!JournalSocket.isJournal(-1, stream: "\(status.st_dev):\(status.st_ino)"))
  }

  @Test("Lines are entries with their fields, those that repeat as well", .timeLimit(.minutes(10)))
  func entries() throws {
    let journal = try Journal()
    defer { journal.close() }
    let writer = try journal.writer()
    let fields = JournalEntry.field("SESSION", "3")
    for _ in 0..<2 {
      writer.log(.init(level: .warning, text: "slow", fields: fields), of: .init(file: "x.swift", line: 1))
    }
    writer.end(within: 10_000)
    let start = "MESSAGE=slow"
    let rest = "PRIORITY=4\nSYSLOG_IDENTIFIER=bled\nSESSION=3\n"
    #expect(try journal.next() == "\(start)\n\(rest)")
    #expect(try journal.next() == "\(start) (repeated once)\n\(rest)")
    #expect(journal.text == "")
  }

  @Test("What the journal has no room for goes to the descriptor, and is counted", .timeLimit(.minutes(10)))
  func full() throws {
    let journal = try Journal()
    defer { journal.close() }
    let writer = try journal.writer()
    let filling = journal.fill()
    log(writer, "one", place: 1)
    log(writer, "two", place: 2)
    var text = ""
    while text.utf8.count < 18 { text += try journal.nextText() }
    #expect(text == "info one\ninfo two\n")
    for _ in 0..<filling { #expect(try journal.next() == "x") }
    log(writer, "three", place: 3)
    #expect(try journal.next().hasPrefix("MESSAGE=three\n"))
    #expect(try journal.next().hasPrefix("MESSAGE=2 lines of the log have no fields: the journal had no room\n"))
    writer.end(within: 10_000)
  }

  @Test("Entries that are too long, and those without a journal, are text", .timeLimit(.minutes(10)))
  func refused() throws {
    let journal = try Journal()
    let writer = try journal.writer()
    let fields = JournalEntry.field("LONG", String(repeating: "x", count: 9000))
    writer.log(.init(level: .info, text: "long", fields: fields), of: .init(file: "x.swift", line: 1))
    var text = ""
    while text.utf8.count < 10 { text += try journal.nextText() }
    #expect(text == "info long\n")
    log(writer, "short", place: 2)
    #expect(try journal.next().hasPrefix("MESSAGE=short\n"))
    // The thread sends this after the line: with the journal closed before, it would be text.
    #expect(try journal.next().hasPrefix("MESSAGE=1 line of the log has no fields: the journal had no room\n"))
    journal.close()
    log(writer, "gone", place: 3)
    writer.end(within: 10_000)
    #expect(journal.text == "info gone\n")
  }

  private func log(_ writer: LogWriter, _ text: String, place: UInt) {
    writer.log(.init(level: .info, text: text), of: .init(file: "x.swift", line: place))
  }
}

/// A journal's socket in a folder of its own, and a pipe in the place of standard error.
private final class Journal {
  private let path: String
  private let descriptor: CInt
  private let address: sockaddr_un
  private var ends: [CInt] = [-1, -1]

  init() throws {
    var template = Array("/tmp/bled-journal-XXXXXX".utf8CString)
    let folder = try #require(mkdtemp(&template))
    let path = "\(String(cString: folder))/socket"
    self.path = path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    self.address = address
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0 && pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
  }

  deinit {
    for end in ends { Glibc.close(end) }
    rmdir(String(path.dropLast("/socket".count)))
  }

  func close() {
    Glibc.close(descriptor)
    unlink(path)
  }

  func writer() throws -> LogWriter {
    try LogWriter(ends[1], journal: JournalSocket(path: path)) { Array("\($0.level) \($0.text)\n".utf8) }
  }

  /// The next entry.
  func next() throws -> String {
    try #require(Patience.wait(for: descriptor), "there is no entry")
    var octets = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &octets, octets.count, CInt(MSG_DONTWAIT))
    return String(decoding: octets[..<max(0, count)], as: UTF8.self)
  }

  /// Sends entries from other sockets until there is no room.
  /// - Returns: their number.
  func fill() -> Int {
    var count = 0
    while true {
      let sender = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
      defer { Glibc.close(sender) }
      let before = count
      while send("x", from: sender) { count += 1 }
      if count == before { return count }
    }
  }

  private func send(_ text: String, from sender: CInt) -> Bool {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(sender, text, text.utf8.count, CInt(MSG_DONTWAIT), $0, socklen_t(MemoryLayout<sockaddr_un>.size)) > 0
      }
    }
  }

  /// The text in the pipe.
  var text: String {
    var octets = [UInt8](repeating: 0, count: 65_536)
    return String(decoding: octets[..<max(0, read(ends[0], &octets, octets.count))], as: UTF8.self)
  }

  /// The next text in the pipe.
  func nextText() throws -> String {
    try #require(Patience.wait(for: ends[0]), "there is no text")
    return text
  }
}
