import BledRPC
import Bluetooth

/// The requests of links to bled, in the session of a program.
enum LinkRequests {
  /// Connects a program to a device: by its address if bled has forgotten it meanwhile.
  /// - Parameter timeout: in seconds; nil for none.
  static func open(
    _ device: Device, _ client: BusClient, within timeout: Double?,
    _ completion: @escaping (Result<PeripheralConnect.Result, BluetoothError>) -> Void
  ) {
    let params = PeripheralConnect.Params(
      peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: timeout)
    client.session.call(PeripheralConnect.self, params) { result in
      guard case .failure(let error) = result, error == GAPError.unknownDevice else { return completion(result) }
      client.session.call(
        PeripheralConnect.self,
        PeripheralConnect.Params(
          address: device.address, addressType: DeviceAddress.Kind(word: device.addressType),
          adapter: device.key.adapter, timeout: timeout), completion)
    }
  }

  /// Notifies bled that a program no longer uses a link, or no longer waits for it.
  static func leave(_ peripheral: String, _ client: BusClient, _ completion: @escaping () -> Void = {}) {
    client.session.call(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: peripheral)) { _ in
      completion()
    }
  }
}
