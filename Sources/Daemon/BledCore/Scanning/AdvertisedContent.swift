import Adapter
import Bluetooth

/// The input of scan filters: the data of a device or of an anonymous advertisement, and how it was sent.
struct AdvertisedContent {
  /// The AD structures of the advertisement and of its scan response.
  let advertised: AdvertisingData
  /// The services that both list.
  let services: [BluetoothUUID]
  let name: String?
  /// The address on the air; nil for an anonymous advertisement.
  let address: DeviceAddress?
  let isConnectable: Bool

  /// The last advertisement of a device; parsed when it changed.
  init(_ peripheral: Peripheral) {
    advertised = peripheral.advertised
    services = peripheral.services
    name = peripheral.name
    address = peripheral.advertisement?.address ?? peripheral.current
    isConnectable = peripheral.advertisement?.isConnectable ?? false
  }

  /// The content of an anonymous advertisement.
  init(anonymous report: AdvertisingReport) {
    advertised = AdvertisingData(parsing: report.data)
    services = advertised.serviceUUIDs
    name = advertised.localName
    address = nil
    isConnectable = report.isConnectable
  }
}
