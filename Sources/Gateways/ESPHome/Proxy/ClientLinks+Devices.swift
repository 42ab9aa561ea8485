import BledRPC
import Bluetooth

/// Pairing, remembered data of devices, and connection parameters.
extension ClientLinks {
  func pair(_ address: UInt64) {
    guard let peripheral = links[address]?.connected else {
      return answer(.paired(address, error: APIError.notConnected))
    }
    call(PeripheralPair.self, PeripheralPair.Params(peripheral: peripheral)) { links, result in
      links.answer(.paired(address, error: Self.code(result)))
    }
  }

  func unpair(_ address: UInt64) {
    let peripheral = links[address]?.connected
    call(
      PairingForget.self,
      PairingForget.Params(peripheral: peripheral, address: peripheral == nil ? Self.text(address) : nil)
    ) { links, result in links.answer(.unpaired(address, error: Self.code(result))) }
  }

  /// bled forgets a device that no client is connected to.
  func clearCache(_ address: UInt64) {
    if links[address] != nil {
      update(address) { $0.isToBeForgotten = true }
      return answer(.cacheCleared(address, error: 0))
    }
    call(PeripheralList.self, Empty()) { links, result in
      let text = Self.text(address)
      guard case .success(let list) = result else {
        return links.answer(.cacheCleared(address, error: Self.code(result)))
      }
      guard let entry = list.peripherals.first(where: { $0.address.utf8.elementsEqual(text.utf8) }) else {
        return links.answer(.cacheCleared(address, error: 0))
      }
      links.call(PeripheralForget.self, PeripheralReference(peripheral: entry.peripheral)) { links, result in
        links.answer(.cacheCleared(address, error: Self.code(result)))
      }
    }
  }

  func setParameters(_ address: UInt64, _ parameters: APIRequest.LinkParameters) {
    guard let peripheral = links[address]?.connected else {
      return answer(.parametersSet(address, error: APIError.notConnected))
    }
    let wish = LinkWish(
      minimumInterval: Double(parameters.minimumInterval) * 0.00125,
      maximumInterval: Double(parameters.maximumInterval) * 0.00125,
      latency: Int(parameters.latency), timeout: Double(parameters.timeout) * 0.01)
    call(
      PeripheralSetParameters.self, PeripheralSetParameters.Params(peripheral: peripheral, parameters: wish)
    ) { links, result in links.answer(.parametersSet(address, error: Self.code(result))) }
  }

  private static func code<Value>(_ result: Result<Value, BluetoothError>) -> Int32 {
    switch result {
    case .success: 0
    case .failure(let error): APIError.request(error)
    }
  }
}
