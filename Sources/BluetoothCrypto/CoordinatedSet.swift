/// The functions of coordinated sets (Coordinated Set Identification Service 1.0, 4.3 to 4.8).
public enum CoordinatedSet {
  /// The resolvable set identifier hash function sih, which is `ah` under another name.
  public static func sih(k: Key128, r: UInt32) -> UInt32 { KeyDerivation.ah(k: k, r: r) }

  /// The SIRK encryption function sef, which is its own inverse.
  public static func sef(k: Key128, sirk: Key128) -> Key128 {
    let salt = AES128.cmac("SIRKenc".utf8, key: .zero)
    let t = AES128.cmac(k.bigEndian, key: salt)
    return AES128.cmac("csis".utf8, key: t) ^ sirk
  }
}
