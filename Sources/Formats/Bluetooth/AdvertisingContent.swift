/// An advertisement's content; `packed` lays it out in advertising data and scan response data.
public struct AdvertisingContent: Hashable, Sendable {
  /// The flags; nil for none.
  public var flags: AdvertisingFlags?
  /// The device's name; it is shortened if there is not enough room.
  public var name: String?
  /// The services to list.
  public var serviceUUIDs: [BluetoothUUID]
  /// The solicited services.
  public var solicitedServiceUUIDs: [BluetoothUUID]
  /// Data of services.
  public var serviceData: [AdvertisingData.ServiceData]
  /// Manufacturer-specific data.
  public var manufacturerData: AdvertisingData.ManufacturerData?
  /// The appearance (Assigned Numbers, 2.6).
  public var appearance: UInt16?
  /// The packets' transmit power in dBm, −127 to 127.
  public var txPowerLevel: Int?
  /// AD structures of any other kind.
  public var others: [AdvertisingData.Structure]

  /// Makes content; without arguments only that of a discoverable LE device.
  public init(
    flags: AdvertisingFlags? = [.generalDiscoverable, .brEDRNotSupported], name: String? = nil,
    serviceUUIDs: [BluetoothUUID] = [], solicitedServiceUUIDs: [BluetoothUUID] = [],
    serviceData: [AdvertisingData.ServiceData] = [], manufacturerData: AdvertisingData.ManufacturerData? = nil,
    appearance: UInt16? = nil, txPowerLevel: Int? = nil, others: [AdvertisingData.Structure] = []
  ) {
    self.flags = flags
    self.name = name
    self.serviceUUIDs = serviceUUIDs
    self.solicitedServiceUUIDs = solicitedServiceUUIDs
    self.serviceData = serviceData
    self.manufacturerData = manufacturerData
    self.appearance = appearance
    self.txPowerLevel = txPowerLevel
    self.others = others
  }

  /// Advertising and scan response data, ready for the adapter.
  public struct Packed: Hashable, Sendable {
    /// The advertising data.
    public var data: [UInt8]
    /// The scan response data; empty for none.
    public var scanResponse: [UInt8]
    /// The name as it is sent, if it had to be shortened.
    public var shortenedName: String?
  }

  /// Lays the content out. The flags and the data for scanners' filters come first and stay in the advertisement while
  /// there is room; the rest goes into the scan response; a list of services that fits into neither is split; the name
  /// is last and is shortened, by whole characters, to the remaining room.
  /// - Parameters:
  ///   - capacity: maximum octets of the advertisement: 31, or with extended advertising the adapter's limit.
  ///   - scanResponseCapacity: maximum octets of the scan response, 0 without one, as with connectable extended
  ///     advertising.
  /// - Throws: `GAPError.advertisingDataTooLong`, which names the parts without room.
  public func packed(capacity: Int = 31, scanResponseCapacity: Int = 31) throws(BluetoothError) -> Packed {
    // First by importance; if that fails, longest first, which leaves smaller gaps.
    let fields = fields
    var packer = AdvertisingDataPacker(capacity: capacity, scanResponseCapacity: scanResponseCapacity)
    do {
      if let flags { try packer.place([.flags(flags)]) }
      try packer.place(fields)
      if let name { try packer.place(name: name) }
    } catch {
      packer = AdvertisingDataPacker(capacity: capacity, scanResponseCapacity: scanResponseCapacity)
      if let flags { try packer.place([.flags(flags)]) }
      try packer.place(fields.sorted { $0.encodedLength > $1.encodedLength })
      if let name { try packer.place(name: name) }
    }
    return Packed(
      data: try packer.advertisement.encode(), scanResponse: try packer.scanResponse.encode(),
      shortenedName: packer.shortenedName)
  }

  /// Everything but flags and name, the most important first.
  private var fields: [AdvertisingData.Structure] {
    var fields = AdvertisingData.Structure.services(serviceUUIDs)
    fields += serviceData.map { .serviceData($0.uuid, $0.data) }
    if let manufacturerData { fields.append(.manufacturerData(manufacturerData)) }
    if let txPowerLevel { fields.append(.txPowerLevel(txPowerLevel)) }
    if let appearance { fields.append(.appearance(appearance)) }
    fields += AdvertisingData.Structure.solicitedServices(solicitedServiceUUIDs)
    fields += others
    return fields
  }
}

/// Lays AD structures out in two packets, an advertisement and its scan response.
private struct AdvertisingDataPacker {
  private(set) var advertisement = AdvertisingData()
  private(set) var scanResponse = AdvertisingData()
  private(set) var shortenedName: String?
  private let capacity: Int
  private let scanResponseCapacity: Int

  init(capacity: Int, scanResponseCapacity: Int) {
    self.capacity = capacity
    self.scanResponseCapacity = scanResponseCapacity
  }

  private var room: Int { capacity - advertisement.encodedLength }
  private var scanResponseRoom: Int { scanResponseCapacity - scanResponse.encodedLength }

  /// Places each structure in the first packet with room for it. Flags are never moved to the scan response
  /// (CSS, Part A, 1.3).
  mutating func place(_ structures: [AdvertisingData.Structure]) throws(BluetoothError) {
    for structure in structures {
      if structure.encodedLength <= room {
        advertisement.structures.append(structure)
      } else if structure.encodedLength <= scanResponseRoom, structure.type != .flags {
        scanResponse.structures.append(structure)
      } else if !split(structure) {
        throw GAPError.advertisingDataTooLong.error(
          """
          \(structure.type.name) takes \(structure.encodedLength) octets, but only \(max(room, 0)) are left in the \
          advertisement and \(max(scanResponseRoom, 0)) in the scan response
          """)
      }
    }
  }

  /// Places the name whole if possible, else as much of it as fits into the larger room.
  mutating func place(name: String) throws(BluetoothError) {
    guard !name.isEmpty else { return }
    let maximum = min(max(room, scanResponseRoom) - 2, 254)
    guard name.utf8.count > maximum else { return try place([.localName(name)]) }
    // From the front: text from outside may be long, and finding its last character may take reading all of it.
    var beginning = ""
    for character in name {
      guard beginning.utf8.count + character.utf8.count <= maximum else { break }
      beginning.append(character)
    }
    guard !beginning.isEmpty else {
      throw GAPError.advertisingDataTooLong.error(
        "no room is left for the name, nor for its first character: list fewer services or send less data")
    }
    shortenedName = beginning
    try place([.localName(beginning, isComplete: false)])
  }

  /// Splits a complete list of services into two incomplete ones. Other structures cannot be split.
  private mutating func split(_ structure: AdvertisingData.Structure) -> Bool {
    let uuids = structure.serviceUUIDs
    guard let width = uuids.first?.advertisedWidth.rawValue else { return false }
    let fitting = max(0, room - 2) / width
    guard fitting > 0, (uuids.count - fitting) * width + 2 <= scanResponseRoom else { return false }
    advertisement.structures += AdvertisingData.Structure.services(Array(uuids.prefix(fitting)), isComplete: false)
    scanResponse.structures += AdvertisingData.Structure.services(Array(uuids.dropFirst(fitting)), isComplete: false)
    return true
  }
}
