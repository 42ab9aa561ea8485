import BledRPC
import Bluetooth

/// Services, reads, writes and notifications.
extension ClientLinks {
  /// A service is one message; the maximum length sent, in octets.
  private static let longestService = 60_000

  func services(_ address: UInt64, minor: UInt32) {
    discovered(address) { links, result in
      switch result {
      case .success(let services):
        let frames = services.map { APIFrame.service(address, $0, minor: minor) }
        guard frames.allSatisfy({ $0.payload.count <= Self.longestService }) else {
          return links.answer(.failed(address, 0, error: APIError.insufficientResources))
        }
        for frame in frames { links.answer(frame) }
        links.answer(.servicesDone(address))
      case .failure(let error): links.answer(.failed(address, 0, error: APIError.request(error)))
      }
    }
  }

  func access(_ address: UInt64, _ handle: UInt16, _ access: APIRequest.Access) {
    // A client that remembers the attributes of earlier connections uses handles at once; bled requires a discovery,
    // which costs one read if it remembers them, too.
    discovered(address) { links, result in
      switch result {
      case .success(let services): links.perform(address, handle, access, services)
      case .failure(let error): links.answer(.failed(address, handle, error: APIError.request(error)))
      }
    }
  }

  /// Calls the completion with the services of a connected device.
  private func discovered(
    _ address: UInt64, _ completion: @escaping (ClientLinks, Result<[ServiceDescription], BluetoothError>) -> Void
  ) {
    guard let link = links[address], let peripheral = link.connected else {
      return completion(self, .failure(GAPError.notConnected.error("the client is not connected to the device")))
    }
    if case .done(let services) = link.discovery { return completion(self, .success(services)) }
    guard link.waiting.count < DeviceLink.waitingLimit else {
      return completion(self, .failure(BledError.limitReached.error("too many requests wait for the discovery")))
    }
    update(address) { link in
      link.waiting.append { [weak self] in
        if let self { completion(self, $0) }
      }
    }
    if case .running = link.discovery { return }
    update(address) { $0.discovery = .running }
    call(GATTDiscover.self, GATTDiscover.Params(peripheral: peripheral)) { links, result in
      guard case .running = links.links[address]?.discovery else { return }
      var waiting: [(Result<[ServiceDescription], BluetoothError>) -> Void] = []
      links.update(address) { link in
        swap(&waiting, &link.waiting)
        if case .success(let found) = result {
          link.discovery = .done(found.services)
        } else {
          link.discovery = .none
        }
      }
      for completion in waiting { completion(result.map(\.services)) }
    }
  }

  private func perform(
    _ address: UInt64, _ handle: UInt16, _ access: APIRequest.Access, _ services: [ServiceDescription]
  ) {
    guard let peripheral = links[address]?.connected else {
      return answer(.failed(address, handle, error: APIError.notConnected))
    }
    switch access {
    case .read:
      call(GATTRead.self, GATTRead.Params(peripheral: peripheral, handle: handle)) { links, result in
        links.finish(address, handle, result) { .value(address, handle, $0.value.octets) }
      }
    case .write(let value, let response): write(address, peripheral, handle, value, response: response)
    case .writeDescriptor(let value):
      // The client configures the characteristic after its subscription, which has done it.
      guard !DeviceLink.configurations(services).contains(handle) else { return answer(.written(address, handle)) }
      write(address, peripheral, handle, value, response: true)
    case .notify(true): subscribe(address, peripheral, handle)
    case .notify(false):
      update(address) { $0.subscriptions[handle] = nil }
      call(GATTUnsubscribe.self, GATTUnsubscribe.Params(peripheral: peripheral, handle: handle)) { links, result in
        links.finish(address, handle, result) { _ in .notifying(address, handle) }
      }
    }
  }

  private func write(_ address: UInt64, _ peripheral: String, _ handle: UInt16, _ value: [UInt8], response: Bool) {
    call(
      GATTWrite.self,
      GATTWrite.Params(peripheral: peripheral, handle: handle, value: HexBytes(value), response: response)
    ) { links, result in links.finish(address, handle, result) { _ in .written(address, handle) } }
  }

  private func finish<Value>(
    _ address: UInt64, _ handle: UInt16, _ result: Result<Value, BluetoothError>, _ frame: (Value) -> APIFrame
  ) {
    switch result {
    case .success(let value): answer(frame(value))
    case .failure(let error): answer(.failed(address, handle, error: APIError.request(error)))
    }
  }

  // MARK: Notifications

  private func subscribe(_ address: UInt64, _ peripheral: String, _ handle: UInt16) {
    guard links[address]?.subscriptions[handle] == nil else { return answer(.notifying(address, handle)) }
    update(address) { $0.subscriptions[handle] = .starting }
    call(GATTSubscribe.self, GATTSubscribe.Params(peripheral: peripheral, handle: handle)) { links, result in
      guard case .starting = links.links[address]?.subscriptions[handle] else { return }
      switch result {
      case .success:
        links.update(address) { $0.subscriptions[handle] = .on }
        links.answer(.notifying(address, handle))
      case .failure(let error):
        links.update(address) { $0.subscriptions[handle] = nil }
        links.answer(.failed(address, handle, error: APIError.request(error)))
      }
    }
  }

  /// The first value follows the answer to the subscription.
  func value(_ address: UInt64, _ handle: UInt16, _ value: [UInt8]) {
    if case .on = links[address]?.subscriptions[handle] { answer(.notified(address, handle, value)) }
  }
}
