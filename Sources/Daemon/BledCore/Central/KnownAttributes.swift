import Bluetooth
import GATT

/// The attributes discovered on a device, and how complete they are: enough to answer the same request again, and to
/// know how far services and characteristics reach, which operations characteristics allow, and where their
/// configuration is.
struct KnownAttributes: Hashable {
  /// A service. A nil part has not been searched for yet.
  struct Service: Hashable {
    let range: ClosedRange<UInt16>
    let uuid: BluetoothUUID
    var isPrimary: Bool?
    var includes: [DiscoveredInclude]?
    var characteristics: [DiscoveredCharacteristic]?
  }

  /// From this number of searches for single services on, all services are searched for instead.
  static let maximumSearches = 64

  /// The services in the order of their handles.
  private(set) var services: [Service] = []
  /// True if they include all primary services.
  private(set) var hasAllPrimaries = false
  /// The primary services searched one by one.
  private(set) var searched: Set<BluetoothUUID> = []
  /// UUIDs with a short form and no primary service declared in that form.
  private var notShort: Set<BluetoothUUID> = []
  /// True if the device refuses searches for single services.
  var cannotBeSearched = false
  /// The services (by handle) and characteristics (by value handle) with a part refused by the device.
  private var refused: Set<UInt16> = []
  /// True if the device refused a part, so the next link asks again.
  var isIncomplete = false
  /// The services, by first handle, that are searched alone.
  private var searchedByThemselves: Set<UInt16> = []
  /// The Service Changed value.
  private(set) var serviceChanged: UInt16?
  /// Incremented when anything becomes known or invalid.
  private(set) var revision = 0
  /// Incremented when something becomes invalid.
  private(set) var epoch = 0

  private var characteristics: [UInt16: DiscoveredCharacteristic] = [:]
  private var descriptors: [UInt16: [DiscoveredDescriptor]] = [:]
  /// The Client Characteristic Configuration descriptors by value handle.
  private var configurations: [UInt16: UInt16] = [:]
  /// The Characteristic Extended Properties by value handle; nil if the device refused.
  private var extended: [UInt16: ExtendedProperties?] = [:]

  // MARK: Discovered attributes

  /// Adds a service; a service already known in this place keeps its known parts.
  mutating func add(_ range: ClosedRange<UInt16>, _ uuid: BluetoothUUID, isPrimary: Bool?) {
    revision += 1
    let index = services.index(notBelow: range.lowerBound)
    let new = Service(range: range, uuid: uuid, isPrimary: isPrimary)
    guard index < services.count, services[index].range.lowerBound == range.lowerBound else {
      return services.insert(new, at: index)
    }
    guard services[index].range == range, services[index].uuid == uuid else { return services[index] = new }
    services[index].isPrimary = isPrimary ?? services[index].isPrimary
  }

  /// All primary services are known; all others are secondary ones.
  mutating func addedAllPrimaries() {
    revision += 1
    hasAllPrimaries = true
    searched = []
    for index in services.indices where services[index].isPrimary == nil { services[index].isPrimary = false }
  }

  /// All primary services of this UUID are known.
  mutating func addedAll(of uuid: BluetoothUUID) {
    revision += 1
    if !hasAllPrimaries { searched.insert(uuid) }
  }

  /// No primary service is declared with the short form of this UUID.
  mutating func addedNone(byShortFormOf uuid: BluetoothUUID) { notShort.insert(uuid) }

  func hasNone(byShortFormOf uuid: BluetoothUUID) -> Bool { notShort.contains(uuid) }

  /// The search for primary services of a UUID. Both lengths are one UUID (Core 5.4, Vol 3, Part B, 2.5.1), but some
  /// devices compare octet by octet: if the short form finds none, the long one is searched.
  func search(for uuid: BluetoothUUID) -> GATTProcedure {
    hasNone(byShortFormOf: uuid)
      ? .discoverPrimaryServices(value: uuid.littleEndian128) : .discoverPrimaryServices(uuid: uuid)
  }

  /// The device refuses discovery of the service's characteristics, or of the characteristic's descriptors.
  mutating func refuses(_ handle: UInt16) {
    refused.insert(handle)
    isIncomplete = true
  }

  func hasRefused(_ handle: UInt16) -> Bool { refused.contains(handle) }

  /// Keeps a service out of searches for several.
  mutating func searchByItself(_ service: Service) { searchedByThemselves.insert(service.range.lowerBound) }

  /// Adds the included services of the service at this handle.
  mutating func add(_ includes: [DiscoveredInclude], of handle: UInt16) {
    // Services found by a discovery take precedence over an include.
    for include in includes where service(ifKnown: include.range.lowerBound) == nil {
      add(include.range, include.uuid, isPrimary: hasAllPrimaries ? false : nil)
    }
    revision += 1
    if let index = services.index(of: handle) { services[index].includes = includes }
  }

  /// Adds all characteristics of the service at this handle.
  mutating func add(_ found: [DiscoveredCharacteristic], of handle: UInt16) {
    revision += 1
    if let index = services.index(of: handle) { services[index].characteristics = found }
    for characteristic in found {
      characteristics[characteristic.valueHandle] = characteristic
      if characteristic.uuid == 0x2A05, characteristic.properties.contains(.indicate) {
        serviceChanged = characteristic.valueHandle
      }
    }
  }

  /// Adds all descriptors of a characteristic.
  mutating func add(_ found: [DiscoveredDescriptor], of value: UInt16) {
    revision += 1
    descriptors[value] = found
    configurations[value] = found.first { $0.uuid == 0x2902 }?.handle
  }

