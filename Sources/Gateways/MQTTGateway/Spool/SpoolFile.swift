/// One file of the spool in memory: its octets, and the state of each message.
struct SpoolFile {
  private enum State {
    /// Not handed to the broker yet.
    case waiting
    /// Handed to the broker, which has not confirmed it.
    case handed
    case delivered
  }

  private struct Entry {
    let place: SpoolRecord.Place
    var state: State
  }

  private(set) var octets: [UInt8]
  private var entries: [Entry] = []
  /// All before it are handed or delivered.
  private var cursor = 0
  /// The number of undelivered messages.
  private(set) var left = 0
  /// The number of messages not even handed over.
  private(set) var waiting = 0

  /// A new file.
  init() { octets = SpoolRecord.header }

  /// A file that was read.
  init(_ octets: [UInt8]) throws(SpoolRecord.Damage) {
    self.octets = octets
    entries = try SpoolRecord.places(in: octets).map {
      Entry(place: $0, state: $0.isDelivered ? .delivered : .waiting)
    }
    waiting = entries.count { $0.state == .waiting }
    left = waiting
  }

  /// Adds a message.
  /// - Returns: its offset.
  mutating func append(_ record: [UInt8], isHanded: Bool) -> Int {
    let offset = octets.count
    octets += record
    let place = SpoolRecord.Place(
      offset: offset, body: offset + SpoolRecord.prefix..<octets.count, isDelivered: false)
    if isHanded, cursor == entries.count { cursor += 1 }
    entries.append(Entry(place: place, state: isHanded ? .handed : .waiting))
    left += 1
    if !isHanded { waiting += 1 }
    return offset
  }

  /// The next message that waits, which counts as handed over from now on.
  mutating func next() -> (message: OutgoingMessage, offset: Int)? {
    while cursor < entries.count {
      let entry = entries[cursor]
      cursor += 1
      guard entry.state == .waiting else { continue }
      entries[cursor - 1].state = .handed
      waiting -= 1
      if let message = SpoolRecord.message(octets[entry.place.body]) { return (message, entry.place.offset) }
    }
    return nil
  }

  /// A message is delivered.
  /// - Returns: true if it was not before.
  mutating func deliver(_ offset: Int) -> Bool {
    guard let index = index(of: offset), entries[index].state != .delivered else { return false }
    if entries[index].state == .waiting { waiting -= 1 }
    entries[index].state = .delivered
    left -= 1
    return true
  }

  /// Messages that were handed over are to be handed over again.
  mutating func rewind() {
    for index in entries.indices where entries[index].state == .handed {
      entries[index].state = .waiting
      waiting += 1
    }
    cursor = 0
  }

  private func index(of offset: Int) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].place.offset < offset { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].place.offset == offset ? low : nil
  }
}
