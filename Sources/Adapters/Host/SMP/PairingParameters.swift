import Adapter
import Bluetooth
import BluetoothCrypto

/// A pairing's parameters after the exchange of features (Core 5.4, Vol 3, Part H, 2.3.5.1).
struct PairingParameters: Sendable {
  /// Our role: the central is the initiator.
  let role: LinkRole
  /// The connection's addresses: check values contain these, not identities.
  let local: DeviceAddress
  let peer: DeviceAddress
  let request: PairingFeatures
  let response: PairingFeatures
  let terms: PairingTerms
  let method: PairingMethod
  let isSecureConnections: Bool
  /// The encryption key size, 7 to 16 octets.
  let keySize: Int

  /// - Throws: the reason why the two sides cannot pair on these terms.
  init(
    _ role: LinkRole, local: DeviceAddress, peer: DeviceAddress, request: PairingFeatures, response: PairingFeatures,
    _ terms: PairingTerms
  ) throws(PairingFailureReason) {
    self.role = role
    self.local = local
    self.peer = peer
    self.request = request
    self.response = response
    self.terms = terms.known(by: role == .central ? response : request)
    method = PairingMethod(request, response)
    isSecureConnections = request.requirements.intersection(response.requirements).contains(.secureConnections)
    keySize = Int(min(request.maximumKeySize, response.maximumKeySize))
    let shortest = terms.level >= 4 ? LinkSecurity.longestKey : max(terms.minimumKeySize, 7)
    guard keySize >= shortest else { throw .encryptionKeySize }
    guard terms.level < 4 || isSecureConnections, terms.level < 3 || method.isAuthenticated else {
      throw .authenticationRequirements
    }
    guard hasOutOfBandData, method == .outOfBand || !isForTemporaryKey else { throw .outOfBandNotAvailable }
  }

  /// True if the method's data is complete. A device that claims data we never disclosed knows that its random value
  /// would be zero.
  private var hasOutOfBandData: Bool {
    guard method == .outOfBand else { return true }
    guard isSecureConnections else { return temporaryKey != nil }
    return (!theirs.hasOutOfBandData || terms.ownOutOfBand != nil)
      && (!ours.hasOutOfBandData || terms.outOfBand != nil)
  }

  /// True if this is a legacy pairing only because of the device's temporary key. Without using the key the pairing
  /// would be weaker than one without a key.
  private var isForTemporaryKey: Bool {
    role == .central && terms.hasSecureConnections && terms.prefersTemporaryKey
  }

  /// The temporary key of legacy pairing shared out of band; nil for none. A device has ours only if it announces that,
  /// too late for an initiator.
  var temporaryKey: Key128? {
    terms.temporaryKey ?? (role == .peripheral ? terms.ownOutOfBand?.temporaryKey : nil)
  }

  /// The temporary key that authenticates the pairing; nil if other means do.
  var usedTemporaryKey: Key128? { method == .outOfBand && !isSecureConnections ? temporaryKey : nil }

  var ours: PairingFeatures { role == .central ? request : response }
  var theirs: PairingFeatures { role == .central ? response : request }
  var initiator: DeviceAddress { role == .central ? local : peer }
  var responder: DeviceAddress { role == .central ? peer : local }

  /// True if a person is asked, as there is no other sign that the pairing is wanted here.
  var asksConsent: Bool { method == .justWorks && !terms.isOwn }

  /// True if both sides keep keys.
  var bonds: Bool { request.requirements.bonds && response.requirements.bonds }

  /// True if Keypress Notifications are exchanged (3.5.8).
  var hasKeypress: Bool {
    guard request.requirements.intersection(response.requirements).contains(.keypress) else { return false }
    return method.isTyped(by: .central) || method.isTyped(by: .peripheral)
  }

  /// The keys sent by a side: those requested by both, with LE Secure Connections none for encryption (2.4.3). A
  /// responder must not request keys the initiator has not offered (3.6.1), but some chips request all they know, and
  /// other hosts ignore the rest.
  func keys(of role: LinkRole) -> KeyDistribution {
    let keys =
      role == .central
      ? request.initiatorKeys.intersection(response.initiatorKeys)
      : request.responderKeys.intersection(response.responderKeys)
    return keys.intersection(isSecureConnections ? [.identity, .signing] : [.encryption, .identity, .signing])
  }

