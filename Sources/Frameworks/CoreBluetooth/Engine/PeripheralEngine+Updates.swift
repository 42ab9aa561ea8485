import BledRPC
import Bluetooth
import FrameworkSupport

extension PeripheralEngine {
  /// Sends a value when its turn comes; room for it was found before. Any thread.
  func update(_ value: Data, _ characteristic: CBMutableCharacteristic, _ centrals: [String]?) {
    let update = Carried(UpdateQueue.Update(value, of: characteristic, to: centrals))
    run { [self] in
      updates.append(update.value)
      sendUpdates()
    }
  }

  /// Sends the next value; after a refusal by the daemon it is called again when there is room.
  func sendUpdates() {
    guard let next = updates.next() else { return }
    guard let handle = publication.handle(of: next.characteristic) else {
      Misuse.log("updateValue for \(next.characteristic), which is not published: dropped")
      return left(next)
    }
    call(
      ServerNotify.self, .init(handle: handle, value: HexBytes(next.value), centrals: next.centrals)
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let answer) where !answer.sent: updates.refused(next)
      case .success(let answer):
        if let text = updates.truncation(of: next, answer) { Misuse.log(text) }
        left(next)
      case .failure(let error):
        Misuse.logFailure("updateValue for \(next.characteristic): \(error)")
        left(next)
      }
    }
  }

  /// Everything was unpublished: waiting values are void.
  /// - Parameter telling: True to notify the program about room.
  func dropUpdates(telling: Bool) {
    let count = updates.dropAll()
    if telling { for _ in 0..<count { countOne() } }
  }

  private func left(_ update: UpdateQueue.Update) {
    guard updates.left(update) else { return }
    countOne()
    sendUpdates()
  }

  private func countOne() {
    guard let manager, manager.shared.with({ $0.updates.end() }) else { return }
    deliver { $0.delegate?.peripheralManagerIsReady(toUpdateSubscribers: $0) }
  }
}
