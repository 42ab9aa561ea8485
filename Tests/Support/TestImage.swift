import BluetoothCrypto

/// Images for MCUboot, as imgtool makes them.
public enum TestImage {
  /// - Parameters:
  ///   - body: The octets of the program.
  ///   - protected: Whether a part of the trailer is protected.
  ///   - signed: Whether there is something in the place of a signature.
  ///   - encrypted: Whether the program is encrypted, after it was hashed.
  ///   - hash: The type of a hash, with its octets: SHA-256 if there is none.
  public static func octets(
    version: (UInt8, UInt8, UInt16, UInt32), body: Int, protected: Bool = false, signed: Bool = false,
    encrypted: Bool = false, hash: (type: UInt32, octets: [UInt8])? = nil
  ) -> [UInt8] {
    func little(_ number: UInt32, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
    let extra = protected ? little(0x6908, 2) + little(12, 2) + little(0x50, 2) + little(4, 2) + [1, 0, 0, 0] : []
    var octets = little(0x96F3_B83D, 4) + little(0, 4) + little(32, 2) + little(UInt32(extra.count), 2)
    octets += little(UInt32(body), 4) + little(encrypted ? 4 : 0, 4) + [version.0, version.1]
    octets += little(UInt32(version.2), 2) + little(version.3, 4) + little(0, 4)
    octets += (0..<body).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    octets += extra
    let signature = signed ? little(0x22, 2) + little(8, 2) + [1, 2, 3, 4, 5, 6, 7, 8] : []
    let hash = hash ?? (0x10, SHA256.hash(octets))
    if encrypted { for place in 32..<(32 + body) { octets[place] ^= 0x5A } }
    let entry = little(hash.type, 2) + little(UInt32(hash.octets.count), 2) + hash.octets
    let entries = entry + signature
    return octets + little(0x6907, 2) + little(UInt32(4 + entries.count), 2) + entries
  }
}
