import Bluetooth

/// The functions of LE legacy pairing (Core 5.4, Vol 3, Part H, 2.2.3 and 2.2.4).
public enum LegacyPairing {
  /// The confirm value generation function c1.
  /// - Parameters:
  ///   - k: the temporary key (TK).
  ///   - r: the random number.
  ///   - request: the Pairing Request packet in wire order, 7 octets.
  ///   - response: the Pairing Response packet in wire order, 7 octets.
  ///   - initiator: the address of the device that is central.
  ///   - responder: the address of the device that is peripheral.
  /// - Returns: nil unless both packets have 7 octets.
  public static func c1(
    k: Key128, r: Key128, request: [UInt8], response: [UInt8], initiator: DeviceAddress, responder: DeviceAddress
  ) -> Key128? {
    let types = [responder.kind.rawValue, initiator.kind.rawValue]
    let addresses = Array(repeating: UInt8(0), count: 4) + initiator.bigEndian + responder.bigEndian
    guard let p1 = Key128(bigEndian: response.reversed() + request.reversed() + types),
      let p2 = Key128(bigEndian: addresses)
    else { return nil }
    return AES128.encrypt(AES128.encrypt(r ^ p1, key: k) ^ p2, key: k)
  }

  /// The key generation function s1, which makes the short term key.
  /// - Parameters:
  ///   - k: the temporary key (TK).
  ///   - r1: the responder's random number.
  ///   - r2: the initiator's random number.
  public static func s1(k: Key128, r1: Key128, r2: Key128) -> Key128 {
    AES128.encrypt(Key128(trusted: Array(r1.bigEndian.suffix(8) + r2.bigEndian.suffix(8))), key: k)
  }
}

extension DeviceAddress {
  /// The six octets, most significant first.
  var bigEndian: [UInt8] { littleEndian.reversed() }

  /// The type and the address, as f5 and f6 take them.
  var typed: [UInt8] { [kind.rawValue] + bigEndian }
}
