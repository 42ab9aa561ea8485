import Adapter
import Bluetooth

/// The input of scan filters: the data from a device or an anonymous advertisement, and how it was sent.
struct AdvertisedContent {
  /// The AD structures in the advertisement and its scan response.
  let advertised: AdvertisingData
  /// The services in both.
  let services: [BluetoothUUID]
  let name: String?
  /// The address on the air; nil for an anonymous advertisement.
  let address: DeviceAddress?
  let isConnectable: Bool

  /// A device's last advertisement; parsed when it changed.
  init(_ peripheral: Peripheral) {
    advertised = peripheral.advertised
    services = peripheral.services
    name = peripheral.name
    address = peripheral.advertisement?.address ?? peripheral.current
    isConnectable = peripheral.advertisement?.isConnectable ?? false
  }

  /// An anonymous advertisement's content.
  init(anonymous report: AdvertisingReport) {
    advertised = AdvertisingData(parsing: report.data)
    services = advertised.serviceUUIDs
    name = advertised.localName
    address = nil
    isConnectable = report.isConnectable
  }
}
