import Adapter
import BledRPC
import Bluetooth

extension AdvertisingContent {
  /// More than any advertisement needs.
  private static let maximumServiceData = 64
  private static let maximumStructures = 64

  /// Reads the content requested by a client.
  /// - Throws: `BledError.invalidParameter`, naming the invalid member.
  init(_ params: AdvertisingStart.Params) throws {
    guard params.serviceData?.count ?? 0 <= Self.maximumServiceData else {
      throw BledError.invalidParameter.error("\"serviceData\" may have at most \(Self.maximumServiceData) members")
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
      name: params.name, serviceUUIDs: params.services ?? [], solicitedServiceUUIDs: params.solicitedServices ?? [],
      serviceData: serviceData, manufacturerData: manufacturerData, appearance: appearance,
      others: try Self.structures(params))
    // A client's own flags replace the daemon's.
    if others.contains(where: { $0.type == .flags }) {
      flags = nil
      others.sort { $0.type == .flags && $1.type != .flags }
    }
  }

  /// The URI, and the AD structures sent unchanged.
  private static func structures(_ params: AdvertisingStart.Params) throws -> [AdvertisingData.Structure] {
    var structures: [AdvertisingData.Structure] = []
    if let uri = params.uri {
      guard (1...254).contains(uri.utf8.count) else {
        throw BledError.invalidParameter.error("\"uri\" must have 1 to 254 octets")
      }
      structures.append(.uri(uri))
    }
    guard params.structures?.count ?? 0 <= maximumStructures else {
      throw BledError.invalidParameter.error("\"structures\" may have at most \(maximumStructures) members")
    }
    for structure in params.structures ?? [] {
      guard let type = UInt8(exactly: structure.type), structure.data.octets.count <= 254 else {
        throw BledError.invalidParameter.error(
          "\"structures\": a \"type\" is 0 to 255, and its \"data\" 0 to 254 octets")
      }
      structures.append(.init(AdvertisingDataType(rawValue: type), structure.data.octets))
    }
    return structures
  }
}
