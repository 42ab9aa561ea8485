/// The content of an advertisement, a scan response or any other AD data: a list of AD structures (Core 5.4, Vol 3,
/// Part C, 11; their meanings are in the Core Specification Supplement, Part A).
///
/// Reading never fails: an unreadable one is left out and counted. `AdvertisingContent` builds such data from its
/// contents.
public struct AdvertisingData: Hashable, Sendable {
  /// An AD structure: a type and its data.
  public struct Structure: Hashable, Sendable {
    /// The data's meaning.
    public var type: AdvertisingDataType
    /// The data, 0 to 254 octets, in wire order.
    public var data: [UInt8]

    /// Makes a structure.
    public init(_ type: AdvertisingDataType, _ data: [UInt8]) {
      self.type = type
      self.data = data
    }

    /// The number of octets the structure takes in a packet.
    public var encodedLength: Int { 2 + data.count }
  }

  /// The structures in the packet's order, including unknown types.
  public var structures: [Structure]
  /// Structures omitted because they reached beyond the end of their packet.
  public private(set) var malformedCount = 0

  /// Makes data of structures.
  public init(_ structures: [Structure] = []) { self.structures = structures }

  /// Reads AD data. A length of zero ends it early; a structure longer than the rest is dropped.
  public init(parsing octets: [UInt8]) {
    structures = []
    var index = 0
    while index < octets.count, octets[index] > 0 {
      let end = index + 1 + Int(octets[index])
      guard end <= octets.count else {
        malformedCount = 1
        return
      }
      structures.append(Structure(AdvertisingDataType(rawValue: octets[index + 1]), Array(octets[(index + 2)..<end])))
      index = end
    }
  }

  /// Reads AD data within other octets, like the other initializer.
  public init(parsing octets: some Collection<UInt8>) { self.init(parsing: Array(octets)) }

  /// The length of `encode()` in octets.
  public var encodedLength: Int { structures.reduce(0) { $0 + $1.encodedLength } }

  /// Writes the structures one after the other.
  /// - Throws: `GAPError.advertisingDataTooLong` if a structure's data is longer than 254 octets.
  public func encode() throws(BluetoothError) -> [UInt8] {
    var octets: [UInt8] = []
    octets.reserveCapacity(encodedLength)
    for structure in structures {
      guard let length = UInt8(exactly: structure.data.count + 1) else {
        throw GAPError.advertisingDataTooLong.error(
          "\(structure.type.name) has \(structure.data.count) octets, which exceeds an AD structure's limit of 254")
      }
      octets.append(length)
      octets.append(structure.type.rawValue)
      octets += structure.data
    }
    return octets
  }

  /// The data of the first structure with a type, without decoding.
  public func first(_ type: AdvertisingDataType) -> [UInt8]? { structures.first { $0.type == type }?.data }

  /// The data of all structures with a type.
  public func all(_ type: AdvertisingDataType) -> [[UInt8]] { structures.filter { $0.type == type }.map(\.data) }

  /// This data followed by that of the device's other packet: an advertisement and its scan response.
  public func merged(with other: AdvertisingData) -> AdvertisingData {
    var merged = self
    merged.structures += other.structures
    merged.malformedCount += other.malformedCount
    return merged
  }
}
