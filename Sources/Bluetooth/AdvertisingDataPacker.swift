/// Lays AD structures out in two packets, an advertisement and its scan response.
struct AdvertisingDataPacker {
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

  /// Places the name whole where that is possible, else as much of it as fits where there is more room.
  mutating func place(name: String) throws(BluetoothError) {
    guard !name.isEmpty else { return }
    let most = min(max(room, scanResponseRoom) - 2, 254)
    guard name.utf8.count > most else { return try place([.localName(name)]) }
    var beginning = name[...]
    while beginning.utf8.count > most, beginning.popLast() != nil {}
    guard !beginning.isEmpty else {
      throw GAPError.advertisingDataTooLong.error(
        "no room is left for the name, nor for its first character: list fewer services or send less data")
    }
    shortenedName = String(beginning)
    try place([.localName(String(beginning), isComplete: false)])
  }

  /// Splits a complete list of services in two incomplete ones. Nothing else can be split.
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
