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

  /// The daemon has room for values that it had refused.
  func roomAgain() {
    updates.roomAgain()
    sendUpdates()
  }

  /// Sends the values whose turn has come.
  private func sendUpdates() {
    while let next = updates.next() { send(next) }
  }

  private func send(_ next: UpdateQueue.Update) {
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
    let dropped = updates.dropAll()
    if telling { for update in dropped { ended(update) } }
  }

  private func left(_ update: UpdateQueue.Update) {
    guard updates.left(update) else { return }
    ended(update)
    sendUpdates()
  }

  private func ended(_ update: UpdateQueue.Update) {
    guard let manager, manager.shared.with({ $0.updates.end(update.centrals) }) else { return }
    deliver { $0.delegate?.peripheralManagerIsReady(toUpdateSubscribers: $0) }
  }
}
