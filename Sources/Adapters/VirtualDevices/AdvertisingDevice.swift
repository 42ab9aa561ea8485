import Adapter
import Bluetooth
import HCI
import Scenarios
import VirtualController

/// A device that only advertises: an entry of the air, without a host.
final class AdvertisingDevice: CommandedDevice {
  let name: String
  let address: DeviceAddress
  let isConnected = false
  private(set) var isPresent = false
  private let air: Air
  private let broadcast: Broadcast
  private let reception: Reception

  init(_ description: DeviceDescription, on world: VirtualAir) {
    (name, address, air) = (description.name, description.address, world.air)
    var advertisement = Advertisement()
    advertisement.address = HCIAddress(description.address)
    advertisement.isConnectable = false
    advertisement.isLegacy = !description.isLongRange
    advertisement.primaryPHY = description.isLongRange ? .leCoded : .le1M
    advertisement.secondaryPHY = advertisement.primaryPHY
    broadcast = Broadcast(
      advertisement, every: description.interval, seed: world.context.seed,
      stream: Stream.advertising.of(description.address))
    reception = Reception(description, in: world.context)
    let privateAddress = PrivateAddress(
      of: description.address, period: description.privateAddress, world.keys, in: world.context)
    broadcast.signal = { [reception, unowned broadcast] in
      if let privateAddress { broadcast.advertisement.address = HCIAddress(privateAddress.address) }
      return reception.next()
    }
    advertise(description.data, description.scanResponse)
  }

  private func advertise(_ data: [UInt8], _ scanResponse: [UInt8]) {
    // An extended advertisement has either data or a response.
    let isLegacy = broadcast.advertisement.isLegacy
    broadcast.advertisement.isScannable = isLegacy && !scanResponse.isEmpty
    broadcast.advertisement.data = isLegacy ? data : data + scanResponse
    broadcast.advertisement.scanResponse = isLegacy ? scanResponse : []
  }

  // MARK: - CommandedDevice

  func setPresent(_ isPresent: Bool) {
    self.isPresent = isPresent
    if isPresent { air.add(broadcast) } else { air.remove(broadcast) }
  }

  func disconnect(reason: UInt8) {}
  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) -> Bool { false }
  func has(_ characteristic: BluetoothUUID) -> Bool { false }

  func change(_ change: DeviceChange) {
    reception.change(change)
    if let new = change.advertising { advertise(new.data, new.scanResponse) }
  }
}
