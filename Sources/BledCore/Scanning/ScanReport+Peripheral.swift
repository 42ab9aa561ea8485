import BledRPC
import Bluetooth

extension ScanReport.Params {
  /// Says what a device said of itself when it was last heard.
  init(_ peripheral: Peripheral, adapter: String, time: Double) {
    self.init(
      peripheral: peripheral.id, adapter: adapter, address: "\(peripheral.address)",
      addressType: "\(peripheral.address.kind)", connectable: peripheral.isConnectable,
      data: HexBytes(peripheral.data ?? []), time: time)
    let advertised = peripheral.advertised
    rssi = peripheral.rssi
    name = advertised.localName
    services = peripheral.services.nonEmpty
    solicitedServices = advertised.solicitedServiceUUIDs.nonEmpty
    if !advertised.serviceData.isEmpty {
      serviceData = Dictionary(
        advertised.serviceData.map { ("\($0.uuid)", HexBytes($0.data)) }, uniquingKeysWith: { first, _ in first })
    }
    manufacturerData = advertised.manufacturerData.first.map { HexBytes($0.octets) }
    txPower = advertised.txPowerLevel
    appearance = advertised.appearance.map(Int.init)
    scanResponse = peripheral.scanResponse.map { HexBytes($0) }
  }
}

extension Array {
  var nonEmpty: Self? { isEmpty ? nil : self }
}
