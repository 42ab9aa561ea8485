import BledRPC
import Bluetooth

/// An alternative in a scan (`ScanStart.Filter`), ready for comparison with reports.
///
/// Advertisement and scan response are compared together, parsed when they change. A filter reads it in place: a report
/// without a match costs no allocation.
struct AdvertisementFilter {
  /// Maximum services per list.
  static let maximumServices = 16
  /// The most octets of data in an AD structure (Core 5.4, Vol 3, Part C, 11).
  private static let longestStructure = 254

  private let services: [BluetoothUUID]?
  private let name: NamePattern?
  private let manufacturer: (company: UInt16, data: OctetPattern)?
  private let serviceData: (uuid: BluetoothUUID, data: OctetPattern)?
  private let pattern: (type: UInt8, offset: Int, data: OctetPattern)?
  private let addressKinds: [ScanStart.AddressKind]?
  private let isConnectable: Bool

  /// - Parameter place: its name in errors: "filters[0]".
  init(_ filter: ScanStart.Filter, at place: String) throws {
    isConnectable = filter.connectable ?? false
    guard filter.isRestrictive else {
      throw BledError.invalidParameter.error(
        """
        "\(place)" lets everything through: give it "services", "name", "manufacturer", "serviceData", "pattern", \
        "addressKinds" or "connectable": true, or leave it out
        """)
    }
    services = try Self.list(filter.services, upTo: Self.maximumServices, at: "\(place).services")
    addressKinds = try Self.list(
      filter.addressKinds, upTo: ScanStart.AddressKind.allCases.count, at: "\(place).addressKinds"
    )?.known(at: "\(place).addressKinds")
    name = try Self.name(filter, at: place)
    manufacturer = try filter.manufacturer.map {
      ($0.company, try OctetPattern($0.data, mask: $0.mask, at: "\(place).manufacturer"))
    }
    serviceData = try filter.serviceData.map {
      ($0.uuid, try OctetPattern($0.data, mask: $0.mask, at: "\(place).serviceData"))
    }
    pattern = try filter.pattern.map { try Self.pattern($0, at: "\(place).pattern") }
  }

  /// True if the advertisement matches.
  func admits(_ content: AdvertisedContent) -> Bool {
    if isConnectable, !content.isConnectable { return false }
    if let addressKinds {
      guard let kind = content.address?.scanKind, addressKinds.contains(kind) else { return false }
    }
    if let name {
      guard let advertised = content.name, name.matches(advertised) else { return false }
    }
    if let services, !content.services.contains(where: services.contains) { return false }
    let structures = content.advertised.structures
    if let manufacturer, !structures.contains(where: { $0.hasManufacturerData(of: manufacturer) }) { return false }
    if let serviceData, !structures.contains(where: { $0.hasServiceData(of: serviceData) }) { return false }
    guard let pattern else { return true }
    return structures.contains { $0.type.rawValue == pattern.type && pattern.data.matches($0.data, at: pattern.offset) }
  }

  private static func list<Element>(_ list: [Element]?, upTo limit: Int, at place: String) throws -> [Element]? {
    guard let list else { return nil }
    guard 1...limit ~= list.count else {
      throw BledError.invalidParameter.error(
        "\"\(place)\" has \(list.count) elements: give 1 to \(limit), or leave it out")
    }
    return list
  }

  private static func name(_ filter: ScanStart.Filter, at place: String) throws -> NamePattern? {
    let (isWhole, ignoresCase) = (filter.wholeName ?? false, filter.ignoreCase ?? false)
    guard let text = filter.name else {
      guard !isWhole, !ignoresCase else {
        throw BledError.invalidParameter.error(
          "\"\(place)\" says how to compare a name and gives none: add \"name\"")
      }
      return nil
    }
    guard text.utf8.count <= ScanFilter.longestName else {
      throw BledError.invalidParameter.error("\"\(place).name\" may have at most \(ScanFilter.longestName) octets")
    }
    return NamePattern(text, isWhole: isWhole, ignoresCase: ignoresCase)
  }

  private static func pattern(
    _ pattern: ScanStart.Pattern, at place: String
  ) throws -> (type: UInt8, offset: Int, data: OctetPattern) {
    guard let type = UInt8(exactly: pattern.type) else {
      throw BledError.invalidParameter.error("\"\(place).type\" must be an AD type, 0 to 255")
    }
    let data = try OctetPattern(pattern.data, mask: nil, at: place)
    guard data.count > 0 else {
      throw BledError.invalidParameter.error("\"\(place).data\" is empty: give 1 to \(OctetPattern.longest) octets")
    }
    let offset = pattern.offset ?? 0
    guard 0...longestStructure - data.count ~= offset else {
      throw BledError.invalidParameter.error(
        """
        "\(place).offset" must be 0 to \(longestStructure - data.count) with \(data.count) octets: an AD structure has \
        at most \(longestStructure)
        """)
    }
    return (type, offset, data)
  }
}

extension ScanStart.Filter {
  /// True if it excludes any advertisement.
  fileprivate var isRestrictive: Bool {
    services != nil || name != nil || wholeName == true || ignoreCase == true || manufacturer != nil
      || serviceData != nil || pattern != nil || addressKinds != nil || connectable == true
  }
}

extension AdvertisingData.Structure {
  /// (CSS, Part A, 1.4): the company identifier, low octet first, then its data.
  fileprivate func hasManufacturerData(of wanted: (company: UInt16, data: OctetPattern)) -> Bool {
    type == .manufacturerSpecificData && data.count >= 2
      && UInt16(data[0]) | UInt16(data[1]) << 8 == wanted.company && wanted.data.matches(data, at: 2)
  }

  /// (CSS, Part A, 1.11): the UUID, then its data.
  fileprivate func hasServiceData(of wanted: (uuid: BluetoothUUID, data: OctetPattern)) -> Bool {
    guard let width = serviceDataUUIDWidth, data.count >= width else { return false }
    return BluetoothUUID(littleEndian: data[..<width]) == wanted.uuid && wanted.data.matches(data, at: width)
  }
}

extension DeviceAddress {
  /// Its kind; nil for a random address of no kind (Core 5.4, Vol 6, Part B, 1.3.2).
  fileprivate var scanKind: ScanStart.AddressKind? {
    if kind == .public { return .public }
    if isStaticRandom { return .randomStatic }
    if isResolvablePrivate { return .resolvable }
    return isNonResolvablePrivate ? .nonResolvable : nil
  }
}
