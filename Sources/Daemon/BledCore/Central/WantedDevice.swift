import BledRPC
import Bluetooth

/// The target device of `peripheral.connect` or `peripheral.disconnect`.
enum WantedDevice {
  /// The call names it.
  case named(DeviceReference)
  /// The first device that matches the criteria.
  case first(DeviceCriteria)

  /// Reads a call's params.
  /// - Throws: `BledError.invalidParameter`.
  init(_ params: PeripheralConnect.Params) throws(BluetoothError) {
    try self.init(
      DeviceReference(peripheral: params.peripheral, address: params.address, kind: params.addressType),
      DeviceCriteria(name: params.name, namePrefix: params.namePrefix, service: params.service))
  }

  /// Reads a call's params.
  /// - Throws: `BledError.invalidParameter`.
  init(_ params: PeripheralDisconnect.Params) throws(BluetoothError) {
    try self.init(
      DeviceReference(peripheral: params.peripheral, address: params.address, kind: params.addressType),
      DeviceCriteria(name: params.name, namePrefix: params.namePrefix, service: params.service))
  }

  private init(_ reference: DeviceReference?, _ criteria: DeviceCriteria?) throws(BluetoothError) {
    switch (reference, criteria) {
    case (let reference?, nil): self = .named(reference)
    case (nil, let criteria?): self = .first(criteria)
    case (_?, _?):
      throw BledError.invalidParameter.error(
        "\"peripheral\" and \"address\" say which device is meant: leave out \"name\", \"namePrefix\" and \"service\"")
    case (nil, nil):
      throw BledError.invalidParameter.error(
        "give \"peripheral\", \"address\", \"name\", \"namePrefix\" or \"service\"")
    }
  }
}
