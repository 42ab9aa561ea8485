import Adapter
import Bluetooth

/// The features that a side announces before it pairs (Core 5.4, Vol 3, Part H, 3.5.1).
struct PairingFeatures: Hashable, Sendable {
  /// The means of a person there.
  var capability: PairingCapability
  /// Whether it has LE Secure Connections; otherwise the pairing is legacy.
  var hasSecureConnections = true
  /// Whether it keeps keys.
  var bonds = true
  /// Whether it wants protection against a person in the middle.
  var wantsAuthentication: Bool
  /// The largest key it supports, 7 to 16 octets.
  var keySize = 16
}

/// How two sides make sure of each other (Core 5.4, Vol 3, Part H, 2.3.5.1).
enum PairingMethod: Hashable, Sendable {
  /// Not at all.
  case justWorks
  /// Persons compare two numbers.
  case comparison
  /// This side shows a passkey, which is typed at the other one.
  case passkey(shownBy: LinkRole)
  /// The same passkey is typed at both.
  case typedPasskey

  /// The method that follows from the capabilities of both sides: table 2.8, and before it the condition of table 2.7.
  /// The central is the initiator.
  init(central: PairingFeatures, peripheral: PairingFeatures) {
    let isSecureConnections = central.hasSecureConnections && peripheral.hasSecureConnections
    let (first, second) = (central.capability, peripheral.capability)
    if !central.wantsAuthentication && !peripheral.wantsAuthentication {
      self = .justWorks
    } else if isSecureConnections && first.compares && second.compares {
      self = .comparison
    } else if first.shows && second.types {
      self = .passkey(shownBy: .central)
    } else if second.shows && first.types {
      self = .passkey(shownBy: .peripheral)
    } else if first.types && second.types {
      self = .typedPasskey
    } else {
      self = .justWorks
    }
  }

  /// Whether it protects against a person in the middle.
  var isAuthenticated: Bool { self != .justWorks }
}

extension PairingCapability {
  fileprivate var shows: Bool { [.display, .displayYesNo, .keyboardDisplay].contains(self) }
  fileprivate var types: Bool { [.keyboard, .keyboardDisplay].contains(self) }
  fileprivate var compares: Bool { [.displayYesNo, .keyboardDisplay].contains(self) }
}
