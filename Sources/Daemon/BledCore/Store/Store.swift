import Adapter
import Bluetooth
import FoundationEssentials
import Logging

/// The daemon's persistent state: named documents. Each is read once at the start; a change is written at once, or a
/// second after the last write began, so many changes are one write; ten seconds if it is not urgent.
///
/// | State   | Input                 | Effect, next state                                             |
/// |---------|-----------------------|----------------------------------------------------------------|
/// | clean   | a document changed    | alarm, at the earliest `pause` after the last write → waiting  |
/// | waiting | a document changed    | it is written together with the others                         |
/// | waiting | alarm, flush          | takes and writes all that changed, one after the other → writing |
/// | writing | a document changed    | it waits for the next round                                    |
/// | writing | all written           | → clean, or waiting if more has changed                        |
/// | writing | one could not be written | alarm, `backOff` after this write began → waiting             |
///
/// A failed write is repeated with the next change of any document and at a flush, and otherwise after 1, 2, 4 … and at
/// most 60 s, until it succeeds.
final class Store {
  /// The minimum time between the beginnings of two writes.
  static let pause = Duration.seconds(1)
  /// Like `pause`, for changes that are not urgent: devices can cause any number of them.
  static let longPause = Duration.seconds(10)
  /// The maximum time from a failed write to its repetition.
  private static let longestBackOff = Duration.seconds(60)

  /// A document.
  private struct Entry {
    /// Captures the current content; the result encodes it, on any thread.
    let snapshot: () -> @Sendable () throws -> EncodedDocument
    /// The pause since the last write before a changed document is written.
    var pause: Duration?
    /// True if the last write failed.
    var hasFailed = false
    /// The remark logged at the last write.
    var remarks: [String] = []
    /// True if its file could neither be read nor set aside: it must not be overwritten.
    var isReadOnly = false
    var hasChanged: Bool { pause != nil }
    var mustBeWritten: Bool { hasChanged || hasFailed }
  }

  private let storage: (any DocumentStorage)?
  private let scheduler: any Scheduler
  private let logger: Logger
  private var entries: [String: Entry] = [:]
  private var alarm: (work: any ScheduledWork, time: Instant)?
  private var lastWrite: Instant?
  private var isWriting = false
  /// The time from the last write, which failed, to its repetition; nil if it succeeded.
  private var backOff: Duration?
  private var flushes: [() -> Void] = []
  /// Written documents, and failed writes.
  private(set) var written = 0
  private(set) var failures = 0

  /// - Parameter storage: nil for a daemon without persistent state.
  init(_ storage: (any DocumentStorage)?, scheduler: any Scheduler, logger: Logger) {
    self.storage = storage
    self.scheduler = scheduler
    self.logger = logger
  }

  /// Registers a document.
  /// - Parameters:
  ///   - name: lower-case letters; the file name.
  ///   - version: incremented when an older daemon could not read the content. New keys alone do not need a new
  ///     version.
  ///   - prepare: prepares the content for writing, on any thread, and returns the remark to log.
  ///   - content: returns the content whenever it is to be written.
  func document<Content: Codable & Sendable>(
    _ name: String, version: Int,
    prepare: @escaping @Sendable (Content) throws -> (Content, remarks: [String]) = { ($0, []) },
    content: @escaping () -> Content
  ) -> StoredDocument<Content> {
    entries[name] = Entry(snapshot: {
      let content = content()
      return {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (prepared, remarks) = try prepare(content)
        return EncodedDocument(
          octets: DocumentFormat.encode([UInt8](try encoder.encode(prepared)), name: name, version: version),
          remarks: remarks)
      }
    })
    return StoredDocument(store: self, name: name, version: version)
  }

  /// Writes changed documents without waiting for the pause.
  /// - Parameter done: called once, when the last write has ended.
  func flush(_ done: @escaping () -> Void) {
    flushes.append(done)
    guard !isWriting else { return }
    writeChanged()
  }

  // MARK: For documents

  fileprivate func load<Content: Decodable>(_ name: String, version: Int) -> Content? {
    guard let storage else { return nil }
    do {
      guard let file = try storage.read(name) else { return nil }
      let content = try DocumentFormat.decode(file, name: name, version: version)
      guard DocumentFormat.hasShortNames(content) else { throw DocumentFormat.Problem.damaged }
      return try JSONDecoder().decode(Content.self, from: Data(content))
    } catch {
      setAside(name, because: error)
    }
    return nil
  }

