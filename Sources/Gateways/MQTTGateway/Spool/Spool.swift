import DequeModule

/// The messages waiting for the broker, in order and across restarts, in files of a bounded size each.
///
/// Only the files being read and the file being written are in memory. At the limit the oldest file is removed, with
/// its messages. A file that differs from the written one is moved aside as a whole: nothing in it is sent.
package final class Spool {
  /// A message in the spool.
  package struct Position: Hashable, Sendable {
    let file: UInt64
    let offset: Int
  }

  /// The counters.
  package struct Counters: Hashable, Sendable {
    /// Messages that were dropped at the limit, oldest first.
    package var dropped: UInt64 = 0
    /// Messages that could not be written.
    package var unwritten: UInt64 = 0
    /// Files that were damaged.
    package var damaged: UInt64 = 0
  }

  /// An event that belongs in the log.
  package enum Event: Hashable, Sendable {
    /// The limit is reached: the oldest messages go.
    case full
    /// Nothing can be written, for this reason.
    case unwritable(String)
    /// A file was moved aside.
    case damaged(UInt64)
  }

  private struct Listed {
    let number: UInt64
    var length: Int
  }

  private let store: any SpoolStore
  /// In octets, of all files together.
  private let limit: Int
  /// The longest file.
  private let portion: Int
  private var files: Deque<Listed> = []
  private var loaded: [UInt64: SpoolFile] = [:]
  /// The file that is being written; the last one.
  private var tail: UInt64?
  private var lastNumber: UInt64 = 0
  package private(set) var counters = Counters()
  package var happened: (Event) -> Void = { _ in }

  /// - Parameter limit: of all files, in octets; at least 64 KiB times four.
  /// - Throws: if the files cannot be listed.
  package init(_ store: any SpoolStore, limit: Int) throws {
    self.store = store
    portion = min(256 << 10, max(SpoolRecord.longest * 2, limit / 8))
    self.limit = max(limit, portion * 2)
    for file in try store.files().sorted(by: { $0.number < $1.number }) {
      files.append(Listed(number: file.number, length: file.length))
      lastNumber = max(lastNumber, file.number)
    }
  }

  /// True if no message waits or is unconfirmed.
  package var isEmpty: Bool { files.isEmpty }

  /// The octets of all files.
  package var length: Int { files.reduce(0) { $0 + $1.length } }

  /// Adds a message to the end.
  /// - Parameter isHanded: the broker has it already, but has not confirmed it.
  /// - Returns: nil if it could not be written: it is lost, and counted.
  @discardableResult
  package func append(_ message: OutgoingMessage, isHanded: Bool = false) -> Position? {
    guard let record = SpoolRecord.octets(of: message) else {
      counters.unwritten += 1
      return nil
    }
    seal(ifLongerThan: portion - record.count)
    let number = tail ?? lastNumber &+ 1
    do {
      try store.append(tail == nil ? SpoolRecord.header + record : record, to: number)
    } catch {
      counters.unwritten += 1
      seal(ifLongerThan: 0)
      happened(.unwritable("\(error)"))
      return nil
    }
    if tail == nil {
      (tail, lastNumber) = (number, number)
      files.append(Listed(number: number, length: 0))
      loaded[number] = SpoolFile()
    }
    guard let offset = loaded[number]?.append(record, isHanded: isHanded) else { return nil }
    if let last = files.indices.last { files[last].length = offset + record.count }
    dropOldest()
    return Position(file: number, offset: offset)
  }

  /// The next message in order, which counts as handed over from now on; nil if there is none.
  package func next() -> (message: OutgoingMessage, position: Position)? {
    var index = 0
    while index < files.count {
      let number = files[index].number
      guard load(number) else { continue }
      if let (message, offset) = loaded[number]?.next() {
        return (message, Position(file: number, offset: offset))
      }
      if loaded[number]?.left == 0, number != tail { remove(at: index) } else { index += 1 }
    }
    return nil
  }

  /// The broker has a message, or it is not to be sent again.
  package func deliver(_ position: Position) {
    guard loaded[position.file]?.deliver(position.offset) == true else { return }
    if loaded[position.file]?.left == 0 {
      if let index = files.firstIndex(where: { $0.number == position.file }) { remove(at: index) }
    } else {
      // If it cannot be written the message may be sent again after a restart, as the quality of service allows.
      try? store.set(1, at: position.offset + SpoolRecord.mark, of: position.file)
    }
  }

  /// True if an undelivered message still exists: it may have been dropped at the limit.
  package func has(_ position: Position) -> Bool { files.contains { $0.number == position.file } }

  /// The connection to the broker is lost: unconfirmed messages are to be handed over again.
  package func rewind() {
    for number in loaded.keys { loaded[number]?.rewind() }
  }

  // MARK: Files

  /// Reads a file, unless it is in memory; an unusable file is removed.
  private func load(_ number: UInt64) -> Bool {
    if loaded[number] != nil { return true }
    do {
      loaded[number] = try SpoolFile(store.read(number, limit: portion))
      return true
    } catch {
      counters.damaged += 1
      try? store.moveAside(number)
      files.removeAll { $0.number == number }
      happened(.damaged(number))
      return false
    }
  }

  /// Closes the last file for writing if it is longer.
  private func seal(ifLongerThan length: Int) {
    guard let number = tail, let last = files.last, last.length > length else { return }
    tail = nil
    if loaded[number]?.left == 0 {
      remove(at: files.count - 1)
    } else if number != files.first?.number, loaded[number]?.waiting == loaded[number]?.left {
      // The file is read again in its turn.
      loaded[number] = nil
    }
  }

  private func dropOldest() {
    guard length > limit, let first = files.first, first.number != tail, load(first.number) else { return }
    counters.dropped += UInt64(loaded[first.number]?.waiting ?? 0)
    remove(at: 0)
    happened(.full)
  }

  private func remove(at index: Int) {
    guard index < files.count else { return }
    let number = files.remove(at: index).number
    loaded[number] = nil
    if tail == number { tail = nil }
    try? store.remove(number)
  }
}
