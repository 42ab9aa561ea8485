import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// A value on its way to subscribers.
  struct Update {
    var value: [UInt8]
    var characteristic: CBMutableCharacteristic
    var centrals: [String]?
  }

  /// Sends a value when its turn comes; room for it was found before. Any thread.
  func update(_ value: [UInt8], _ characteristic: CBMutableCharacteristic, _ centrals: [String]?) {
    let update = Carried(Update(value: value, characteristic: characteristic, centrals: centrals))
    run { [self] in
      updates.append(update.value)
      sendUpdates()
    }
  }

  /// Sends the next value; after a refusal by the daemon it is called again when there is room.
  func sendUpdates() {
    guard !isUpdating, let next = updates.first else { return }
    guard let handle = characteristics.first(where: { $0.value === next.characteristic })?.key else {
      Misuse.log("updateValue for \(next.characteristic), which is not published: dropped")
      return left()
    }
    isUpdating = true
    call(
      ServerNotify.self, .init(handle: handle, value: HexBytes(next.value), centrals: next.centrals)
    ) { [weak self] result in
      guard let self else { return }
      isUpdating = false
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
  func dropUpdates() {
    isUpdating = false
    while !updates.isEmpty {
      updates.removeFirst()
      countOne()
    }
  }

  private func left() {
    if !updates.isEmpty { updates.removeFirst() }
    countOne()
    sendUpdates()
  }

  private func countOne() {
    guard let manager, manager.shared.with({ $0.updates.end() }) else { return }
    deliver { $0.delegate?.peripheralManagerIsReady(toUpdateSubscribers: $0) }
  }
}
