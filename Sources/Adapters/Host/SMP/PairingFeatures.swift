import Bluetooth

/// The features announced by a side at the beginning of a pairing (Core 5.4, Vol 3, Part H, 3.5.1).
package struct PairingFeatures: Hashable, Sendable {
  /// The person's means.
  var capability: PairingCapability
  /// True if it has out-of-band data from the other side.
  var hasOutOfBandData: Bool
  /// The protection it requires and supports.
  var requirements: AuthenticationRequirements
  /// The longest key supported, in octets; 7 to 16 in a valid packet.
  var maximumKeySize: UInt8
  /// The keys sent by the initiator.
  var initiatorKeys: KeyDistribution
  /// The keys sent by the responder.
  var responderKeys: KeyDistribution

  init(
    capability: PairingCapability, hasOutOfBandData: Bool, requirements: AuthenticationRequirements,
    maximumKeySize: UInt8, initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
  ) {
    self.capability = capability
    self.hasOutOfBandData = hasOutOfBandData
    self.requirements = requirements
    self.maximumKeySize = maximumKeySize
    self.initiatorKeys = initiatorKeys
    self.responderKeys = responderKeys
  }

  /// Reads the octets behind the code; nil if a value is reserved.
  init?(_ reader: inout OctetReader) {
    guard let code = reader.uint8(), let capability = PairingCapability(smp: code), let outOfBand = reader.uint8(),
      outOfBand <= 1, let requirements = reader.uint8(), let size = reader.uint8(), size <= 16,
      let initiator = reader.uint8(), let responder = reader.uint8()
    else { return nil }
    self.init(
      capability: capability, hasOutOfBandData: outOfBand == 1,
      requirements: AuthenticationRequirements(rawValue: requirements), maximumKeySize: size,
      initiatorKeys: KeyDistribution(rawValue: initiator), responderKeys: KeyDistribution(rawValue: responder))
  }

  /// The octets behind the code.
  var encoded: [UInt8] {
    [
      capability.smp, hasOutOfBandData ? 1 : 0, requirements.rawValue, maximumKeySize, initiatorKeys.rawValue,
      responderKeys.rawValue,
    ]
  }

  /// The octets in the check values of LE Secure Connections, most significant first (2.2.8).
  var checked: [UInt8] { [requirements.rawValue, hasOutOfBandData ? 1 : 0, capability.smp] }
}

/// A side's requirements (3.5.1, AuthReq). Reserved bits are kept, as check values contain them.
package struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let bonding = AuthenticationRequirements(rawValue: 0x01)
  /// Protection against a person in the middle.
  static let mitm = AuthenticationRequirements(rawValue: 0x04)
  static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
  static let keypress = AuthenticationRequirements(rawValue: 0x10)

  /// True if keys are kept; the other values of the two bits are reserved.
  var bonds: Bool { rawValue & 0x03 == Self.bonding.rawValue }
}

/// Keys for distribution (3.6.1). Reserved bits are kept, as check values contain them.
package struct KeyDistribution: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let encryption = KeyDistribution(rawValue: 0x01)
  static let identity = KeyDistribution(rawValue: 0x02)
  static let signing = KeyDistribution(rawValue: 0x04)
  /// A key for BR/EDR, derived from the LE key. Never requested.
  static let link = KeyDistribution(rawValue: 0x08)
}

extension PairingCapability {
  /// The capability with this value (3.5.1, table 3.4); nil for reserved ones.
  fileprivate init?(smp value: UInt8) {
    guard let capability = Self.allCases.first(where: { $0.smp == value }) else { return nil }
    self = capability
  }

  fileprivate var smp: UInt8 {
    switch self {
    case .display: 0
    case .displayYesNo: 1
    case .keyboard: 2
    case .none: 3
    case .keyboardDisplay: 4
    }
  }
}
