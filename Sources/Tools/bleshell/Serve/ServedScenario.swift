import BledRPC
import Bluetooth
import JSONFiles

/// A device of a scenario file, as `bleshell clone` writes it, for `bleshell serve`: its advertisement, its services
/// with values and descriptors, and the values that it sent. The behaviour of its radio is left out.
struct ServedScenario {
  private enum Keys: String, CaseIterable { case adapter, devices, phones, events, seed, clock }

  private enum DeviceKeys: String, CaseIterable {
    case name, address, addressType, connectable, interval, advertising, scanResponse, rssi, mtu, connectDelay
    case responseDelay, losses, faults, disconnectAfter, databaseHash, services, pairing, privateAddress, radio
    case longRange, echoPSM
  }

  private let device: FileMembers<DeviceKeys>

  /// True if a file is a scenario rather than a file of services.
  static func isOne(_ value: FileValue) throws(FileError) -> Bool {
    try value.members().contains { $0.isNamed(Keys.devices.rawValue) }
  }

  /// Reads a scenario.
  /// - Parameter name: The device; nil: the only one.
  init(_ value: FileValue, device name: String?) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    var devices: [(name: String, members: FileMembers<DeviceKeys>)] = []
    for element in try members.value(.devices).elements() {
      let device = try FileMembers(element, DeviceKeys.self)
      devices.append((try device.required(.name), device))
    }
    let meant = name.map { name in devices.filter { $0.name.hasSameOctets(as: name) } } ?? devices
    guard meant.count == 1 else {
      let names = devices.prefix(16).map { "\"\($0.name)\"" }.joined(separator: ", ")
      throw members.failure(
        .devices, devices.isEmpty ? "there is no device: add one" : "give one of the devices with --device: \(names)")
    }
    device = meant[0].members
  }

  /// The device as a file of services. The daemon has the generic services itself.
  func file() throws(FileError) -> ServiceFile {
    var services: [ServiceFile.Service] = []
    for element in try device[.services]?.elements() ?? [] {
      let service = try Self.service(element)
      if ![0x1800, 0x1801].contains(service.uuid) { services.append(service) }
    }
    return ServiceFile(advertise: try advertisement(), services: services)
  }

  // MARK: Services

  private enum ServiceKeys: String, CaseIterable { case uuid, primary, includes, characteristics }

  private static func service(_ value: FileValue) throws(FileError) -> ServiceFile.Service {
    let members = try FileMembers(value, ServiceKeys.self)
    var characteristics: [ServiceFile.Characteristic] = []
    for element in try members[.characteristics]?.elements() ?? [] {
      characteristics.append(try characteristic(element))
    }
    return .init(
      uuid: try members.required(.uuid), primary: try members.optional(.primary), characteristics: characteristics)
  }

  private enum CharacteristicKeys: String, CaseIterable {
    case uuid, properties, value, text, length, rule, notifyEvery, descriptors, security
  }

  private static func characteristic(_ value: FileValue) throws(FileError) -> ServiceFile.Characteristic {
    let members = try FileMembers(value, CharacteristicKeys.self)
    // As in scenarios, it can be read if nothing else is said.
    let properties: [CharacteristicProperty] = try members[.properties]?.words() ?? [.read]
    var descriptors: [ServiceFile.Descriptor] = []
    for element in try members[.descriptors]?.elements() ?? [] {
      let descriptor = try ServiceFile.Descriptor(element)
      // The daemon makes those of configuration and extended properties.
      if ![0x2900, 0x2902, 0x2903].contains(descriptor.uuid) { descriptors.append(descriptor) }
    }
    return .init(
      uuid: try members.required(.uuid), properties: properties,
      permissions: try permissions(properties, members[.security]),
      octets: try members.octets(.value, orText: .text), fixed: nil,
      changes: try members[.rule].flatMap { value throws(FileError) in try changes(value) },
      descriptors: descriptors.isEmpty ? nil : descriptors)
  }

  private enum SecurityKeys: String, CaseIterable { case read, write, subscribe }

  private static func permissions(
    _ properties: [CharacteristicProperty], _ security: FileValue?
  ) throws(FileError) -> [CharacteristicPermission]? {
    guard let security else { return nil }
    let members = try FileMembers(security, SecurityKeys.self)
    func level(_ key: SecurityKeys) throws(FileError) -> String { try members[key]?.text() ?? "none" }
    var permissions: [CharacteristicPermission] = []
    if properties.contains(.read) {
      permissions.append(
        try level(.read) == "authenticated"
          ? .readAuthenticationRequired : try level(.read) == "encrypted" ? .readEncryptionRequired : .readable)
    }
    if properties.contains(.write) || properties.contains(.writeWithoutResponse) {
      permissions.append(
        try level(.write) == "authenticated"
          ? .writeAuthenticationRequired : try level(.write) == "encrypted" ? .writeEncryptionRequired : .writeable)
    }
    return permissions
  }

  /// The values that were sent, in the mean time between two of them; nil for other rules.
  private static func changes(_ rule: FileValue) throws(FileError) -> ServiceFile.Changes? {
    guard let sent = try rule.members().first(where: { $0.isNamed("sent") })?.value else { return nil }
    var (seconds, values): (Double, [HexBytes]) = (0, [])
    for element in try sent.elements() {
      for member in try element.members() {
        if member.isNamed("after") { seconds += try member.value.number(in: 0...86_400) }
        if member.isNamed("value") { values.append(HexBytes(try member.value.octets(atMost: 512))) }
      }
    }
    guard !values.isEmpty else { return nil }
    return .init(every: max(0.01, seconds / Double(values.count)), values: values)
  }

  // MARK: The advertisement

  private enum AdvertisingKeys: String, CaseIterable {
    case name, services, solicitedServices, serviceData, manufacturerData, appearance, txPower, raw
  }

  /// The advertised data, as fields or from the octets that were recorded.
  private func advertisement() throws(FileError) -> AdvertisingStart.Params {
    var params = AdvertisingStart.Params()
    params.connectable = try device.optional(.connectable)
    for key in [DeviceKeys.advertising, .scanResponse] {
      guard let value = device[key] else { continue }
      let members = try FileMembers(value, AdvertisingKeys.self)
      if let raw = try members[.raw]?.octets(atMost: 31) { params.add(AdvertisingData(parsing: raw)) }
      let name: String? = try members.optional(.name)
      params.name = params.name ?? name
      let services: [BluetoothUUID]? = try members.optional(.services)
      params.services = params.services ?? services
      if let data = members[.manufacturerData] { params.manufacturerData = HexBytes(try data.octets(atMost: 31)) }
      for member in try members[.serviceData]?.members() ?? [] {
        params.serviceData = params.serviceData ?? [:]
        params.serviceData?[member.name] = HexBytes(try member.value.octets(atMost: 31))
      }
    }
    return params
  }
}

extension AdvertisingStart.Params {
  fileprivate mutating func add(_ data: AdvertisingData) {
    name = name ?? data.localName
    if !data.serviceUUIDs.isEmpty { services = (services ?? []) + data.serviceUUIDs }
    appearance = appearance ?? data.appearance.map(Int.init)
    if let first = data.manufacturerData.first { manufacturerData = manufacturerData ?? HexBytes(first.octetsOnAir) }
    for entry in data.serviceData {
      serviceData = serviceData ?? [:]
      serviceData?["\(entry.uuid)"] = HexBytes(entry.data)
    }
  }
}

extension AdvertisingData.ManufacturerData {
  fileprivate var octetsOnAir: [UInt8] {
    [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + data
  }
}
