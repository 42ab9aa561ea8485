import Adapter
import Bluetooth
import HCI

// Pairing with data that came by another way than the air. The kernel keeps the devices' until it is told otherwise or
// the controller goes; ours are good until they are read again.

extension KernelAdapter {
  /// Has the kernel make data for a device.
  public func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    guard state == .on, let index else {
      return loop.execute { done(.failure(GAPError.adapterOff.error("The adapter is not on."))) }
    }
    outOfBandReads.append(done)
    // Each of several commands would take the place of the data that the one before it gave.
    guard outOfBandReads.count == 1 else { return }
    send(ManagementPacket(ReadLocalOutOfBandExtendedData(), index: index))
  }

  /// Tells the kernel what a device gave, or nil when it is not to be used any more.
  public func setOutOfBand(_ data: OutOfBandData?, of address: DeviceAddress) {
    outOfBandData[address] = data
    guard radio != nil else { return }
    apply(data, of: address)
  }

  /// The controller is there again.
  func applyOutOfBand() {
    for (address, data) in outOfBandData { apply(data, of: address) }
  }

  private func apply(_ data: OutOfBandData?, of address: DeviceAddress) {
    guard let index else { return }
    guard let data else {
      return send(ManagementPacket(RemoveRemoteOutOfBandData(device: ManagementAddress(address)), index: index))
    }
    let packet = AddRemoteOutOfBandData {
      $0.device = ManagementAddress(address)
      $0.confirmation = data.confirmation
      $0.random = data.random
    }
    send(ManagementPacket(packet, index: index))
  }

  /// The kernel has answered.
  func outOfBandRead(_ returned: [UInt8], _ status: ManagementStatus) {
    let structures = AdvertisingData(parsing: ReadLocalOutOfBandExtendedData.data(in: returned) ?? [])
    guard status == .success, let confirmation = structures.first(.secureConnectionsConfirmation),
      let random = structures.first(.secureConnectionsRandom),
      let data = OutOfBandData(confirmation: confirmation, random: random)
    else {
      let words = """
        The kernel gives no out-of-band data (mgmt status \(status.rawValue)): it does with controllers that have LE \
        Secure Connections and BR/EDR's Secure Simple Pairing. Give it the device's data instead.
        """
      return endOutOfBandReads(.failure(GAPError.notSupported.error(words)))
    }
    endOutOfBandReads(.success(data))
  }

  func endOutOfBandReads(_ result: Result<OutOfBandData, BluetoothError>) {
    let waiting = outOfBandReads
    outOfBandReads = []
    loop.execute { for done in waiting { done(result) } }
  }
}
