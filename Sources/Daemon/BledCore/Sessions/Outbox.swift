import DequeModule
import FoundationEssentials

/// The lines queued for a client, within bounds.
///
/// | Waiting octets     | Reports        | Values          | Answers and events | Requests of the client |
/// |--------------------|----------------|-----------------|--------------------|------------------------|
/// | below `coalescing` | queued         | queued          | queued             | read                   |
/// | below `reports`    | newest of each device | queued          | queued             | read                   |
/// | below `values`     | dropped, counted | queued          | queued             | not read, a link of its own is held (`Brake`) |
/// | below `everything` | dropped, counted | refused: lost, and reported | queued             | not read               |
/// | at `everything`    | dropped, counted | refused         | overflow: the session ends | not read               |
///
/// An answer or an event may carry a descriptor. Its line is a batch of its own, because a descriptor belongs to the
/// first octet written with it. At most `maximumDescriptors` wait; one more is an overflow, so callers with descriptors
/// check first.
public struct Outbox {
  /// The bounds, in queued octets.
  public struct Limits: Hashable, Sendable {
    /// From here on a device's report replaces its queued one.
    public var coalescing = 64 << 10
    /// From here on reports are dropped, and requests are not read.
    public var reports = 256 << 10
    /// From here on values are refused.
    public var values = 1 << 20
    /// The absolute maximum.
    public var everything = 4 << 20
    /// The bounds for a daemon with a hundred clients.
    public init() {}
    /// The bounds for lines kept while a program is disconnected, possibly for an hour.
    static var preserved: Limits {
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

  /// A line's kind, which decides its treatment at the bounds.
  public enum Kind: Hashable, Sendable {
    /// An answer, or a call that requires one: useless on any other connection.
    case answer
    /// An event to be delivered in any case.
    case event
    /// A report on the device with this number.
    case report(device: Int)
    /// A subscription's value.
    case value

    var isReport: Bool { if case .report = self { true } else { false } }
  }

  /// The outcome of adding a line.
  public enum Admission: Hashable, Sendable {
    /// The line waits for the client.
    case queued
    /// The line replaces an older report on the same device.
    case coalesced
    /// A report without room.
    case dropped
    /// A value without room.
    case refused
    /// Not even events have room.
    case overflow
  }

  /// Lines written at once.
  public struct Batch {
    /// The lines, in order; none if nothing waits.
    public var lines: [Data] = []
    /// The only line's descriptor.
    var descriptor: PassedDescriptor?
  }

  /// Maximum queued descriptors.
  static let maximumDescriptors = 16

  private struct Entry {
    var line: Data
    var device: Int?
    /// True if it is useless on another connection.
    var isAnswer = false
  }

  /// The queued octets.
  public private(set) var waiting = 0
  /// Reports replaced by a newer one before the client read them.
  public private(set) var coalescedReports = 0
  /// Dropped reports.
  public private(set) var droppedReports = 0
  /// Refused values.
  public private(set) var refusedValues = 0

  /// The bounds in force; waiting lines stay when they become narrower.
  var limits: Limits
  private var entries: Deque<Entry> = []
  /// The first entry's number; entries are numbered consecutively from the beginning.
  private var first = 0
  /// The entries with the newest report on a device, by device number; only those made while coalescing.
  private var newestReports: [Int: Int] = [:]
  /// The entries' descriptors, by entry number.
  private var descriptors: [Int: PassedDescriptor] = [:]

  /// Makes an empty outbox.
  public init(limits: Limits = Limits()) { self.limits = limits }

  /// True if nothing is queued.
  public var isEmpty: Bool { entries.isEmpty }
  /// True if one more descriptor may be queued.
  var hasRoomForDescriptor: Bool { descriptors.count < Self.maximumDescriptors }
  /// True if so much is queued that no more requests should be read.
  public var isCongested: Bool { waiting >= limits.reports }
  /// True if so little is queued that requests can be read again.
  public var isRelieved: Bool { waiting < limits.coalescing }

  /// Adds a line, line feed included, if its kind has room.
  /// - Parameter spare: maximum octets to add.
  public mutating func append(_ line: Data, as kind: Kind, spare: Int = .max) -> Admission {
    append(line, as: kind, with: nil, spare: spare)
  }

  /// Adds a line with its descriptor, if it is an answer or an event.
  mutating func append(
    _ line: Data, as kind: Kind, with descriptor: PassedDescriptor?, spare: Int = .max
  ) -> Admission {
    switch kind {
    case .answer, .event:
      guard waiting + line.count <= limits.everything, line.count <= spare,
        descriptor == nil || hasRoomForDescriptor
      else { return .overflow }
      if let descriptor { descriptors[first + entries.count] = descriptor }
      push(Entry(line: line, isAnswer: kind == .answer || descriptor != nil))
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

  /// Removes the oldest lines: at least one if there is any, then as many as fit into `octets`; a line with a
  /// descriptor alone.
  public mutating func remove(upTo octets: Int) -> Batch {
    var batch = Batch()
    if !descriptors.isEmpty { batch.descriptor = descriptors.removeValue(forKey: first) }
    var taken = 0
    while let entry = entries.first,
      taken == 0 || taken + entry.line.count <= octets && batch.descriptor == nil && descriptors[first] == nil
    {
      entries.removeFirst()
      if !newestReports.isEmpty, let device = entry.device, newestReports[device] == first {
        newestReports[device] = nil
      }
      first += 1
      taken += entry.line.count
      batch.lines.append(entry.line)
    }
    waiting -= taken
    return batch
  }

  /// Adds the answer that precedes the kept lines, regardless of the bounds.
  mutating func prepend(_ answer: Data) {
    entries.prepend(Entry(line: answer, isAnswer: true))
    first -= 1
    waiting += answer.count
  }

  /// Forgets answers, and lines with a descriptor: their connection has ended.
  mutating func dropAnswers() {
    descriptors = [:]
    entries.removeAll(where: \.isAnswer)
    waiting = entries.reduce(0) { $0 + $1.line.count }
    newestReports = [:]
    for (index, entry) in entries.enumerated() {
      if let device = entry.device { newestReports[device] = first + index }
    }
  }

  /// Closes the queued descriptors; their lines stay.
  mutating func closeDescriptors() { descriptors = [:] }

  private mutating func push(_ entry: Entry) {
    entries.append(entry)
    waiting += entry.line.count
  }
}
