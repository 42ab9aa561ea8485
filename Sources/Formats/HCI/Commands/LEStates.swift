/// An LE controller's compatible activities (Core 5.4, Vol 4, Part E, 7.8.27).
package struct LEStates: OptionSet, PacketField, Hashable, Sendable {
  /// An LE controller's activities beside its links.
  package enum Activity: CaseIterable, Hashable, Sendable {
    /// Initiating a connection.
    case initiating
    /// Advertising with connectable, undirected PDUs.
    case advertisingConnectably
    /// Advertising with PDUs that can be scanned but not connected to.
    case advertisingScannably
    /// Advertising with PDUs that can only be received.
    case advertisingOnly
    case scanningPassively
    case scanningActively
  }

  /// One bit per state or combination of two.
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Everything at once.
  package static let all = LEStates(rawValue: (1 << 42) - 1)

  /// Returns true if two different activities are compatible. Two kinds of advertisements have no bit, and only
  /// controllers with several advertising sets run them at once: they are compatible.
  package func combines(_ one: Activity, _ other: Activity) -> Bool {
    guard let bit = Self.bit(one, other) ?? Self.bit(other, one) else { return !(one.isScan && other.isScan) }
    return contains(bit)
  }

  /// Returns true if an activity is possible beside a link.
  /// - Parameter asCentral: true if we are the link's central.
  package func allows(_ activity: Activity, besideLinkAsCentral asCentral: Bool) -> Bool {
    let (central, peripheral) =
      switch activity {
      case .initiating: (28, 41)
      case .advertisingConnectably: (35, 38)
      case .advertisingScannably: (19, 21)
      case .advertisingOnly: (18, 20)
      case .scanningPassively: (24, 26)
      case .scanningActively: (25, 27)
      }
    return contains(LEStates(rawValue: 1 << (asCentral ? central : peripheral)))
  }

  /// The states without a combination of two activities; all scans count as one.
  package func without(_ one: Activity, beside other: Activity) -> LEStates {
    func kinds(_ activity: Activity) -> [Activity] { activity.isScan ? Activity.allCases.filter(\.isScan) : [activity] }
    var states = self
    for one in kinds(one) {
      for other in kinds(other) {
        if let bit = Self.bit(one, other) ?? Self.bit(other, one) { states.remove(bit) }
      }
    }
    return states
  }

  private static func bit(_ one: Activity, _ other: Activity) -> LEStates? {
    let number: Int? =
      switch (one, other) {
      case (.advertisingOnly, .scanningPassively): 8
      case (.advertisingScannably, .scanningPassively): 9
      case (.advertisingConnectably, .scanningPassively): 10
      case (.advertisingOnly, .scanningActively): 12
      case (.advertisingScannably, .scanningActively): 13
      case (.advertisingConnectably, .scanningActively): 14
      case (.advertisingOnly, .initiating): 16
      case (.advertisingScannably, .initiating): 17
      case (.scanningPassively, .initiating): 22
      case (.scanningActively, .initiating): 23
      case (.advertisingConnectably, .initiating): 32
      default: nil
      }
    return number.map { LEStates(rawValue: 1 << $0) }
  }
}

extension LEStates.Activity {
  package var isScan: Bool { self == .scanningPassively || self == .scanningActively }
}
