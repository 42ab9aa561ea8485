import Adapter
import Bluetooth
import GATT
import JSONFiles
import ScenarioRules

/// The pairing description of a device or a phone.
package struct PairingDescription: ReadableFromFile, Sendable {
  /// The answer of its user to questions.
  package enum Answer: String, CaseIterable, Sendable { case accept, refuse, never }

  /// The input and output capability.
  package var capability: PairingCapability
  package var hasSecureConnections: Bool
  /// True if it keeps keys.
  package var bonds: Bool
  /// The largest key, in octets.
  package var keySize: Int
  /// The passkey that is shown, or typed regardless of the other side's.
  package var passkey: UInt32?
  package var answer: Answer
  /// The time that the user takes to answer.
  package var answerDelay: TimeSpan
  /// True if it keeps no key beyond the link, although it announces bonding.
  package var losesKeys: Bool
  /// True if it sends a Security Request as soon as it is connected.
  package var requestsSecurity: Bool

  /// The passkey of a device for which the scenario gives none.
  package static let standardPasskey: UInt32 = 123_456

  private enum Keys: String, CaseIterable {
    case capability, secureConnections, bonding, keySize, passkey, answer, answerDelay, losesKeys, securityRequest
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    capability = try members.word(.capability, default: PairingCapability.none)
    hasSecureConnections = try members.value(.secureConnections, default: true)
    bonds = try members.value(.bonding, default: true)
    keySize = try members.integer(.keySize, in: 1...16, default: 16)
    passkey = try members.optional(.passkey) { value throws(FileError) in try value.integer(in: 0...999_999) }
    answer = try members.word(.answer, default: .accept)
    answerDelay = try members.value(.answerDelay, default: TimeSpan(0))
    losesKeys = try members.value(.losesKeys, default: false)
    requestsSecurity = try members.value(.securityRequest, default: false)
  }
}

/// The protection of a characteristic: one level for all, or one for each.
struct SecurityDescription: ReadableFromFile, Hashable, Sendable {
  var read = AccessRequirement.open
  var write = AccessRequirement.open
  var subscribe = AccessRequirement.open

  private enum Level: String, CaseIterable {
    case none, encrypted, authenticated, secureConnections

    var requirement: AccessRequirement {
      switch self {
      case .none: .open
      case .encrypted: .encrypted
      case .authenticated: .authenticated
      case .secureConnections: .secureConnections
      }
    }
  }

  private enum Keys: String, CaseIterable { case read, write, subscribe, keySize }

  init() {}

  init(_ value: FileValue) throws(FileError) {
    if (try? value.text()) != nil {
      let requirement = try value.word(Level.self).requirement
      (read, write, subscribe) = (requirement, requirement, requirement)
      return
    }
    let members = try FileMembers(value, Keys.self)
    let size: UInt8 = try members.integer(.keySize, in: 7...16, default: 7)
    func requirement(_ name: Keys) throws(FileError) -> AccessRequirement {
      var requirement = try members.word(name, default: Level.none).requirement
      requirement.minimumKeySize = size
      return requirement
    }
    read = try requirement(.read)
    write = try requirement(.write)
    subscribe = try requirement(.subscribe)
  }
}
