import Adapter
import Logging
import TestSupport
import Testing

@testable import BledCore

/// The times at which documents are written, and the treatment of unreadable ones.
@Suite struct StoreTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() { storage = MemoryStorage(scheduler: scheduler) }

  private struct Content: Codable, Hashable {
    var number: Int
  }

  private final class Counter {
    var number = 0
  }

  private func store() -> Store { Store(storage, scheduler: scheduler, logger: logger) }

  @Test func aChangeIsWrittenAtOnceAndManyOnceASecond() throws {
    let counter = Counter()
    let document = store().document("numbers", version: 1) { Content(number: counter.number) }
    #expect(document.load() == nil)
    counter.number = 1
    document.changed()
    document.changed()
    scheduler.advance(by: .milliseconds(20))
    #expect(storage.writes == ["numbers"])
    for _ in 0..<100 {
      counter.number += 1
      document.changed()
      scheduler.advance(by: .milliseconds(9))
    }
    #expect(storage.writes.count == 1)
    scheduler.advance(by: .seconds(1))
    #expect(storage.writes.count == 2)
    scheduler.advance(by: .seconds(60))
    #expect(storage.writes.count == 2, "what does not change is not written")
    let again = store().document("numbers", version: 1) { Content(number: 0) }
    #expect(again.load() == Content(number: 101))
  }

  @Test func whatIsNotUrgentWaitsForTenSecondsOrForTheNextThatIs() throws {
    let document = store().document("numbers", version: 1) { Content(number: 0) }
    document.changed(isUrgent: false)
    scheduler.advance(by: .seconds(1))
    #expect(storage.writes.count == 1)
    for _ in 0..<80 {
      document.changed(isUrgent: false)
      scheduler.advance(by: .milliseconds(100))
    }
    #expect(storage.writes.count == 1)
    scheduler.advance(by: .seconds(2))
    #expect(storage.writes.count == 2)
    document.changed(isUrgent: false)
    document.changed()
    scheduler.advance(by: .seconds(2))
    #expect(storage.writes.count == 3)
  }

  @Test func aFileThatIsTooLargeIsPutAside() throws {
    let document = store().document("numbers", version: 1) { Content(number: 0) }
    storage.files["numbers"] = [1]
    storage.readProblem = .tooLarge(path: "/x/numbers")
    #expect(document.load() == nil)
    #expect(storage.files == ["numbers.damaged": [1]])
  }

  @Test func aFlushWritesWhatChangedMeanwhile() throws {
    let counter = Counter()
    let store = store()
    let numbers = store.document("numbers", version: 1) { Content(number: counter.number) }
    let others = store.document("others", version: 1) { Content(number: -counter.number) }
    var flushed = 0
    store.flush { flushed += 1 }
    #expect(flushed == 1, "nothing is to be written")
    numbers.changed()
    scheduler.advance(by: .milliseconds(1))
    counter.number = 7
    numbers.changed()
    others.changed()
    store.flush { flushed += 1 }
    scheduler.advance(by: .milliseconds(100))
    #expect(flushed == 2)
    #expect(storage.writes == ["numbers", "numbers", "others"])
    #expect(numbers.load() == Content(number: 7) && others.load() == Content(number: -7))
  }

  @Test("A write that failed is repeated after 1, 2, 4 … 60 s, until it succeeds; the log has one line for each end")
  func repeatedWrites() throws {
    let counter = Counter()
    let log = LogLines()
    let store = Store(storage, scheduler: scheduler, logger: log.logger)
    let document = store.document("numbers", version: 1) { Content(number: counter.number) }
    let other = store.document("others", version: 1) { Content(number: 7) }
    storage.problem = .refused(path: "/x", call: "write", code: 28, reason: "No space left on device")
    document.changed()
    scheduler.advance(by: .seconds(62))
    #expect(storage.writes.count == 6 && store.failures == 6, "at 0, 1, 3, 7, 15 and 31 s")
    #expect(!document.isStored && other.isStored)
    scheduler.advance(by: .seconds(600))
    #expect(store.failures == 16, "once a minute")
    #expect(log.all == ["bled's state could not be written: \(storage.problem?.description ?? "")"])
    // The content is the latest one.
    counter.number = 3
    storage.problem = nil
    scheduler.advance(by: .seconds(61))
    #expect(document.isStored && document.load() == Content(number: 3))
    #expect(log.all.count == 2 && log.all.last == "bled's state is written again")
    let writes = storage.writes.count
    scheduler.advance(by: .seconds(600))
    #expect(storage.writes.count == writes, "the disk is left alone")
    // The next failure begins with the shortest pause.
    storage.problem = .refused(path: "/x", call: "write", code: 28, reason: "No space left on device")
    document.changed()
    scheduler.advance(by: .seconds(4))
    #expect(storage.writes.count == writes + 3)
    #expect(log.all.count == 3)
  }

  @Test("After a failed write, a change and a flush are written without waiting for the repetition")
  func changesAfterAFailure() throws {
    let counter = Counter()
    let store = store()
    let document = store.document("numbers", version: 1) { Content(number: counter.number) }
    let other = store.document("others", version: 1) { Content(number: 7) }
    storage.problem = .refused(path: "/x", call: "open", code: 24, reason: "Too many open files")
    document.changed()
    scheduler.advance(by: .seconds(50))
    storage.problem = nil
    other.changed()
    scheduler.advance(by: .milliseconds(100))
    #expect(other.isStored && document.isStored, "both are written with the change of one")
    storage.problem = .refused(path: "/x", call: "open", code: 24, reason: "Too many open files")
    document.changed()
    scheduler.advance(by: .seconds(50))
    #expect(!document.isStored)
    storage.problem = nil
    counter.number = 9
    var isFlushed = false
    store.flush { isFlushed = true }
    scheduler.advance(by: .milliseconds(100))
    #expect(isFlushed && document.isStored && document.load() == Content(number: 9))
    // A flush that fails ends too.
    storage.problem = .refused(path: "/x", call: "open", code: 24, reason: "Too many open files")
    document.changed()
    isFlushed = false
    store.flush { isFlushed = true }
    scheduler.advance(by: .milliseconds(100))
    #expect(isFlushed && !document.isStored)
  }

  @Test("A file cut at any octet, or with any octet altered, is put aside, and the start is a clear one")
  func damage() throws {
    let document = store().document("numbers", version: 1) { Content(number: 12_345) }
    document.changed()
    scheduler.advance(by: .seconds(1))
    let whole = try #require(storage.files["numbers"])
    #expect(document.load() == Content(number: 12_345))
    var damaged = (0..<whole.count).map { Array(whole[..<$0]) }
    for index in whole.indices {
      for bit in 0..<8 {
        var file = whole
        file[index] ^= 1 << bit
        damaged.append(file)
      }
    }
    damaged += [whole + [0], whole + whole, [0], Array("\n".utf8), Array("bled-store 1 numbers 1 \n{}".utf8)]
    for file in damaged {
      storage.files = ["numbers": file]
      #expect(document.load() == nil, "\(file)")
      #expect(storage.files == ["numbers.damaged": file])
    }
  }

  @Test func aDocumentOfAnotherVersionOrNameIsPutAside() throws {
    let document = store().document("numbers", version: 1) { Content(number: 0) }
    let content = Array("{\"number\":5}".utf8)
    let newer = DocumentFormat.encode(content, name: "numbers", version: 2)
    #expect(throws: DocumentFormat.Problem.foreign) { try DocumentFormat.decode(newer, name: "numbers", version: 1) }
    for file in [
      newer, DocumentFormat.encode(content, name: "others", version: 1),
      DocumentFormat.encode(Array("{\"letter\":5}".utf8), name: "numbers", version: 1),
      DocumentFormat.encode(Array("[".utf8), name: "numbers", version: 1),
    ] {
      storage.files["numbers"] = file
      #expect(document.load() == nil)
      #expect(storage.files["numbers"] == nil && storage.files["numbers.damaged"] == file)
    }
    storage.files["numbers"] = DocumentFormat.encode(
      Array("{\"number\":5,\"later\":[]}".utf8), name: "numbers", version: 1)
    #expect(document.load() == Content(number: 5), "keys of a later bled are passed over")
  }

  @Test("A file that was cut is damaged, even if the checksum of what is left is the same")
  func cutWithTheSameChecksum() {
    // The CRC-32 of four octets FF stays the same with any number of octets 00 behind them.
    let file = DocumentFormat.encode([0xFF, 0xFF, 0xFF, 0xFF, 0, 0], name: "doc", version: 2)
    for count in file.indices {
      #expect(throws: DocumentFormat.Problem.damaged) {
        try DocumentFormat.decode(Array(file[..<count]), name: "doc", version: 2)
      }
    }
  }

  @Test func filesOfTheFirstFormatAreRead() throws {
    let document = store().document("numbers", version: 1) { Content(number: 0) }
    let file = Array("bled-store 1 numbers 1 a6496afe\n{\"number\":5}".utf8)
    storage.files["numbers"] = file
    #expect(document.load() == Content(number: 5))
    for count in file.indices {
      storage.files = ["numbers": Array(file[..<count])]
      #expect(document.load() == nil)
      #expect(storage.files["numbers"] == nil)
    }
  }

  private static let unreadable = StoreError.refused(path: "/x", call: "read", code: 5, reason: "Input/output error")

  @Test func aFileThatCannotBeReadIsSetAside() throws {
    let document = store().document("numbers", version: 1) { Content(number: 0) }
    storage.files["numbers"] = [1]
    storage.readProblem = Self.unreadable
    #expect(document.load() == nil)
    #expect(storage.files == ["numbers.damaged": [1]])
  }

  @Test("A file that cannot be read nor set aside is not overwritten; other documents are written")
  func whatCannotBeSetAsideStays() throws {
    let lines = LogLines()
    let store = Store(storage, scheduler: scheduler, logger: lines.logger)
    let numbers = store.document("numbers", version: 1) { Content(number: 1) }
    let others = store.document("others", version: 1) { Content(number: 2) }
    storage.files["numbers"] = [1]
    storage.readProblem = Self.unreadable
    storage.setAsideProblem = Self.unreadable
    #expect(numbers.load() == nil)
    #expect(lines.all.count == 1 && lines.all[0].contains("changes to it are not stored"), "\(lines.all)")
    numbers.changed()
    others.changed()
    var isFlushed = false
    store.flush { isFlushed = true }
    scheduler.advance(by: .seconds(20))
    #expect(isFlushed && storage.writes == ["others"] && storage.files["numbers"] == [1])
  }

  @Test func withoutStorageNothingIsKept() throws {
    let store = Store(nil, scheduler: scheduler, logger: logger)
    let document = store.document("numbers", version: 1) { Content(number: 1) }
    document.changed()
    var isFlushed = false
    store.flush { isFlushed = true }
    #expect(isFlushed && document.load() == nil)
  }
}
