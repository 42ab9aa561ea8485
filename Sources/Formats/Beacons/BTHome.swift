import Bluetooth

/// BTHome version 2 (bthome.io, Format and Encryption): service data of FCD2.
///
/// | Octets | Part                                                                                         |
/// |--------|----------------------------------------------------------------------------------------------|
/// | 1      | bit 0: encrypted; bit 1: the address follows; bits 5 to 7: the version                       |
/// | 6      | its address, least significant octet first, if bit 1 is set                                  |
/// | any    | objects in the order of their identifiers (`BTHome.add(objects:)`), perhaps encrypted        |
/// | 4      | a counter, if they are encrypted                                                             |
/// | 4      | the check of AES-CCM without associated data, if they are encrypted                          |
enum BTHome {
  static let service: BluetoothUUID = 0xFCD2

  static func decode(_ data: [UInt8], _ source: AdvertisingData.Source) -> DecodedData? {
    var reader = OctetReader(data)
    guard let information = reader.uint8(), information >> 5 == 2 else { return nil }
    var decoded = DecodedData(.bthome)
    var address = source.address
    if information & 2 != 0 {
      guard let octets = reader.octets(6) else { return nil }
      address = DeviceAddress(littleEndian: octets, kind: .public)
      decoded.add("address", address.map { .text("\($0)") })
    }
    guard information & 1 != 0 else {
      decoded.add(objects: &reader)
      return decoded
    }
    guard let payload = reader.octets(reader.count - 8), let counter = reader.octets(4), let check = reader.octets(4)
    else { return nil }
    decoded.add("encrypted", true)
    var counterReader = OctetReader(counter)
    decoded.add("counter", counterReader.uint32())
    guard let address else { return decoded }
    let nonce = address.littleEndian.reversed() + service.attOctets + [information] + counter
    let sealed = SealedData(address: address, nonce: nonce, associatedData: [], payload: payload, check: check)
    if let objects = decoded.add(source.open(sealed)) {
      var reader = OctetReader(objects)
      decoded.add(objects: &reader)
    }
    return decoded
  }
}
