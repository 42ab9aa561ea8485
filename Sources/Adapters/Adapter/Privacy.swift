/// This machine's private addresses (Core 5.4, Vol 3, Part C, 10.7).
public struct PrivacySettings: Hashable, Sendable {
  /// 16 secret octets, from which each adapter's identity resolving key is derived.
  public var root: [UInt8]
  /// An address's lifetime.
  public var rotation: Duration

  /// Makes settings.
  /// - Parameters:
  ///   - root: 16 octets, the same at every start: paired devices know the keys made from them.
  ///   - rotation: 10 s to 24 h.
  public init(root: [UInt8], rotation: Duration) {
    self.root = root
    self.rotation = rotation
  }
}