  fileprivate func changed(_ name: String, isUrgent: Bool) {
    guard storage != nil, entries[name]?.isReadOnly == false else { return }
    let pause = isUrgent ? Self.pause : Self.longPause
    let before = entries[name]?.pause ?? pause
    entries[name]?.pause = min(before, pause)
    setAlarm()
  }

  fileprivate func isStored(_ name: String) -> Bool {
    entries[name].map { !$0.mustBeWritten && !$0.isReadOnly } ?? true
  }

  private func setAside(_ name: String, because error: any Error) {
    let reason =
      (error as? DocumentFormat.Problem)?.description ?? (error as? StoreError)?.description
      ?? "its content is not valid: \(error)"
    do {
      let place = try storage?.setAside(name) ?? name
      logger.error("the stored \(name) cannot be used: \(reason); bled starts without it, and the file is now \(place)")
    } catch {
      entries[name]?.isReadOnly = true
      logger.error(
        """
        the stored \(name) cannot be used: \(reason); bled starts without it, and changes to it are not stored: \(error)
        """)
    }
  }

  private func setAlarm() {
    let pauses = entries.values.compactMap(\.pause) + [backOff].compactMap(\.self)
    guard !isWriting, let pause = pauses.min() else { return }
    let time = max(scheduler.now, lastWrite?.advanced(by: pause) ?? scheduler.now)
    if let alarm, alarm.time <= time { return }
    alarm?.work.cancel()
    let work = scheduler.schedule(at: time) { [weak self] in
      self?.alarm = nil
      self?.writeChanged()
    }
    alarm = (work, time)
  }

  private func writeChanged() {
    alarm?.work.cancel()
    alarm = nil
    guard let storage else { return rest(nil) }
    let changed = entries.filter(\.value.mustBeWritten).map(\.key).sorted()
    if !changed.isEmpty { lastWrite = scheduler.now }
    isWriting = true
    write(changed[...], failure: nil, to: storage)
  }

  private func write(_ names: ArraySlice<String>, failure: (any Error)?, to storage: any DocumentStorage) {
    guard let name = names.first, let entry = entries[name] else { return rest(failure) }
    entries[name]?.pause = nil
    storage.write(name, entry.snapshot()) { [self] result in
      var failure = failure
      switch result {
      case .success(let remarks):
        written += 1
        entries[name]?.hasFailed = false
        warn(remarks, of: name)
      case .failure(let error):
        failures += 1
        entries[name]?.hasFailed = true
        failure = failure ?? error
      }
      write(names.dropFirst(), failure: failure, to: storage)
    }
  }

  private func warn(_ remarks: [String], of name: String) {
    let old = entries[name]?.remarks ?? []
    for remark in remarks where !old.contains(remark) { logger.warning("\(remark)") }
    entries[name]?.remarks = remarks
  }

  /// Everything has been written, or could not be.
  private func rest(_ failure: (any Error)?) {
    isWriting = false
    setBackOff(failure)
    if entries.values.contains(where: \.hasChanged), !flushes.isEmpty { return writeChanged() }
    setAlarm()
    let waiting = flushes
    flushes = []
    for done in waiting { done() }
  }

  private func setBackOff(_ failure: (any Error)?) {
    switch (failure, backOff) {
    case (nil, nil): break
    case (nil, _):
      backOff = nil
      logger.notice("bled's state is written again")
    case (let failure?, nil):
      backOff = Self.pause
      logger.error("bled's state could not be written: \(failure)")
    case (_, let last?): backOff = min(last * 2, Self.longestBackOff)
    }
  }
}

/// A document in the store.
struct StoredDocument<Content: Codable & Sendable> {
  fileprivate let store: Store
  fileprivate let name: String
  fileprivate let version: Int

  /// The content as last written; nil if there is none, or only an unusable one, which is logged.
  func load() -> Content? { store.load(name, version: version) }

  /// True if the last change was written.
  var isStored: Bool { store.isStored(name) }

  /// Schedules a write of the content.
  func changed(isUrgent: Bool = true) { store.changed(name, isUrgent: isUrgent) }
}
