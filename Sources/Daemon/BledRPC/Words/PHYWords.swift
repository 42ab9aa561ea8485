import Bluetooth

/// A PHY on which advertisements begin (Core 5.4, Vol 6, Part B, 2.3).
public enum PrimaryPHY: String, Vocabulary {
  /// 1 Mb/s.
  case le1M = "1M"
  /// 125 or 500 kb/s.
  case leCoded = "coded"

  /// The PHY itself.
  public var phy: PHY {
    switch self {
    case .le1M: .le1M
    case .leCoded: .leCoded
    }
  }

  /// A PHY, if advertisements can begin on it.
  public init?(_ phy: PHY) {
    switch phy {
    case .le1M: self = .le1M
    case .leCoded: self = .leCoded
    case .le2M: return nil
    }
  }
}

/// A PHY to send on, with or without a preference for a coding.
public enum PHYChoice: String, Vocabulary {
  /// 1 Mb/s.
  case le1M = "1M"
  /// 2 Mb/s.
  case le2M = "2M"
  /// 125 or 500 kb/s, as the controller likes.
  case leCoded = "coded"
  /// The coded PHY with 500 kb/s.
  case leCodedS2 = "codedS2"
  /// The coded PHY with 125 kb/s.
  case leCodedS8 = "codedS8"
}

/// A PHY on which advertisements begin, with or without a preference for a coding.
public enum PrimaryPHYChoice: String, Vocabulary {
  /// 1 Mb/s.
  case le1M = "1M"
  /// 125 or 500 kb/s, as the controller likes.
  case leCoded = "coded"
  /// The coded PHY with 500 kb/s.
  case leCodedS2 = "codedS2"
  /// The coded PHY with 125 kb/s.
  case leCodedS8 = "codedS8"

  /// The equivalent among all PHYs.
  public var choice: PHYChoice {
    switch self {
    case .le1M: .le1M
    case .leCoded: .leCoded
    case .leCodedS2: .leCodedS2
    case .leCodedS8: .leCodedS8
    }
  }
}
