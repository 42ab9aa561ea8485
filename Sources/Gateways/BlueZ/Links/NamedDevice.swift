import Bluetooth

/// The device that ConnectDevice names (BlueZ, org.bluez.Adapter).
struct NamedDevice {
  let address: String
  /// "public" or "random".
  let addressType: DeviceAddress.Kind

  /// Reads `a{sv}`.
  /// - Throws: `BusError`: InvalidArguments, or NotSupported without the type of the address, which means the classic
  ///   transport.
  init(_ value: BusValue) throws(BusError) {
    var address: String?
    var addressType: DeviceAddress.Kind?
    for (name, value) in value.options ?? [] {
      switch (name, value) {
      case ("Address", .string(let text)): address = text
      case ("AddressType", .string(let text)):
        guard let kind = DeviceAddress.Kind(word: text) else { throw .invalidArguments }
        addressType = kind
      default: throw .invalidArguments
      }
    }
    guard let address, DeviceAddress(address, kind: .public) != nil else { throw .invalidArguments }
    guard let addressType else { throw .notSupported }
    (self.address, self.addressType) = (address, addressType)
  }
}
