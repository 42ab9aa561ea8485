import BledRPC
import Bluetooth

/// RemoveDevice: disconnects a device, forgets its keys, cache and settings, and removes its object.
final class Removal {
  private let context: Context
  private let devices: Devices
  private let links: Links

  init(_ context: Context, _ devices: Devices, _ links: Links) {
    self.context = context
    self.devices = devices
    self.links = links
  }

  func remove(_ call: BusCall, _ client: BusClient) {
    guard let path = call.arguments[0].path, let device = devices[path],
      path.utf8.starts(with: (call.path + "/").utf8)
    else { return context.fail(call, .doesNotExist) }
    links.disconnectAll(path, client) { [weak self] in
      guard let self else { return }
      guard devices.flag(path, "Paired") else { return forget(call, client, device) }
      client.session.call(PairingForget.self, PairingForget.Params(peripheral: device.key.peripheral)) {
        [weak self] result in
        switch result {
        case .success: self?.forget(call, client, device)
        // Its keys, or it itself, were forgotten elsewhere.
        case .failure(let error) where error == GAPError.unknownDevice: self?.forget(call, client, device)
        case .failure(let error): self?.fail(call, client, device, error)
        }
      }
    }
  }

  private func fail(_ call: BusCall, _ client: BusClient, _ device: Device, _ error: BluetoothError) {
    links.isNotRemoved(device.path, client)
    context.fail(call, BusError(error, otherwise: .failed(error.message)))
  }

  private func forget(_ call: BusCall, _ client: BusClient, _ device: Device) {
    client.session.call(PeripheralForget.self, PeripheralReference(peripheral: device.key.peripheral)) {
      [weak self, context] result in
      guard let self else { return }
      if case .failure(let error) = result, error != GAPError.unknownDevice {
        return fail(call, client, device, error)
      }
      devices.forget(device.path)
      context.reply(call)
    }
  }
}

extension BluetoothError {
  static func == (error: BluetoothError, code: GAPError) -> Bool { error.domain == .gap && error.code == code.rawValue }
  static func != (error: BluetoothError, code: GAPError) -> Bool { !(error == code) }
}
