import BledRPC
import Bluetooth
import JSONFiles
import ScenarioRules

/// A device of a scenario file, as `bleshell clone` writes it, for `bleshell serve`: its advertisement, its services
/// with values, rules and descriptors, and its answers. The behaviour of its radio and its pairing are left out.
struct ServedScenario {
  private enum Keys: String, CaseIterable { case adapter, devices, phones, events, seed, clock }

  private enum DeviceKeys: String, CaseIterable {
    case name, address, addressType, connectable, interval, advertising, scanResponse, rssi, mtu, connectDelay
    case responseDelay, losses, faults, disconnectAfter, databaseHash, services, pairing, privateAddress, radio
    case longRange, echoPSM, firmware, bootLoader
  }

  private let device: FileMembers<DeviceKeys>
  private let seed: UInt64?

  /// True if a file is a scenario rather than a file of services.
  static func isOne(_ value: FileValue) throws(FileError) -> Bool {
    try value.members().contains { $0.isNamed(Keys.devices.rawValue) }
  }

  /// Reads a scenario.
  /// - Parameter name: The device; nil: the only one.
  init(_ value: FileValue, device name: String?) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    seed = try members.optional(.seed) { value throws(FileError) in
      UInt64(try value.integer(in: 0...Int64(1) << 53))
    }
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
    for key in [DeviceKeys.firmware, .bootLoader] where device[key] != nil {
      throw device.failure(key, "this is for simulated devices only: remove it")
    }
  }

  /// The device as a file of services. The daemon has the generic services itself.
  func file() throws(FileError) -> ServiceFile {
    var services: [ServiceFile.Service] = []
    for element in try device[.services]?.elements() ?? [] {
      let service = try Self.service(element)
      if ![0x1800, 0x1801].contains(service.uuid) { services.append(service) }
    }
    try checkEchoes(services)
    let behaviour = ServiceFile.Behaviour(
      seed: seed, responseDelay: try device.value(.responseDelay, default: TimeSpan(0)), answers: try answers())
    return ServiceFile(advertise: try advertisement(), services: services, behaviour: behaviour)
  }

  private enum FaultKeys: String, CaseIterable { case nonsense, mute, changeServices, answers }

  private func answers() throws(FileError) -> [AnswerFault] {
    guard let faults = device[.faults] else { return [] }
    return try FileMembers(faults, FaultKeys.self).value(.answers, default: [])
  }

  private func checkEchoes(_ services: [ServiceFile.Service]) throws(FileError) {
    let characteristics = services.flatMap(\.characteristics)
    let known = Set(characteristics.map(\.uuid))
    for case .echo(let source?) in characteristics.compactMap(\.rule) where !known.contains(source) {
      throw device.failure(.services, "a rule echoes \(source), which is no characteristic of this device: add it")
    }
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
    let rule: ValueRule? = try members.optional(.rule)
    try members.check(
      rule, .rule, notifyEvery: .notifyEvery,
      isWritable: properties.contains(.write) || properties.contains(.writeWithoutResponse),
      isSubscribable: properties.contains(.notify) || properties.contains(.indicate))
    var descriptors: [ServiceFile.Descriptor] = []
    for element in try members[.descriptors]?.elements() ?? [] {
      let descriptor = try Self.descriptor(element)
      // The daemon makes those of configuration and extended properties.
      if ![0x2900, 0x2902, 0x2903].contains(descriptor.uuid) { descriptors.append(descriptor) }
    }
    return .init(
      uuid: try members.required(.uuid), properties: properties,
      permissions: try members[.security].flatMap { value throws(FileError) in try permissions(properties, value) },
      minimumKeySize: try members[.security].flatMap { value throws(FileError) in try keySize(value) },
      octets: try members.template(value: .value, text: .text, length: .length), fixed: nil, changes: nil,
      rule: rule,
      notifyEvery: try members.optional(.notifyEvery) { value throws(FileError) in
        try value.seconds(in: 0.001...86400)
      }, descriptors: descriptors.isEmpty ? nil : descriptors)
  }

  private enum DescriptorKeys: String, CaseIterable { case uuid, value, text, length }

  private static func descriptor(_ value: FileValue) throws(FileError) -> ServiceFile.Descriptor {
    let members = try FileMembers(value, DescriptorKeys.self)
    return .init(
      uuid: try members.required(.uuid), octets: try members.template(value: .value, text: .text, length: .length))
  }

  // MARK: Security

  private enum SecurityKeys: String, CaseIterable { case read, write, subscribe, keySize }

  fileprivate enum Level: String, CaseIterable { case none, encrypted, authenticated, secureConnections }

  private static func keySize(_ security: FileValue) throws(FileError) -> Int? {
    guard security.isObject else { return nil }
    return try FileMembers(security, SecurityKeys.self).optional(.keySize) { value throws(FileError) in
      try value.integer(in: 7...16)
    }
  }

  /// - Parameter security: One level for all uses, or one for each of them.
  private static func permissions(
    _ properties: [CharacteristicProperty], _ security: FileValue
  ) throws(FileError) -> [CharacteristicPermission] {
    var (read, write, subscribe) = (Level.none, Level.none, Level.none)
    if !security.isObject {
      let level: Level = try security.word()
      (read, write, subscribe) = (level, level, level)
    } else {
      let members = try FileMembers(security, SecurityKeys.self)
      read = try members.word(.read, default: Level.none)
      write = try members.word(.write, default: Level.none)
      subscribe = try members.word(.subscribe, default: Level.none)
    }
    var permissions: [CharacteristicPermission] = []
    if properties.contains(.read) {
      permissions.append(
        read.permission(
          .readable, .readEncryptionRequired, .readAuthenticationRequired, .readSecureConnectionsRequired))
    }
    if properties.contains(.write) || properties.contains(.writeWithoutResponse) {
      permissions.append(
        write.permission(
          .writeable, .writeEncryptionRequired, .writeAuthenticationRequired, .writeSecureConnectionsRequired))
    }
    if subscribe != .none, properties.contains(.notify) || properties.contains(.indicate) {
      permissions.append(
        subscribe.permission(
          .subscribeEncryptionRequired, .subscribeEncryptionRequired, .subscribeAuthenticationRequired,
          .subscribeSecureConnectionsRequired))
    }
    return permissions
  }

  // MARK: The advertisement

  private enum AdvertisingKeys: String, CaseIterable {
    case name, services, solicitedServices, serviceData, manufacturerData, appearance, txPower, raw
  }

  /// The advertised data, as fields or from the octets that were recorded.
  private func advertisement() throws(FileError) -> AdvertisingStart.Params {
    var params = AdvertisingStart.Params()
    params.connectable = try device.optional(.connectable)
    // The longest interval of a radio is shorter than that of a simulated device.
    params.interval = try device.optional(.interval) { value throws(FileError) in
      min(try value.number(in: 0.02...10485.76), 10.24)
    }
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

extension ServedScenario.Level {
  fileprivate func permission(
    _ none: CharacteristicPermission, _ encrypted: CharacteristicPermission, _ authenticated: CharacteristicPermission,
    _ secureConnections: CharacteristicPermission
  ) -> CharacteristicPermission {
    switch self {
    case .none: none
    case .encrypted: encrypted
    case .authenticated: authenticated
    case .secureConnections: secureConnections
    }
  }
}
