import BledClient
import BledRPC
import Bluetooth

extension PeripheralEngine {
  func read(_ request: ReadRequest) {
    let params = request.params
    guard let central = central(params.central), let characteristic = characteristics[params.handle] else {
      return PendingAnswer.read(request).finish(.unlikelyError, value: nil)
    }
    let asked = CBATTRequest(
      central: central, characteristic: characteristic, offset: params.offset, value: nil, answer: .read(request))
    deliver { $0.delegate?.peripheralManager($0, didReceiveRead: asked) }
  }

  func wrote(_ request: WriteRequest) {
    let params = request.params
    guard let central = central(params.central) else {
      return PendingAnswer.write(request).finish(.unlikelyError, value: nil)
    }
    let asked = params.writes.compactMap { write in
      characteristics[write.handle].map { characteristic in
        CBATTRequest(
          central: central, characteristic: characteristic, offset: write.offset, value: Data(write.value.octets),
          answer: .write(request))
      }
    }
    guard !asked.isEmpty, asked.count == params.writes.count else {
      return PendingAnswer.write(request).finish(.unlikelyError, value: nil)
    }
    deliver { $0.delegate?.peripheralManager($0, didReceiveWrite: asked) }
  }

  func subscribed(_ subscriber: Subscriber) {
    guard let central = central(subscriber.central), let characteristic = characteristics[subscriber.handle] else {
      return
    }
    deliver { manager in
      central.setMaximumUpdateValueLength(subscriber.maximumLength)
      guard characteristic.subscribe(central) else { return }
      manager.delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
    }
  }

  func unsubscribed(_ subscriber: Subscriber) {
    guard let central = central(subscriber.central), let characteristic = characteristics[subscriber.handle] else {
      return
    }
    deliver { manager in
      guard characteristic.unsubscribe(central) else { return }
      manager.delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
    }
  }

  /// Asks for another connection. Any thread.
  func setLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: UUID) {
    let wish: ConnectionLatency =
      switch latency {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    run { [self] in
      call(ServerSetLatency.self, .init(central: central.uuidString, latency: wish)) { result in
        if case .failure(let error) = result { Misuse.log("setDesiredConnectionLatency: \(error)") }
      }
    }
  }
}
