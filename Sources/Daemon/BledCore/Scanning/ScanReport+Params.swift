import Adapter
import BledRPC
import Bluetooth

extension ScanReport.Params {
  /// Describes a device as last seen, except for the signal strength and the time.
  init(_ peripheral: Peripheral, adapter: String) {
    let advertisement = peripheral.advertisement
    self.init(
      peripheral: peripheral.id, adapter: adapter, address: "\(peripheral.address)",
      addressType: Word(peripheral.address.kind), connectable: advertisement?.isConnectable ?? false,
      data: HexBytes(advertisement?.data ?? []), time: 0)
    let advertised = peripheral.advertised
    name = peripheral.name
    services = peripheral.services.nonEmpty
    solicitedServices = advertised.solicitedServiceUUIDs.nonEmpty
    serviceData = advertised.serviceDataByUUID
    manufacturerData = advertised.manufacturerData.first.map { HexBytes($0.octets) }
    txPower = advertised.txPowerLevel ?? advertisement?.txPower
    appearance = advertised.appearance.map(Int.init)
    scanResponse = peripheral.scanResponse?.nonEmpty.map { HexBytes($0) }
    truncated = advertisement?.isTruncated == true ? true : nil
    directed = advertisement?.isDirected == true ? true : nil
    primaryPHY = advertisement?.primaryPHY.flatMap { PrimaryPHY($0) }.map { Word($0) }
    secondaryPHY = (advertisement?.secondaryPHY).map { Word($0) }
    sid = advertisement?.sid.map(Int.init)
    periodicInterval = advertisement?.periodicInterval?.inSeconds
  }
}

extension ScanAnonymousReport.Params {
  /// Describes an anonymous advertisement and its data.
  init(_ report: AdvertisingReport, _ advertised: AdvertisingData, adapter: String, time: Double) {
    self.init(adapter: adapter, data: HexBytes(report.data), time: time)
    rssi = report.rssi
    name = advertised.localName
    services = advertised.serviceUUIDs.nonEmpty
    serviceData = advertised.serviceDataByUUID
    manufacturerData = advertised.manufacturerData.first.map { HexBytes($0.octets) }
    txPower = advertised.txPowerLevel ?? report.txPower
    truncated = report.isTruncated ? true : nil
    directed = report.isDirected ? true : nil
    primaryPHY = report.primaryPHY.flatMap { PrimaryPHY($0) }.map { Word($0) }
    secondaryPHY = report.secondaryPHY.map { Word($0) }
    sid = report.sid.map(Int.init)
  }
}

extension AdvertisingData {
  fileprivate var serviceDataByUUID: [String: HexBytes]? {
    let all = serviceData
    guard !all.isEmpty else { return nil }
    return Dictionary(all.map { ("\($0.uuid)", HexBytes($0.data)) }, uniquingKeysWith: { first, _ in first })
  }
}
