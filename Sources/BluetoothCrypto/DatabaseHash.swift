/// The hash over a GATT database by which clients see that it has changed (Core 5.4, Vol 3, Part G, 7.3).
public enum DatabaseHash {
  /// Hashes the attribute list that section 7.3.1 lays out.
  /// - Returns: 16 octets in the order AES-CMAC gives them.
  public static func code(of message: [UInt8]) -> [UInt8] { AES128.cmac(message, key: .zero).bigEndian }
}
