/// BTHome version 2 (bthome.io, Format and Encryption): service data of FCD2.
///
/// | Octets | What                                                                                         |
/// |--------|----------------------------------------------------------------------------------------------|
/// | 1      | bit 0: encrypted; bit 1: the address follows; bits 5 to 7: the version                       |
/// | 6      | its address, least significant octet first, if bit 1 is set                                  |
/// | any    | objects in the order of their identifiers (`BTHome.add(objects:)`), perhaps encrypted        |
/// | 4      | a counter, if they are encrypted                                                             |
/// | 4      | the check of AES-CCM, if they are encrypted                                                  |
public enum BTHome {
  static let service: BluetoothUUID = 0xFCD2

  /// What a device sends encrypted: AES-CCM with a check of 4 octets and no associated data.
  public struct Sealed: Hashable, Sendable {
    /// The address of the device, by which its key is found.
    public let address: DeviceAddress
    /// The nonce, 13 octets.
    public let nonce: [UInt8]
    /// The objects, encrypted.
    public let payload: [UInt8]
    /// The check, 4 octets.
    public let check: [UInt8]
  }

  /// What became of it.
  public enum Opened: Hashable, Sendable {
    /// There is no key for the device.
    case keyIsMissing
    /// It was not encrypted with the key that there is.
    case keyIsWrong
    /// The objects.
    case objects([UInt8])
  }

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
    switch source.open(Sealed(address: address, nonce: nonce, payload: payload, check: check)) {
    case .keyIsMissing: decoded.add("key", .text("missing"))
    case .keyIsWrong: decoded.add("key", .text("wrong"))
    case .objects(let objects):
      var reader = OctetReader(objects)
      decoded.add(objects: &reader)
    }
    return decoded
  }
}
