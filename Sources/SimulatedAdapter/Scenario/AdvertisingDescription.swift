import Bluetooth

/// What an advertisement or a scan response says: as fields, or octet by octet as `raw`.
struct AdvertisingDescription: Decodable, Sendable {
  private var content = AdvertisingContent()
  private var raw: [UInt8]?

  /// What kind of thing the device says it is.
  var appearance: UInt16? { content.appearance }

  init() {}

  private enum Keys: String, CodingKey, CaseIterable {
    case name, services, solicitedServices, serviceData, manufacturerData, appearance, txPower, raw
  }

  init(from decoder: any Decoder) throws {
    let members = try Members(decoder, Keys.self)
    raw = try members.octets(.raw, atMost: 31)
    content.name = try members.optional(.name)
    content.serviceUUIDs = try members.value(.services, default: [])
    content.solicitedServiceUUIDs = try members.value(.solicitedServices, default: [])
    let data = try members.value(.serviceData, default: [String: String]())
    for (text, hex) in data.sorted(by: { $0.key < $1.key }) {
      guard let uuid = BluetoothUUID(text), let octets = Hex.decode(hex) else {
        throw members.failure(.serviceData, "\"\(text)\": \"\(hex)\" will not do: give a UUID and hex digits.")
      }
      content.serviceData.append(AdvertisingData.ServiceData(uuid: uuid, data: octets))
    }
    if let octets = try members.octets(.manufacturerData, atMost: 31) {
      guard let manufacturerData = AdvertisingData.ManufacturerData(octets: octets) else {
        throw members.failure(.manufacturerData, "the company is missing: begin with its two octets, low octet first.")
      }
      content.manufacturerData = manufacturerData
    }
    if members.contains(.appearance) {
      content.appearance = UInt16(try members.integer(.appearance, in: 0...0xFFFF, default: nil))
    }
    if members.contains(.txPower) { content.txPowerLevel = try members.integer(.txPower, in: -127...127, default: nil) }
  }

  /// Advertising and scan response data. Fields that do not fit the one go to the other if nothing is said about it.
  /// - Throws: what does not fit.
  func encode(
    withScanResponse response: AdvertisingDescription?
  ) throws(BluetoothError) -> (data: [UInt8], scanResponse: [UInt8]) {
    guard let response else {
      if let raw { return (raw, []) }
      let packed = try content.packed()
      return (packed.data, packed.scanResponse)
    }
    return (try encodeAlone(flags: true), try response.encodeAlone(flags: false))
  }

  private func encodeAlone(flags: Bool) throws(BluetoothError) -> [UInt8] {
    if let raw { return raw }
    var content = content
    if !flags { content.flags = nil }
    return try content.packed(scanResponseCapacity: 0).data
  }
}
