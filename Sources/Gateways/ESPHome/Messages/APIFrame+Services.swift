import BledRPC
import Bluetooth

extension APIFrame {
  /// The first version of the API, 1.12, with UUIDs of one number.
  private static let shortUUIDs: UInt32 = 12

  /// A service of a device.
  /// - Parameter minor: of the version 1.minor that the client speaks.
  static func service(_ address: UInt64, _ service: ServiceDescription, minor: UInt32) -> APIFrame {
    var writer = ProtobufWriter()
    writer.number(1, address)
    writer.message(2) { writer in
      let short = uuid(service.uuid, minor, &writer)
      writer.number(2, UInt32(service.handle))
      for characteristic in service.characteristics ?? [] {
        writer.message(3) { Self.characteristic(characteristic, minor, &$0) }
      }
      writer.number(4, short)
    }
    return APIFrame(type: 71, payload: writer.octets)
  }

  private static func characteristic(
    _ characteristic: CharacteristicDescription, _ minor: UInt32, _ writer: inout ProtobufWriter
  ) {
    let short = uuid(characteristic.uuid, minor, &writer)
    writer.number(2, UInt32(characteristic.handle))
    writer.number(3, properties(characteristic.properties))
    for descriptor in characteristic.descriptors ?? [] {
      writer.message(4) { writer in
        let short = uuid(descriptor.uuid, minor, &writer)
        writer.number(2, UInt32(descriptor.handle))
        writer.number(3, short)
      }
    }
    writer.number(5, short)
  }

  /// Writes the 128-bit form, unless the client understands the short one.
  /// - Returns: the short form for a later field, else 0.
  private static func uuid(_ uuid: BluetoothUUID, _ minor: UInt32, _ writer: inout ProtobufWriter) -> UInt32 {
    if let short = uuid.short32, minor >= shortUUIDs { return short }
    writer.numbers(1, [uuid.high, uuid.low])
    return 0
  }

  /// The bits of Core 5.4, Vol 3, Part G, 3.3.1.1.
  private static func properties(_ words: [Word<CharacteristicProperty>]) -> UInt32 {
    let order: [CharacteristicProperty] = [
      .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .signedWrite, .extendedProperties,
    ]
    return words.compactMap(\.known).reduce(0) { bits, property in
      order.firstIndex(of: property).map { bits | 1 << UInt32($0) } ?? bits
    }
  }
}
