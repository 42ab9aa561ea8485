/// Signatures of Signed Write Commands (Core 5.4, Vol 3, Part H, 2.4.5, and Part F, 3.3.1).
public enum ATTSignature {
  /// A signature's octets: 4 for the counter and 8 for the code.
  public static let length = 12

  /// Signs a packet.
  /// - Parameters:
  ///   - packet: opcode, handle and value in wire order, without the signature.
  ///   - counter: a number never used with this key before.
  ///   - key: the sender's connection signature resolving key (CSRK).
  /// - Returns: the 12 octets to put behind the packet, in wire order.
  public static func sign(_ packet: some Collection<UInt8>, counter: UInt32, key: Key128) -> [UInt8] {
    let count = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
    let code = AES128.cmac((Array(packet) + count).reversed(), key: key)
    return count + code.bigEndian.prefix(8).reversed()
  }

  /// Checks a signed packet.
  /// - Parameters:
  ///   - packet: the whole packet as received.
  ///   - key: the sender's key (CSRK).
  /// - Returns: the signature's counter, which must be larger than any seen before; nil if the signature is wrong or
  ///   missing.
  public static func verify(_ packet: [UInt8], key: Key128) -> UInt32? {
    guard packet.count > length else { return nil }
    let signature = packet.suffix(length)
    let counter = signature.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let expected = sign(packet.dropLast(length), counter: counter, key: key)
    // All octets are compared, so the time does not reveal the number of matches.
    let difference = zip(signature, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    return difference == 0 ? counter : nil
  }
}

/// The hash over a GATT database that shows clients its changes (Core 5.4, Vol 3, Part G, 7.3).
public enum DatabaseHash {
  /// Hashes the attribute list laid out by section 7.3.1.
  /// - Returns: 16 octets in the order AES-CMAC gives them.
  public static func code(of message: [UInt8]) -> [UInt8] { AES128.cmac(message, key: .zero).bigEndian }
}
