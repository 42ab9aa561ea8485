/// Private addresses of this machine (Core 5.4, Vol 3, Part C, 10.7).
public struct PrivacySettings: Hashable, Sendable {
  /// 16 secret octets, from which the identity resolving key of each adapter is made.
  public var root: [UInt8]
  /// How long one address is used.
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
