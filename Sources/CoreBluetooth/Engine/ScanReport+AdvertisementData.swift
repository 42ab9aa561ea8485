import BledRPC
import Bluetooth

extension ScanReport.Params {
  /// What the device says of itself, under the keys and in the types of Apple's framework.
  var advertisementData: [String: Any] {
    var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: connectable)]
    if let name { data[CBAdvertisementDataLocalNameKey] = name }
    if let txPower { data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: txPower) }
    if let services { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if let solicitedServices {
      data[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
    }
    if let manufacturerData { data[CBAdvertisementDataManufacturerDataKey] = Data(manufacturerData.octets) }
    if let serviceData {
      let pairs = serviceData.compactMap { text, value in
        BluetoothUUID(text).map { (CBUUID($0), Data(value.octets)) }
      }
      data[CBAdvertisementDataServiceDataKey] = Dictionary(pairs) { $1 }
    }
    return data
  }
}
