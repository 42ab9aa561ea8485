import Bluetooth

extension AdapterSlot {
  /// The address under which the controller finds a device: that of its identity if the controller resolves its private
  /// ones.
  func address(of peripheral: Peripheral) -> DeviceAddress {
    adapter.resolves(peripheral.identity) ? peripheral.identity : peripheral.current
  }
}

extension PeripheralDirectory {
  /// The address to which directed advertising calls a device.
  /// - Throws: `GAPError.unknownDevice` for an unknown identifier; `GAPError.notSupported` for the identity of a device
  ///   with private addresses if the adapter cannot call it under them.
  func target(_ reference: DeviceReference, on slot: AdapterSlot) throws(BluetoothError) -> DeviceAddress {
    let address = try address(of: reference)
    guard let peripheral = known(at: address), mustBeHeard(peripheral) else { return address }
    if slot.adapter.callsPrivately(peripheral.identity) { return peripheral.identity }
    // One of its private addresses calls it as long as it has that.
    guard peripheral.isPrivate == true, address == peripheral.identity, slot.adapter.state == .on else {
      return address
    }
    throw GAPError.notSupported.error(
      """
      \(address) uses private addresses, which adapter \(slot.id) cannot put into directed advertising: advertise without \
      "directedTo", or to the private address of the moment
      """)
  }
}
