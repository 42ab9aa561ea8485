import Bluetooth

/// The way to a more secure link, of every adapter.
///
/// | Keys of the bond | Request        | Way                               |
/// |------------------|----------------|-----------------------------------|
/// | none             | any            | `pair`                            |
/// | reach the level  | any            | `encrypt` with them               |
/// | weaker           | `replacesBond` | `pair`: the new keys replace them |
/// | weaker           | any other      | `refuse`                          |
public enum SecurityRaise: Hashable, Sendable {
  /// Encrypt the link with the keys of the bond.
  case encrypt
  /// Pair.
  case pair
  /// The request fails.
  case refuse(BluetoothError)

  /// Chooses the way.
  /// - Parameters:
  ///   - level: the requested level, 2 to 4.
  ///   - keyLevel: the level of a link with the keys of the bond; nil without such keys.
  ///   - replacesBond: true if the request may replace a weaker bond.
  ///   - peer: the device.
  public init(to level: Int, keyLevel: Int?, replacesBond: Bool, peer: DeviceAddress) {
    switch keyLevel {
    case let keyLevel? where keyLevel >= level: self = .encrypt
    case _? where !replacesBond:
      let words = "the keys shared with \(peer) do not reach this level: pair again at this level"
      self = .refuse(GAPError.pairingFailed.error(words))
    case _: self = .pair
    }
  }
}

extension Bond {
  /// The security level by its key for links with this role of ours, 2 to 4; nil without such a key.
  public func level(as role: LinkRole) -> Int? {
    longTermKeys.first { $0.isSecureConnections || $0.role == role }?.level
  }

  /// True if a link in this role of ours reaches this level with its keys.
  public func reaches(_ level: Int, as role: LinkRole) -> Bool { self.level(as: role) ?? 1 >= level }
}
