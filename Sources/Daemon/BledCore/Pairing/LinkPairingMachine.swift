import Bluetooth

/// The pairing on one link: the keys that encrypt it, and the agent that let it pair. It does no I/O.
///
/// | State    | begins   | bonded | pairedWithoutBond | encryptedOtherwise | failed          |
/// |----------|----------|--------|-------------------|--------------------|-----------------|
/// | quiet    | agreeing | bonded | unbonded          | unbonded           | quiet           |
/// | agreeing | agreeing | bonded | unbonded          | agreeing           | quiet, unbonded |
/// | bonded   | agreeing | bonded | unbonded          | unbonded           | quiet           |
/// | unbonded | agreeing | bonded | unbonded          | unbonded           | unbonded        |
///
/// A pairing that fails leaves the keys that the link had before.
struct LinkPairingMachine {
  enum State: Hashable {
    /// No pairing has begun. The bond's keys encrypt the link.
    case quiet
    /// Keys are being agreed on: other keys than the bond's may encrypt the link next.
    case agreeing(isUnbonded: Bool)
    /// The keys of the bond were made on this link.
    case bonded
    /// Keys that neither side keeps encrypt the link.
    case unbonded
  }

  /// The agent that let the link pair.
  enum Approval {
    /// A session that asked for security.
    case session
    /// The policy, or a window for devices.
    case policy
    /// An agent; the identity is that of the device it was asked about.
    case agent(Session, identity: DeviceAddress)
    /// The fixed passkey of the policy. Until the pairing has ended well, a try at it counts.
    case passkey(UInt32)
    /// Data that did not go over the air.
    case outOfBand
  }

  private(set) var state = State.quiet
  private(set) var approval: Approval?
  /// The sessions that wait for the link to become more secure, each under a number of its own.
  private var causesByNumber: [Int: Session] = [:]
  private var hasToldLoss = false

  /// The sessions that wait for it, in the order in which they asked.
  var causes: [Session] { causesByNumber.sorted { $0.key < $1.key }.map(\.value) }

  /// Whether only the bond's keys can encrypt the link.
  var usesBond: Bool { state == .quiet || state == .bonded }

  /// Whether keys are being agreed on.
  var isAgreeing: Bool { if case .agreeing = state { true } else { false } }

  /// Whether other keys than the bond's encrypt the link.
  var hasOtherKeys: Bool {
    switch state {
    case .quiet, .bonded: false
    case .agreeing(let isUnbonded): isUnbonded
    case .unbonded: true
    }
  }

  /// The passkey of the policy, if it was given and the pairing has not ended well.
  var passkey: UInt32? {
    if isAgreeing, case .passkey(let passkey) = approval { passkey } else { nil }
  }

  /// The agent that let this device pair, knowing the bond to be replaced; nil if the device claims to be another
  /// one than it was asked about.
  func consenter(to identity: DeviceAddress) -> Session? {
    if case .agent(let session, identity) = approval { session } else { nil }
  }

  // MARK: Inputs

  /// A session asks for security.
  mutating func requested(by session: Session, number: Int) {
    causesByNumber[number] = session
    if approval == nil { approval = .session }
  }

  /// The request of a session has ended.
  /// - Parameter isProtected: whether the link is encrypted.
  mutating func requestEnded(_ number: Int, isProtected: Bool) {
    causesByNumber[number] = nil
    if !isProtected { approval = nil }
  }

  /// A session has ended.
  mutating func ended(_ session: Session) { causesByNumber = causesByNumber.filter { $0.value !== session } }

  /// Something is asked or shown: a pairing goes on.
  mutating func begins() {
    switch state {
    case .quiet, .bonded: state = .agreeing(isUnbonded: false)
    case .unbonded: state = .agreeing(isUnbonded: true)
    case .agreeing: break
    }
  }

  mutating func approved(_ approval: Approval) { self.approval = approval }

  /// The keys of a bond were made.
  mutating func bonded() { state = .bonded }

  /// The link is encrypted with keys that are not kept, because neither side wants to or because they were rejected.
  mutating func pairedWithoutBond() { state = .unbonded }

  /// The link is encrypted with another key than the bond's.
  mutating func encryptedOtherwise() { state = isAgreeing ? .agreeing(isUnbonded: true) : .unbonded }

  /// The pairing failed: the permission to begin was for this time only.
  mutating func failed() {
    switch state {
    case .quiet, .bonded, .agreeing(isUnbonded: false): state = .quiet
    case .unbonded, .agreeing(isUnbonded: true): state = .unbonded
    }
    approval = causesByNumber.isEmpty ? nil : .session
  }

  /// Lost keys are told once for a link.
  /// - Returns: whether to tell it.
  mutating func keysLost() -> Bool {
    defer { hasToldLoss = true }
    return !hasToldLoss
  }
}
