import Bluetooth

extension AdapterSlot {
  /// The address under which the controller finds a device: that of its identity if the controller resolves its private
  /// ones.
  func address(of peripheral: Peripheral) -> DeviceAddress {
    adapter.resolves(peripheral.identity) ? peripheral.identity : peripheral.current
  }
}
