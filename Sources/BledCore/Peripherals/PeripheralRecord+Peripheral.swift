import BledRPC

extension PeripheralRecord {
  init(_ peripheral: Peripheral) {
    self.peripheral = peripheral.id
    address = "\(peripheral.address)"
    addressType = "\(peripheral.address.kind)"
    adapter = peripheral.adapter.id
    name = peripheral.name
    wasConnected = peripheral.wasConnected ? nil : false
    cache = peripheral.cache.map { Cache(hash: HexBytes($0.hash), attributes: HexBytes($0.attributes)) }
  }
}
