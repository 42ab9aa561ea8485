import BledRPC
import Bluetooth

/// Values on their way to subscribers.
struct Updates {
  fileprivate struct Update {
    var value: [UInt8]
    var characteristic: CBMutableCharacteristic
    var centrals: [String]?
    /// How many octets the program gave.
    var length: Int
  }

  fileprivate var waiting: [Update] = []
  /// The first of them was handed to the daemon.
  fileprivate var isSending = false
  /// The program was told that a value was truncated.
  fileprivate var hasToldTruncation = false
}

extension PeripheralEngine {
  /// How many octets a value can have.
  private static let longestValue = 512

  /// Sends a value when its turn comes; room for it was found before. Any thread.
  func update(_ value: Data, _ characteristic: CBMutableCharacteristic, _ centrals: [String]?) {
    let update = Carried(
      Updates.Update(
        value: Array(value.prefix(Self.longestValue)), characteristic: characteristic, centrals: centrals,
        length: value.count))
    run { [self] in
      updates.waiting.append(update.value)
      sendUpdates()
    }
  }

  /// Sends the next value; after a refusal by the daemon it is called again when there is room.
  func sendUpdates() {
    guard !updates.isSending, let next = updates.waiting.first else { return }
    guard let handle = handle(of: next.characteristic) else {
      Misuse.log("updateValue for \(next.characteristic), which is not published: dropped")
      return left()
    }
    updates.isSending = true
    call(
      ServerNotify.self, .init(handle: handle, value: HexBytes(next.value), centrals: next.centrals)
    ) { [weak self] result in
      guard let self else { return }
      updates.isSending = false
      switch result {
      case .success(let answer) where !answer.sent: break
      case .success(let answer):
        checkTruncation(of: next, answer)
        left()
      case .failure(let error):
        Misuse.note("updateValue for \(next.characteristic): \(error)")
        left()
      }
    }
  }

  /// Nothing is published any more: waiting values are void.
  /// - Parameter telling: Whether the program is told that there is room.
  func dropUpdates(telling: Bool) {
    let count = updates.waiting.count
    (updates.waiting, updates.isSending) = ([], false)
    if telling { for _ in 0..<count { countOne() } }
  }

  /// Centrals receive the beginning of a value that is too long, as with Apple's framework: the program is told, once.
  private func checkTruncation(of update: Updates.Update, _ answer: ServerNotify.Result) {
    let isTooLong = update.length > Self.longestValue && answer.receivers > 0
    guard isTooLong || answer.truncated != nil, !updates.hasToldTruncation else { return }
    updates.hasToldTruncation = true
    let receivers = answer.truncated?.joined(separator: ", ") ?? "all subscribers"
    Misuse.log(
      """
      updateValue with \(update.length) bytes for \(update.characteristic): more than maximumUpdateValueLength of \
      \(receivers), which received only the beginning. This is logged once
      """)
  }

  private func left() {
    if !updates.waiting.isEmpty { updates.waiting.removeFirst() }
    countOne()
    sendUpdates()
  }

  private func countOne() {
    guard let manager, manager.shared.with({ $0.updates.end() }) else { return }
    deliver { $0.delegate?.peripheralManagerIsReady(toUpdateSubscribers: $0) }
  }
}

/// The updates of values that have not left yet.
///
/// | State | Input                | Effect                                                  |
/// |-------|----------------------|---------------------------------------------------------|
/// | open  | the 16th waits       | the next one is refused → full                          |
/// | full  | another one          | refused                                                 |
/// | full  | at most 8 wait again | open: the program is told, once                         |
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

  /// One has left. True: the program is to be told that there is room again.
  mutating func end() -> Bool {
    count = max(0, count - 1)
    guard hasRefused, count <= 8 else { return false }
    hasRefused = false
    return true
  }
}
