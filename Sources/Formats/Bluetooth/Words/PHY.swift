/// A physical layer of Bluetooth LE (Core 5.4, Vol 6, Part B, 1.1.1); its raw value is HCI's number.
public enum PHY: UInt8, Vocabulary {
  /// 1 Mb/s, supported by every device.
  case le1M = 1
  /// 2 Mb/s; never an advertisement's primary PHY.
  case le2M = 2
  /// 125 or 500 kb/s, for a longer range.
  case leCoded = 3

  /// "1M", "2M" or "coded".
  public var word: String {
    switch self {
    case .le1M: "1M"
    case .le2M: "2M"
    case .leCoded: "coded"
    }
  }

  /// The PHY with this spelling.
  public init?(word: String) {
    guard let known = Self.allCases.first(where: { $0.word.hasSameOctets(as: word) }) else { return nil }
    self = known
  }

  /// Reads one of the words.
  public init(from decoder: any Decoder) throws { try self.init(wordFrom: decoder) }

  /// Writes the word.
  public func encode(to encoder: any Encoder) throws { try Word(self).encode(to: encoder) }
}
