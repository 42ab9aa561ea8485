import Collections
import FoundationEssentials

/// The lines that wait for a client to read them, within bounds.
///
/// | Waiting octets          | Reports        | Values          | Answers and events | Requests of the client |
/// |-------------------------|----------------|-----------------|--------------------|------------------------|
/// | below `coalescing`      | queued         | queued          | queued             | read                   |
/// | below `reports`         | newest of each device | queued   | queued             | read                   |
/// | below `values`          | dropped, counted | queued        | queued             | not read, a link of its own is held (`Brake`)   |
/// | below `everything`      | dropped, counted | refused: lost, and told | queued   | not read               |
/// | at `everything`         | dropped, counted | refused       | overflow: the session ends | not read       |
public struct Outbox {
  /// The bounds, in octets that wait.
  public struct Limits: Hashable, Sendable {
    /// From here on a device's report replaces the one of it that still waits.
    public var coalescing = 64 << 10
    /// From here on reports are dropped, and requests are not read.
    public var reports = 256 << 10
    /// From here on values are refused.
    public var values = 1 << 20
    /// Nothing gets beyond this.
    public var everything = 4 << 20
    /// The bounds that fit a daemon with a hundred clients.
    public init() {}
    /// The bounds of what is kept for a disconnected program, possibly for an hour.
    static var kept: Limits {
      var limits = Limits()
      limits.coalescing = 0
      limits.reports = 64 << 10
      limits.values = 256 << 10
      limits.everything = 512 << 10
      return limits
    }

    /// The bounds for a given upper bound, in the same proportions.
    init(everything: Int) {
      self.everything = everything
      values = everything / 4
      reports = everything / 16
      coalescing = everything / 64
    }
  }

  /// The kind of a line, which decides what happens to it at the bounds.
  public enum Kind: Hashable, Sendable {
    /// An answer, or a call that wants one: of no use on any other connection.
    case answer
    /// An event that must arrive.
    case event
    /// A report on the device of this number.
    case report(device: Int)
    /// A value of a subscription.
    case value
  }

  /// The outcome of adding a line.
  public enum Admission: Hashable, Sendable {
    /// It waits for the client.
    case queued
    /// It waits in the place of an older report on the same device.
    case coalesced
    /// A report for which there was no room.
    case dropped
    /// A value for which there was no room.
    case refused
    /// Not even events have room.
    case overflow
  }

  private struct Entry {
    var line: Data
    var device: Int?
    var isAnswer = false
  }

  /// The octets that wait.
  public private(set) var waiting = 0
  /// How many reports were replaced by a newer one before the client read them.
  public private(set) var coalescedReports = 0
  /// How many reports were dropped.
  public private(set) var droppedReports = 0
  /// How many values were refused.
  public private(set) var refusedValues = 0

  /// The bounds in force; what waits already stays when they become narrower.
  var limits: Limits
  private var entries: Deque<Entry> = []
  /// The number of the first entry; entries are numbered through from the beginning.
  private var first = 0
  /// The numbers of the entries that hold the newest report on a device; only those made while coalescing.
  private var newestReports: [Int: Int] = [:]

  /// Makes an empty outbox.
  public init(limits: Limits = Limits()) { self.limits = limits }

  /// Whether nothing waits.
  public var isEmpty: Bool { entries.isEmpty }
  /// Whether so much waits that no more requests should be read.
  public var isCongested: Bool { waiting >= limits.reports }
  /// Whether so little waits that requests can be read again.
  public var isRelieved: Bool { waiting < limits.coalescing }

  /// Adds a line, line feed included, if its kind has room.
  /// - Parameter spare: how many octets may be added at all.
  public mutating func append(_ line: Data, as kind: Kind, spare: Int = .max) -> Admission {
    switch kind {
    case .answer, .event:
      guard waiting + line.count <= limits.everything, line.count <= spare else { return .overflow }
      push(Entry(line: line, isAnswer: kind == .answer))
    case .value:
      guard waiting + line.count <= limits.values, line.count <= spare else {
        refusedValues += 1
        return .refused
      }
      push(Entry(line: line))
    case .report(let device):
      if waiting >= limits.coalescing, let number = newestReports[device] {
        waiting += line.count - entries[number - first].line.count
        entries[number - first].line = line
        coalescedReports += 1
        return .coalesced
      }
      guard waiting + line.count <= limits.reports, line.count <= spare else {
        droppedReports += 1
        return .dropped
      }
      if waiting >= limits.coalescing { newestReports[device] = first + entries.count }
      push(Entry(line: line, device: device))
    }
    return .queued
  }

  /// Takes the oldest lines: at least one if there is any, then as many as fit into `octets`.
  public mutating func take(upTo octets: Int) -> [Data] {
    var lines: [Data] = []
    var taken = 0
    while let entry = entries.first, taken == 0 || taken + entry.line.count <= octets {
      entries.removeFirst()
      if let device = entry.device, newestReports[device] == first { newestReports[device] = nil }
      first += 1
      taken += entry.line.count
      lines.append(entry.line)
    }
    waiting -= taken
    return lines
  }

  /// Adds the answer that precedes what is kept, regardless of the bounds.
  mutating func prepend(_ answer: Data) {
    entries.prepend(Entry(line: answer, isAnswer: true))
    first -= 1
    waiting += answer.count
  }

  /// Forgets answers: the connection that they were for has ended.
  mutating func dropAnswers() {
    entries.removeAll(where: \.isAnswer)
    waiting = entries.reduce(0) { $0 + $1.line.count }
    newestReports = [:]
    for (index, entry) in entries.enumerated() {
      if let device = entry.device { newestReports[device] = first + index }
    }
  }

  private mutating func push(_ entry: Entry) {
    entries.append(entry)
    waiting += entry.line.count
  }
}
