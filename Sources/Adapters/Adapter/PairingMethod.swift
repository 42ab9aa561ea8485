import Bluetooth

/// How two sides make sure of each other (Core 5.4, Vol 3, Part H, 2.3.5.1).
package enum PairingMethod: Hashable, Sendable {
  /// Not at all.
  case justWorks
  /// Persons compare two numbers.
  case comparison
  /// A passkey is shown at this side, and typed at the other one.
  case passkey(shownBy: LinkRole)
  /// A passkey is typed at both sides.
  case typedPasskey
  /// By out-of-band data.
  case outOfBand

  /// The method resulting from both sides' capabilities: table 2.8, and before it the last row of tables 2.6 and 2.7.
  /// The central is the initiator.
  /// - Parameters:
  ///   - isWanted: true if a side requires protection against a person in the middle.
  ///   - isSecure: true if both sides support LE Secure Connections; otherwise the pairing is legacy.
  package init(central: PairingCapability, peripheral: PairingCapability, isWanted: Bool, isSecure: Bool) {
    if !isWanted {
      self = .justWorks
    } else if isSecure && central.compares && peripheral.compares {
      self = .comparison
    } else if central.shows && peripheral.types {
      self = .passkey(shownBy: .central)
    } else if peripheral.shows && central.types {
      self = .passkey(shownBy: .peripheral)
    } else if central.types && peripheral.types {
      self = .typedPasskey
    } else {
      self = .justWorks
    }
  }

  /// True if it protects against a person in the middle.
  package var isAuthenticated: Bool { self != .justWorks }
}

extension PairingCapability {
  fileprivate var shows: Bool { [.display, .displayYesNo, .keyboardDisplay].contains(self) }
  fileprivate var types: Bool { [.keyboard, .keyboardDisplay].contains(self) }
  fileprivate var compares: Bool { [.displayYesNo, .keyboardDisplay].contains(self) }
}