  /// A link's protection by this pairing's keys.
  var security: LinkSecurity {
    LinkSecurity(
      isAuthenticated: method.isAuthenticated, isSecureConnections: isSecureConnections, keySize: keySize)
  }
}

extension PairingFeatures {
  /// The features for a Pairing Request.
  init(requesting terms: PairingTerms) {
    let isSecure = terms.hasSecureConnections && !terms.prefersTemporaryKey
    let requirements = AuthenticationRequirements(
      requesting: terms.level, terms.capability, bonds: terms.bonds, isSecure: isSecure)
    self.init(
      terms, requirements, hasOutOfBandData: isSecure ? terms.outOfBand != nil : terms.temporaryKey != nil,
      initiatorKeys: terms.ownKeys, responderKeys: .wanted)
  }

  /// The features for a Pairing Response.
  init(responding terms: PairingTerms, to request: PairingFeatures) {
    let isWanted = request.requirements.contains(.mitm) && terms.capability != .none
    // The flag of a device with LE Secure Connections concerns our data, which it cannot have unless we disclosed it.
    let prefersKey = terms.prefersTemporaryKey && terms.ownOutOfBand == nil && request.hasOutOfBandData
    let supportsSecure = terms.hasSecureConnections && !prefersKey
    let isSecure = supportsSecure && request.requirements.contains(.secureConnections)
    let hasKey = terms.temporaryKey != nil || terms.ownOutOfBand != nil && request.hasOutOfBandData
    let most: KeyDistribution = isSecure ? [.identity, .signing] : [.encryption, .identity, .signing]
    let requirements = AuthenticationRequirements(
      terms.capability, isProtected: isWanted || terms.level >= 3, bonds: terms.bonds && request.requirements.bonds,
      isSecure: supportsSecure)
    self.init(
      terms, requirements, hasOutOfBandData: isSecure ? terms.outOfBand != nil : hasKey,
      initiatorKeys: request.initiatorKeys.intersection(.wanted).intersection(most),
      responderKeys: request.responderKeys.intersection(terms.ownKeys).intersection(most))
  }

  private init(
    _ terms: PairingTerms, _ requirements: AuthenticationRequirements, hasOutOfBandData: Bool,
    initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
  ) {
    self.init(
      capability: terms.capability, hasOutOfBandData: hasOutOfBandData, requirements: requirements,
      maximumKeySize: UInt8(clamping: min(max(terms.maximumKeySize, 1), 16)),
      initiatorKeys: requirements.bonds ? initiatorKeys : [], responderKeys: requirements.bonds ? responderKeys : [])
  }
}

extension AuthenticationRequirements {
  /// The initiating side's requirements.
  /// - Parameters:
  ///   - level: the lowest acceptable security level of the pairing, 2 to 4.
  ///   - capability: the person's means.
  ///   - bonds: true to keep the keys.
  ///   - isSecure: true if LE Secure Connections is supported.
  package init(requesting level: Int, _ capability: PairingCapability, bonds: Bool = true, isSecure: Bool = true) {
    self.init(capability, isProtected: capability != .none || level >= 3, bonds: bonds, isSecure: isSecure)
  }

  /// - Parameter isProtected: true to exclude a person in the middle.
  fileprivate init(_ capability: PairingCapability, isProtected: Bool, bonds: Bool, isSecure: Bool) {
    self = isProtected ? .mitm : []
    if bonds { insert(.bonding) }
    if isSecure { insert(.secureConnections) }
    if capability != .none { insert(.keypress) }
  }
}

extension KeyDistribution {
  /// The keys accepted from devices.
  fileprivate static let wanted: KeyDistribution = [.encryption, .identity, .signing]
}

extension PairingTerms {
  /// The terms for a device with these features: a device with our data knows the key pair behind it.
  fileprivate func known(by device: PairingFeatures) -> PairingTerms {
    guard device.hasOutOfBandData, let ownOutOfBand else { return self }
    var terms = self
    terms.secrets.keyPair = ownOutOfBand.keyPair
    return terms
  }

  /// True if the device's temporary key is the only out-of-band data, and sufficient: it counts in legacy pairing
  /// alone. With LE Secure Connections at both sides the flag would mean other data (2.3.5.1).
  fileprivate var prefersTemporaryKey: Bool { temporaryKey != nil && outOfBand == nil && level < 4 }

  /// The keys sent by this machine.
  fileprivate var ownKeys: KeyDistribution {
    identityResolvingKey == nil ? [.encryption, .signing] : [.encryption, .identity, .signing]
  }
}
