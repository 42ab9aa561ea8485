import BluetoothCrypto

/// Images for MCUboot, as imgtool makes them.
public enum TestImage {
  /// - Parameters:
  ///   - body: The octets of the program.
  ///   - protected: Whether a part of the trailer is protected.
  ///   - signed: Whether there is something in the place of a signature.
  public static func octets(
    version: (UInt8, UInt8, UInt16, UInt32), body: Int, protected: Bool = false, signed: Bool = false
  ) -> [UInt8] {
    func little(_ number: UInt32, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
    let extra = protected ? little(0x6908, 2) + little(12, 2) + little(0x50, 2) + little(4, 2) + [1, 0, 0, 0] : []
    var octets = little(0x96F3_B83D, 4) + little(0, 4) + little(32, 2) + little(UInt32(extra.count), 2)
    octets += little(UInt32(body), 4) + little(0, 4) + [version.0, version.1] + little(UInt32(version.2), 2)
    octets += little(version.3, 4) + little(0, 4)
    octets += (0..<body).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    octets += extra
    let signature = signed ? little(0x22, 2) + little(8, 2) + [1, 2, 3, 4, 5, 6, 7, 8] : []
    let hash = little(0x10, 2) + little(32, 2) + SHA256.hash(octets)
    return octets + little(0x6907, 2) + little(UInt32(4 + hash.count + signature.count), 2) + hash + signature
  }
}
