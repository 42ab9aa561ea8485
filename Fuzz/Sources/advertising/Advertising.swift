import AssignedValues
import Bluetooth
import Fuzzing

/// AD structures of any kind: what is read is written again as it was, what is packed fits and says what it should, and
/// values and texts are read without a trap.
@main
enum Advertising {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let choice = input.octet()
      let rest = input.remainder()
      switch choice & 3 {
      case 0, 1: check(AdvertisingData(parsing: rest), of: rest)
      case 2: checkPacking(AdvertisingData(parsing: rest), capacity: 20 + Int(choice >> 2) * 4)
      default: checkValue(rest)
      }
    }
  }

  private static func check(_ data: AdvertisingData, of octets: [UInt8]) {
    guard let encoded = try? data.encode() else { return invariant(false, "what was read cannot be written") }
    invariant(octets.starts(with: encoded), "read \(octets), wrote \(encoded)")
    invariant(AdvertisingData(parsing: encoded) == AdvertisingData(data.structures), "read twice, and it differs")
    invariant(data.encodedLength == encoded.count, "\(data.encodedLength) is not \(encoded.count)")
    invariant(data.malformedCount <= 1 && data.structures.count <= octets.count, "structures out of nothing")
    checkFields(data)
  }

  /// A field that was read and is written again must be read as the same.
  private static func checkFields(_ data: AdvertisingData) {
    func same<Field: Equatable>(
      _ field: KeyPath<AdvertisingData, Field?>, _ write: (Field) -> AdvertisingData.Structure
    ) {
      guard let value = data[keyPath: field] else { return }
      let again = AdvertisingData([write(value)])[keyPath: field]
      invariant(again == value, "\(value) became \(again.map { "\($0)" } ?? "nothing")")
    }
    same(\.flags) { .flags($0) }
    same(\.localName) { .localName($0) }
    same(\.appearance) { .appearance($0) }
    same(\.uri) { .uri($0) }
    let name = data.localName
    invariant(name?.contains("\0") != true && name?.isEmpty != true, "a name with NUL or without anything")
    invariant(Set(data.serviceUUIDs).count == data.serviceUUIDs.count, "a service twice")
    _ = (data.txPowerLevel, data.manufacturerData.map(\.companyName))
  }

  private static func checkPacking(_ wish: AdvertisingData, capacity: Int) {
    let content = AdvertisingContent(
      flags: wish.flags, name: wish.localName, serviceUUIDs: wish.serviceUUIDs,
      solicitedServiceUUIDs: wish.solicitedServiceUUIDs, serviceData: wish.serviceData,
      manufacturerData: wish.manufacturerData.first, appearance: wish.appearance, txPowerLevel: wish.txPowerLevel)
    guard let packed = try? content.packed(capacity: capacity) else { return }
    invariant(packed.data.count <= capacity && packed.scanResponse.count <= 31, "packed beyond what there is room for")
    let said = AdvertisingData(parsing: packed.data).merged(with: AdvertisingData(parsing: packed.scanResponse))
    invariant(said.malformedCount == 0, "packed what cannot be read")
    invariant(Set(said.serviceUUIDs) == Set(wish.serviceUUIDs), "other services")
    invariant(Set(said.serviceData) == Set(wish.serviceData), "other service data")
    invariant(said.serviceData.count == wish.serviceData.count, "service data lost")
    invariant(said.manufacturerData.first == wish.manufacturerData.first, "other data of the maker")
    invariant(said.appearance == wish.appearance && said.flags == wish.flags, "another thing")
    if packed.shortenedName == nil { invariant(said.localName == wish.localName, "another name") }
  }

  /// Values that people are shown, and the texts they type.
  private static func checkValue(_ octets: [UInt8]) {
    var input = FuzzInput(octets)
    let uuid = BluetoothUUID(input.word())
    let value = input.remainder()
    _ = (uuid.assignedName, AssignedValue.text(for: uuid, value: value), AssignedValue.printableText(value))
    _ = PresentationFormat(value)?.description
    let text = String(decoding: value, as: UTF8.self)
    if let uuid = BluetoothUUID(text) {
      invariant(BluetoothUUID(uuid.description) == uuid, "\(uuid) is not read as itself")
      invariant(BluetoothUUID(littleEndian: uuid.attOctets) == uuid, "\(uuid) does not come back from ATT")
    }
    if let octets = Hex.decode(text) { invariant(Hex.encode(octets) == text.lowercased(), "\(text) is \(octets)") }
    if let address = DeviceAddress(text, kind: .random) {
      invariant(DeviceAddress(address.description, kind: .random) == address, "\(address) is not read as itself")
    }
  }
}
