import BledRPC
import Bluetooth

/// Values on their way to subscribers.
struct Updates {
  fileprivate struct Update {
    var value: [UInt8]
    var characteristic: CBMutableCharacteristic
    var centrals: [String]?
  }

  fileprivate var waiting: [Update] = []
  /// The first of them was handed to the daemon.
  fileprivate var isSending = false
}

extension PeripheralEngine {
  /// Sends a value when its turn comes; room for it was found before. Any thread.
  func update(_ value: [UInt8], _ characteristic: CBMutableCharacteristic, _ centrals: [String]?) {
    let update = Carried(Updates.Update(value: value, characteristic: characteristic, centrals: centrals))
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
      case .success: left()
      case .failure(let error):
        Misuse.note("updateValue for \(next.characteristic): \(error)")
        left()
      }
    }
  }

  /// Nothing is published any more: what waits is void.
  /// - Parameter telling: Whether the program is told that there is room.
  func dropUpdates(telling: Bool) {
    let count = updates.waiting.count
    updates = Updates()
    if telling { for _ in 0..<count { countOne() } }
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
/// | State | Input                | What happens                                            |
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
