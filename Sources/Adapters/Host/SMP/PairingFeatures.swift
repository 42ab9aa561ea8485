import Bluetooth

/// The features that a side announces at the beginning of a pairing (Core 5.4, Vol 3, Part H, 3.5.1).
package struct PairingFeatures: Hashable, Sendable {
  /// The means of the person.
  var capability: PairingCapability
  /// Whether it has data of the other side that came by another way than the air.
  var hasOutOfBandData: Bool
  /// The protection that it wants and supports.
  var requirements: AuthenticationRequirements
  /// The longest key that it supports, in octets; 7 to 16 in a packet that makes sense.
  var maximumKeySize: UInt8
  /// The keys that the initiator hands out.
  var initiatorKeys: KeyDistribution
  /// The keys that the responder hands out.
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

  /// The octets that the check values of LE Secure Connections are made of, most significant first (2.2.8).
  var checked: [UInt8] { [requirements.rawValue, hasOutOfBandData ? 1 : 0, capability.smp] }
}

/// The requirements of one side (3.5.1, AuthReq). Reserved bits are kept, as check values are made of them.
package struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let bonding = AuthenticationRequirements(rawValue: 0x01)
  /// Protection against a person in the middle.
  static let mitm = AuthenticationRequirements(rawValue: 0x04)
  static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
  static let keypress = AuthenticationRequirements(rawValue: 0x10)

  /// Whether keys are kept; the other values of the two bits are reserved.
  var bonds: Bool { rawValue & 0x03 == Self.bonding.rawValue }
}

/// Keys that are handed out (3.6.1). Reserved bits are kept, as check values are made of them.
package struct KeyDistribution: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let encryption = KeyDistribution(rawValue: 0x01)
  static let identity = KeyDistribution(rawValue: 0x02)
  static let signing = KeyDistribution(rawValue: 0x04)
  /// A key for BR/EDR, made of that for LE. Never wanted.
  static let link = KeyDistribution(rawValue: 0x08)
}

extension PairingCapability {
  /// The capability of this value (3.5.1, table 3.4); nil for reserved ones.
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
