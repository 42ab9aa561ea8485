import Adapter
import BledRPC
import Bluetooth

extension AdvertisingContent {
  /// More than fit into any packet.
  private static let mostServiceData = 64

  /// What a client wants to advertise.
  /// - Throws: `BledError.invalidParameter`, naming what is not valid.
  init(_ params: AdvertisingStart.Params) throws {
    guard params.serviceData?.count ?? 0 <= Self.mostServiceData else {
      throw BledError.invalidParameter.error("\"serviceData\" may have at most \(Self.mostServiceData) members")
    }
    var serviceData: [AdvertisingData.ServiceData] = []
    for (text, data) in (params.serviceData ?? [:]).sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      guard let uuid = BluetoothUUID(text) else {
        throw BledError.invalidParameter.error("\"serviceData\": \"\(text.excerpt)\" is not a UUID")
      }
      serviceData.append(AdvertisingData.ServiceData(uuid: uuid, data: data.octets))
    }
    var manufacturerData: AdvertisingData.ManufacturerData?
    if let octets = params.manufacturerData?.octets {
      manufacturerData = AdvertisingData.ManufacturerData(octets: octets)
      guard manufacturerData != nil else {
        throw BledError.invalidParameter.error(
          "\"manufacturerData\" must begin with the two octets of the company, low octet first")
      }
    }
    var appearance: UInt16?
    if let number = params.appearance {
      appearance = UInt16(exactly: number)
      guard appearance != nil else { throw BledError.invalidParameter.error("\"appearance\" must be 0 to 65535") }
    }
    self.init(
      name: params.name, serviceUUIDs: params.services ?? [], serviceData: serviceData,
      manufacturerData: manufacturerData, appearance: appearance)
  }
}

extension AdvertisingStart.Params {
  /// The shortest time between two advertisements of a program in the background, in seconds.
  private static let backgroundInterval = 1.0

  /// What the adapter is to do, and the name if it had to be shortened. In the background there is no name, and no
  /// hurry.
  func parameters(inBackground: Bool) throws -> (AdvertisingParameters, shortenedName: String?) {
    var params = self
    var interval = interval ?? 0.1
    if inBackground {
      params.name = nil
      interval = max(interval, Self.backgroundInterval)
    }
    let packed = try AdvertisingContent(params).packed()
    let parameters = AdvertisingParameters(
      isConnectable: connectable ?? true, interval: .seconds(interval), data: packed.data,
      scanResponse: packed.scanResponse)
    return (parameters, packed.shortenedName)
  }
}
