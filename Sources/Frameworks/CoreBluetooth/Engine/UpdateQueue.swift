import BledRPC

/// Values on their way to subscribers; one after the other is handed to the daemon.
struct UpdateQueue {
  struct Update {
    let value: [UInt8]
    let characteristic: CBMutableCharacteristic
    let centrals: [String]?
    /// Octets given by the program.
    let length: Int
    /// Distinguishes updates.
    fileprivate var number = 0

    /// - Parameter value: the program's; octets beyond an attribute's longest value are dropped.
    init(_ value: Data, of characteristic: CBMutableCharacteristic, to centrals: [String]?) {
      self.value = Array(value.prefix(UpdateQueue.longestValue))
      self.characteristic = characteristic
      self.centrals = centrals
      length = value.count
    }
  }

  /// Maximum octets of a value.
  fileprivate static let longestValue = 512

  private var waiting: [Update] = []
  private var last = 0
  /// The first of them was handed to the daemon.
  private var isSending = false
  /// True once a truncated value was reported to the program.
  private var hasToldTruncation = false

  mutating func append(_ update: Update) {
    last += 1
    waiting.append(update)
    waiting[waiting.count - 1].number = last
  }

  /// The update for the daemon now, if any.
  mutating func next() -> Update? {
    guard !isSending, let next = waiting.first else { return nil }
    isSending = true
    return next
  }

  /// The daemon has no room for an update: it is the next one again.
  mutating func refused(_ update: Update) {
    if waiting.first?.number == update.number { isSending = false }
  }

  /// An update has left, or cannot leave.
  /// - Returns: false if it was dropped before.
  mutating func left(_ update: Update) -> Bool {
    guard waiting.first?.number == update.number else { return false }
    waiting.removeFirst()
    isSending = false
    return true
  }

  /// Everything was unpublished: waiting values are void.
  /// - Returns: their number.
  mutating func dropAll() -> Int {
    defer { (waiting, isSending) = ([], false) }
    return waiting.count
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

/// The unsent value updates.
///
/// | State | Input                | Effect                              |
/// |-------|----------------------|-------------------------------------|
/// | open  | the 16th waits       | the next one is refused → full      |
/// | full  | another one          | refused                             |
/// | full  | at most 8 wait again | open: the program is notified, once |
struct WaitingUpdates {
  private var count = 0
  private var hasRefused = false

  /// Another one is to be sent. False: there is no room.
  mutating func begin() -> Bool {
    guard count < 16, !hasRefused else {
      hasRefused = true
      return false
    }
    count += 1
    return true
  }

  /// An update was sent. Returns true if the program has to be notified about room.
  mutating func end() -> Bool {
    count = max(0, count - 1)
    guard hasRefused, count <= 8 else { return false }
    hasRefused = false
    return true
  }
}