  /// Adds the extended properties of a characteristic; nil if the device does not let us read the descriptor.
  mutating func add(_ properties: ExtendedProperties?, of value: UInt16) {
    revision += 1
    extended[value] = .some(properties)
  }

  /// Forgets the attributes invalidated by the device. Service Changed itself never moves (Core 5.4, Vol 3, Part G,
  /// 7.1).
  mutating func forget(_ range: ClosedRange<UInt16>) {
    revision += 1
    epoch += 1
    hasAllPrimaries = false
    searched = []
    notShort = []
    refused = []
    isIncomplete = false
    searchedByThemselves = []
    services.removeAll { service in
      service.range.overlaps(range) || service.includes?.contains { $0.range.overlaps(range) } ?? false
    }
    let isValid = { [serviceChanged] handle in !range.contains(handle) || handle == serviceChanged }
    characteristics = characteristics.filter { isValid($0.key) }
    configurations = configurations.filter { isValid($0.key) }
    descriptors = descriptors.filter { isValid($0.key) }
    extended = extended.filter { isValid($0.key) }
  }

  // MARK: Known attributes

  /// The service declared at this handle; nil if it was not discovered.
  func service(ifKnown handle: UInt16) -> Service? { services.index(of: handle).map { services[$0] } }

  /// The service declared at this handle.
  func service(at handle: UInt16) throws -> Service {
    guard let service = service(ifKnown: handle) else {
      throw BledError.unknownHandle.error(
        "no service with handle \(handle.handleText) was discovered since the device connected")
    }
    return service
  }

  /// True if these are not the known primary services, as far as they were searched.
  func differs(fromPrimaries found: [DiscoveredService]) -> Bool {
    let there = Dictionary(found.map { ($0.range, $0.uuid) }) { first, _ in first }
    if services.contains(where: { $0.isPrimary == true && there[$0.range] != $0.uuid }) { return true }
    return found.contains { service in
      (hasAllPrimaries || searched.contains(service.uuid))
        && self.service(ifKnown: service.range.lowerBound)?.range != service.range
    }
  }

  /// True if a service, as far as it is known here, is the same there.
  func isSame(_ service: Service, in other: KnownAttributes) -> Bool {
    guard let there = other.service(ifKnown: service.range.lowerBound) else { return false }
    guard there.range == service.range, there.uuid == service.uuid,
      service.isPrimary == nil || service.isPrimary == there.isPrimary,
      service.includes == nil || service.includes == there.includes
    else { return false }
    guard let characteristics = service.characteristics else { return true }
    return characteristics == there.characteristics
      && characteristics.allSatisfy {
        descriptors[$0.valueHandle] == nil || descriptors[$0.valueHandle] == other.descriptors[$0.valueHandle]
      }
  }

  /// The primary services there that are not known here, although they were searched.
  func additions(in other: KnownAttributes) -> [Service] {
    other.services.filter {
      $0.isPrimary == true && (hasAllPrimaries || searched.contains($0.uuid))
        && service(ifKnown: $0.range.lowerBound)?.range != $0.range
    }
  }

  /// True if a service is not searched together with others.
  func isSearchedByItself(_ service: Service) -> Bool { searchedByThemselves.contains(service.range.lowerBound) }

  /// The characteristic with this value handle.
  func characteristic(at value: UInt16) throws -> DiscoveredCharacteristic {
    guard let found = characteristics[value] else {
      throw BledError.unknownHandle.error(
        "no characteristic with handle \(value.handleText) was discovered since the device connected")
    }
    return found
  }

  /// The properties of the characteristic with this value handle; nil if unknown, as for descriptors.
  func properties(of value: UInt16) -> CharacteristicProperties? { characteristics[value]?.properties }

  /// A characteristic's descriptors; nil if not discovered.
  func descriptors(of value: UInt16) -> [DiscoveredDescriptor]? {
    guard let characteristic = characteristics[value] else { return nil }
    return characteristic.endHandle > value ? descriptors[value] : []
  }

  /// A characteristic's extended properties; nil if it has none, or they were not or could not be read.
  func extendedProperties(of value: UInt16) -> ExtendedProperties? { extended[value] ?? nil }

  func hasAskedForExtendedProperties(of value: UInt16) -> Bool { extended[value] != nil }

  /// The value handle of a descriptor's characteristic; nil if the descriptor is unknown.
  func value(ofDescriptor handle: UInt16) -> UInt16? {
    descriptors.first { $0.value.contains { $0.handle == handle } }?.key
  }

  /// The range for descriptors of this characteristic; nil if it has no room for any.
  func descriptorRange(of value: UInt16) throws -> ClosedRange<UInt16>? {
    let characteristic = try characteristic(at: value)
    guard characteristic.endHandle > value else { return nil }
    return (value + 1)...characteristic.endHandle
  }

  /// The configuration descriptor, if descriptors were discovered and it was among them.
  func configuration(of value: UInt16) -> UInt16? { configurations[value] }

  func isConfiguration(_ handle: UInt16) -> Bool { configurations.values.contains(handle) }
}

extension [KnownAttributes.Service] {
  fileprivate func index(notBelow handle: UInt16) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].range.lowerBound < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }

  fileprivate func index(of handle: UInt16) -> Int? {
    let index = index(notBelow: handle)
    return index < count && self[index].range.lowerBound == handle ? index : nil
  }
}
