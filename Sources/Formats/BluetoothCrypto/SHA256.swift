import CNettle

/// The hash function SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// - Returns: 32 octets.
  public static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
    let message = Array(message)
    var context = sha256_ctx()
    var octets = [UInt8](repeating: 0, count: 32)
    nettle_sha256_init(&context)
    nettle_sha256_update(&context, message.count, message)
    cnettle_sha256_digest(&context, &octets)
    return octets
  }
}

/// A SHA-256 hash of octets in pieces, for example a file's.
public struct SHA256Stream {
  private var context = sha256_ctx()

  /// Begins with no octets.
  public init() { nettle_sha256_init(&context) }

  /// Adds the next octets.
  public mutating func update(_ octets: [UInt8]) { nettle_sha256_update(&context, octets.count, octets) }

  /// - Returns: the hash of all octets so far, 32 octets.
  public func hash() -> [UInt8] {
    var context = context
    var octets = [UInt8](repeating: 0, count: 32)
    cnettle_sha256_digest(&context, &octets)
    return octets
  }
}
