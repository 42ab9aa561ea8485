import Adapter
import Bluetooth
import HCI

/// Pairing with out-of-band data. The kernel keeps the devices' data until they are removed or the controller is; ours
/// are valid until they are read again.
final class OutOfBandPairing {
  private let management: ManagementInterface
  private let context: AdapterContext
  /// The data of devices.
  private var data: [DeviceAddress: SecureOutOfBandData] = [:]
  /// The calls waiting for our data.
  private var reads: [(Result<OutOfBandData, BluetoothError>) -> Void] = []

  init(_ management: ManagementInterface, in context: AdapterContext) {
    self.management = management
    self.context = context
  }

  /// Makes the kernel generate data for a device.
  func read(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    reads.append(done)
    // Each further command would replace the data of the one before.
    if reads.count == 1 { management.send(ReadLocalOutOfBandExtendedData()) }
  }

  /// Sets the data of a device.
  /// - Parameter isInUse: true if the controller is in use, so that the kernel can receive them.
  /// - Throws: `GAPError.notSupported` for a temporary key: the kernel's legacy pairing accepts none.
  func set(_ data: OutOfBandData, of device: DeviceAddress, isInUse: Bool) throws(BluetoothError) {
    guard let secure = data.secure, data.temporaryKey == nil else {
      let words = """
        The kernel pairs with out-of-band data of LE Secure Connections only: leave the temporary key out, or let bled \
        be the host of the controller.
        """
      throw GAPError.notSupported.error(words)
    }
    self.data[device] = secure
    if isInUse { give(secure, of: device) }
  }

  /// Removes the data of a device.
  func remove(_ device: DeviceAddress, isInUse: Bool) {
    guard data.removeValue(forKey: device) != nil, isInUse else { return }
    management.send(RemoveRemoteOutOfBandData(device: ManagementAddress(device)))
  }

  /// The controller is in use again.
  func begin() {
    for (device, data) in data { give(data, of: device) }
  }

  /// The controller is closed.
  func close(_ error: BluetoothError) { end(.failure(error)) }

  /// The kernel has answered.
  func answered(_ returned: [UInt8], _ status: ManagementStatus) {
    let structures = AdvertisingData(parsing: ReadLocalOutOfBandExtendedData.data(in: returned) ?? [])
    guard status == .success, let confirmation = structures.first(.secureConnectionsConfirmation),
      let random = structures.first(.secureConnectionsRandom),
      let secure = SecureOutOfBandData(confirmation: confirmation, random: random),
      let data = OutOfBandData(secure: secure)
    else {
      let words = """
        The kernel gives no out-of-band data\(status == .success ? "" : ": \(status)"); it does with controllers that have LE \
        Secure Connections and BR/EDR's Secure Simple Pairing. Give it the device's data instead.
        """
      return end(.failure(GAPError.notSupported.error(words)))
    }
    end(.success(data))
  }

  private func give(_ data: SecureOutOfBandData, of device: DeviceAddress) {
    management.send(
      AddRemoteOutOfBandData {
        $0.device = ManagementAddress(device)
        $0.confirmation = data.confirmation
        $0.random = data.random
      })
  }

  private func end(_ result: Result<OutOfBandData, BluetoothError>) {
    let waiting = reads
    reads = []
    context.scheduler.execute { for done in waiting { done(result) } }
  }
}
