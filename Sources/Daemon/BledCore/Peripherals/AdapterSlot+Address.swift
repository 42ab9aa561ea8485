import Adapter
import Bluetooth

extension AdapterSlot {
  /// The address under which the controller finds a device: that of its identity if the controller resolves its private
  /// ones.
  func address(of peripheral: Peripheral) -> DeviceAddress {
    adapter.resolves(peripheral.identity) ? peripheral.identity : peripheral.current
  }
}

/// The device that directed advertising calls.
struct CalledDevice: Hashable {
  let address: DeviceAddress
  /// Whether it is called under a private address that the controller makes, in the place of its identity.
  var isPrivate = false
}

extension PeripheralDirectory {
  /// The address to which directed advertising calls a device. Under one that the controller makes it is called only if
  /// its own controller resolves that (Core 5.4, Vol 3, Part C, 12.4).
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier; `GAPError.notSupported` for the identity of a device
  ///   with private addresses if the adapter cannot call it under them, or the device does not resolve them.
  func target(_ reference: DeviceReference, on slot: AdapterSlot) throws(BluetoothError) -> CalledDevice {
    let address = try address(of: reference)
    guard let peripheral = known(at: address) else { return CalledDevice(address: address) }
    let isOn = slot.adapter.state == .on
    let canCall = slot.adapter.callsPrivately(peripheral.identity)
    if peripheral.resolvesAddresses == true, canCall || !isOn {
      return CalledDevice(address: peripheral.identity, isPrivate: true)
    }
    // One of its private addresses calls it as long as it has that.
    guard mustBeHeard(peripheral), peripheral.isPrivate == true, address == peripheral.identity, isOn else {
      return CalledDevice(address: address)
    }
    let why =
      if !canCall {
        "adapter \(slot.id) cannot put into directed advertising"
      } else if peripheral.resolvesAddresses == nil {
        "it may not resolve in directed advertising: it tells that when it is connected (Central Address Resolution)"
      } else {
        "it does not resolve in directed advertising, as its Central Address Resolution tells"
      }
    throw GAPError.notSupported.error(
      """
      \(address) uses private addresses, which \(why); advertise without "directedTo", or to the private address of the \
      moment
      """)
  }
}
