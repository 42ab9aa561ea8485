import Bluetooth

/// The functions of LE Secure Connections pairing (Core 5.4, Vol 3, Part H, 2.2.6 to 2.2.9).
public enum SecureConnections {
  /// The confirm value generation function f4.
  /// - Parameters:
  ///   - u: the X coordinate of the sender's public key, 32 octets, most significant first.
  ///   - v: the X coordinate of the receiver's public key, likewise.
  ///   - x: the random number.
  ///   - z: 0, or 0x80 with the bit of the passkey.
  public static func f4(u: [UInt8], v: [UInt8], x: Key128, z: UInt8) -> Key128 { AES128.cmac(u + v + [z], key: x) }

  /// The key generation function f5.
  /// - Parameters:
  ///   - w: the shared secret, 32 octets, most significant first.
  ///   - n1: the initiator's random number.
  ///   - n2: the responder's random number.
  /// - Returns: the key for f6 and the long term key.
  public static func f5(
    w: [UInt8], n1: Key128, n2: Key128, initiator: DeviceAddress, responder: DeviceAddress
  ) -> (macKey: Key128, ltk: Key128) {
    let t = AES128.cmac(w, key: salt)
    func key(_ counter: UInt8) -> Key128 {
      let names = [counter] + "btle".utf8 + n1.bigEndian + n2.bigEndian
      return AES128.cmac(names + initiator.typed + responder.typed + [0x01, 0x00], key: t)
    }
    return (key(0), key(1))
  }

  /// The check value generation function f6.
  /// - Parameters:
  ///   - w: the key that f5 made.
  ///   - n1: the sender's random number.
  ///   - n2: the receiver's random number.
  ///   - r: the passkey, 0 in the other methods.
  ///   - ioCapability: authentication requirements, out of band flag and I/O capability of the sender, in this order.
  public static func f6(
    w: Key128, n1: Key128, n2: Key128, r: Key128, ioCapability: [UInt8], sender: DeviceAddress, receiver: DeviceAddress
  ) -> Key128 {
    let numbers = n1.bigEndian + n2.bigEndian + r.bigEndian
    return AES128.cmac(numbers + ioCapability + sender.typed + receiver.typed, key: w)
  }

  /// The numeric comparison function g2.
  /// - Parameters:
  ///   - u: the X coordinate of the initiator's public key, 32 octets, most significant first.
  ///   - v: the X coordinate of the responder's public key, likewise.
  ///   - x: the initiator's random number.
  ///   - y: the responder's random number.
  /// - Returns: 32 bits; the last six of their decimal digits are shown to the user.
  public static func g2(u: [UInt8], v: [UInt8], x: Key128, y: Key128) -> UInt32 {
    AES128.cmac(u + v + y.bigEndian, key: x).bigEndian.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// SALT of f5.
  private static let salt = Key128(trusted: [
    0x6C, 0x88, 0x83, 0x91, 0xAA, 0xF5, 0xA5, 0x38, 0x60, 0x37, 0x0B, 0xDB, 0x5A, 0x60, 0x83, 0xBE,
  ])
}
