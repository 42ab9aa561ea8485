import Bluetooth
import JSONFiles

/// The content of an advertisement or a scan response: as fields, or as octets in `raw`.
struct AdvertisingDescription: ReadableFromFile, Sendable {
  private var content = AdvertisingContent()
  private var raw: [UInt8]?

  /// The device's Appearance.
  var appearance: UInt16? { content.appearance }

  init() {}

  private enum Keys: String, CaseIterable {
    case name, services, solicitedServices, serviceData, manufacturerData, appearance, txPower, raw
  }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    raw = try members.optional(.raw) { value throws(FileError) in try value.octets(atMost: 31) }
    content.name = try members.optional(.name)
    content.serviceUUIDs = try members.value(.services, default: [])
    content.solicitedServiceUUIDs = try members.value(.solicitedServices, default: [])
    for member in try members[.serviceData]?.members().sorted(by: { $0.name < $1.name }) ?? [] {
      guard let uuid = BluetoothUUID(member.name) else { throw member.failure("this is not a UUID: give one") }
      content.serviceData.append(
        AdvertisingData.ServiceData(uuid: uuid, data: try member.value.octets(atMost: 31)))
    }
    if let value = members[.manufacturerData] {
      guard let manufacturerData = AdvertisingData.ManufacturerData(octets: try value.octets(atMost: 31)) else {
        throw value.failure("the company is missing: start with its two octets, low octet first")
      }
      content.manufacturerData = manufacturerData
    }
    content.appearance = try members.optional(.appearance) { value throws(FileError) in
      try value.integer(in: 0...0xFFFF)
    }
    content.txPowerLevel = try members.optional(.txPower) { value throws(FileError) in
      try value.integer(in: -127...127)
    }
  }

  /// Advertising and scan response data. Fields that do not fit into the one go into the other if that is not given.
  /// - Throws: the data that does not fit.
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
