import BledRPC

/// Values on their way to subscribers. For each subscriber they are handed to the daemon one after the other; values
/// for others do not wait for them.
struct UpdateQueue {
  struct Update {
    let value: [UInt8]
    let characteristic: CBMutableCharacteristic
    let centrals: [String]?
    /// Octets given by the program.
    let length: Int
    /// Distinguishes updates.
    fileprivate var number = 0
    fileprivate var state = State.waiting

    /// - Parameter value: the program's; octets beyond an attribute's longest value are dropped.
    init(_ value: Data, of characteristic: CBMutableCharacteristic, to centrals: [String]?) {
      self.value = Array(value.prefix(UpdateQueue.longestValue))
      self.characteristic = characteristic
      self.centrals = centrals
      length = value.count
    }

    /// True if a subscriber may receive both values.
    fileprivate func shares(_ other: Update) -> Bool {
      guard let centrals, let others = other.centrals else { return true }
      return centrals.contains(where: others.contains)
    }
  }

  fileprivate enum State {
    case waiting
    /// The daemon has it, and has not answered.
    case sending
    /// The daemon had no room for it.
    case refused
  }

  /// Maximum octets of a value.
  fileprivate static let longestValue = 512

  private var waiting: [Update] = []
  private var last = 0
  /// True once a truncated value was reported to the program.
  private var hasToldTruncation = false

  mutating func append(_ update: Update) {
    last += 1
    waiting.append(update)
    waiting[waiting.count - 1].number = last
  }

  /// The update for the daemon now, if any: the first that no earlier one has to precede.
  mutating func next() -> Update? {
    for index in waiting.indices where waiting[index].state == .waiting {
      guard !waiting[..<index].contains(where: waiting[index].shares) else { continue }
      waiting[index].state = .sending
      return waiting[index]
    }
    return nil
  }

  /// The daemon has no room for an update: it waits until there is some.
  mutating func refused(_ update: Update) {
    if let index = index(of: update) { waiting[index].state = .refused }
  }

  /// There may be room for refused updates.
  mutating func roomAgain() {
    for index in waiting.indices where waiting[index].state == .refused { waiting[index].state = .waiting }
  }

  /// An update has left, or cannot leave.
  /// - Returns: false if it was dropped before.
  mutating func left(_ update: Update) -> Bool {
    guard let index = index(of: update) else { return false }
    waiting.remove(at: index)
    return true
  }

  private func index(of update: Update) -> Int? { waiting.firstIndex { $0.number == update.number } }

  /// Everything was unpublished: waiting values are void.
  /// - Returns: these.
  mutating func dropAll() -> [Update] {
    defer { waiting = [] }
    return waiting
  }

  /// The text for the program if centrals received only a value's beginning, as with Apple's framework: once.
  mutating func truncation(of update: Update, _ answer: ServerNotify.Result) -> String? {
    let isTooLong = update.length > Self.longestValue && answer.receivers > 0
    guard isTooLong || answer.truncated != nil, !hasToldTruncation else { return nil }
    hasToldTruncation = true
    let receivers = answer.truncated?.joined(separator: ", ") ?? "all subscribers"
    return """
      updateValue with \(update.length) bytes for \(update.characteristic): more than maximumUpdateValueLength of \
      \(receivers), which received only the beginning. This is logged once
      """
  }
}

/// The unsent value updates, counted for each list of centrals: a slow central holds up the values for its lists alone.
///
/// | State | Input                | Effect                              |
/// |-------|----------------------|-------------------------------------|
/// | open  | the 16th waits       | the next one is refused → full      |
/// | full  | another one          | refused                             |
/// | full  | at most 8 wait again | open: the program is notified, once |
struct WaitingUpdates {
  private struct Counter {
    var count = 0
    var hasRefused = false
  }

  private var counters: [[String]?: Counter] = [:]

  /// Another one is to be sent to these centrals; nil for all. False: there is no room.
  mutating func begin(_ centrals: [String]?) -> Bool {
    var counter = counters[centrals] ?? Counter()
    defer { counters[centrals] = counter }
    guard counter.count < 16, !counter.hasRefused else {
      counter.hasRefused = true
      return false
    }
    counter.count += 1
    return true
  }

  /// An update was sent. Returns true if the program has to be notified about room.
  mutating func end(_ centrals: [String]?) -> Bool {
    guard var counter = counters[centrals] else { return false }
    counter.count -= 1
    let isReady = counter.hasRefused && counter.count <= 8
    if isReady { counter.hasRefused = false }
    counters[centrals] = counter.count > 0 ? counter : nil
    return isReady
  }
}
