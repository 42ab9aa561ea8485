import BledRPC

/// The secret from which this machine's identity resolving keys are made. It is made once and kept in the store:
/// devices that are paired know this machine by the keys.
enum PrivacyRoot {
  /// The document `privacy` of the store.
  private struct Record: Codable, Hashable, Sendable {
    let root: HexBytes
  }

  /// The secret, 16 octets.
  static func load(from store: Store) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var root = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let document = store.document("privacy", version: 1) { Record(root: HexBytes(root)) }
    if let kept = document.load()?.root.octets, kept.count == 16 {
      root = kept
    } else {
      document.changed()
    }
    return root
  }
}
