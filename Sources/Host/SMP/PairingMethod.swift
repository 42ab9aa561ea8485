import Adapter
import Bluetooth

/// How two sides make sure of each other (Core 5.4, Vol 3, Part H, 2.3.5.1).
enum PairingMethod: Hashable, Sendable {
  /// Not at all.
  case justWorks
  /// Persons compare two numbers.
  case numericComparison
  /// A passkey is shown at this side, and typed at the other one.
  case passkey(shownBy: LinkRole)
  /// A passkey is typed at both sides.
  case typedPasskey
  /// By data that did not go over the air.
  case outOfBand

  /// The method that follows from the features of both sides: tables 2.6 to 2.8.
  /// - Parameters:
  ///   - request: the features of the initiator, which is central.
  ///   - response: the features of the responder.
  init(_ request: PairingFeatures, _ response: PairingFeatures) {
    let isSecure =
      request.requirements.isSuperset(of: .secureConnections)
      && response.requirements.isSuperset(of: .secureConnections)
    let (first, second) = (request.capability, response.capability)
    let sidesWithData = [request, response].count(where: \.hasOutOfBandData)
    if sidesWithData >= (isSecure ? 1 : 2) {
      self = .outOfBand
    } else if request.requirements.union(response.requirements).isDisjoint(with: .mitm) {
      self = .justWorks
    } else if isSecure && first.compares && second.compares {
      self = .numericComparison
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

  /// Whether a passkey is typed at the side with this role.
  func isTyped(by role: LinkRole) -> Bool {
    switch self {
    case .passkey(let shows): shows != role
    case .typedPasskey: true
    case .justWorks, .numericComparison, .outOfBand: false
    }
  }
}

extension PairingCapability {
  fileprivate var shows: Bool { [.display, .displayYesNo, .keyboardDisplay].contains(self) }
  fileprivate var types: Bool { [.keyboard, .keyboardDisplay].contains(self) }
  fileprivate var compares: Bool { [.displayYesNo, .keyboardDisplay].contains(self) }
}
