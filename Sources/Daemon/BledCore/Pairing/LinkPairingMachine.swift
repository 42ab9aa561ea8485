import Bluetooth

/// The pairing on one link: the keys that encrypt it, and the agent that permitted it. It does no I/O.
///
/// | State    | begins   | bonded | pairedWithoutBond | encryptedOtherwise | failed          |
/// |----------|----------|--------|-------------------|--------------------|-----------------|
/// | quiet    | agreeing | bonded | unbonded          | unbonded           | quiet           |
/// | agreeing | agreeing | bonded | unbonded          | agreeing           | quiet, unbonded |
/// | bonded   | agreeing | bonded | unbonded          | unbonded           | quiet           |
/// | unbonded | agreeing | bonded | unbonded          | unbonded           | unbonded        |
///
/// A failed pairing leaves the link's earlier keys.
struct LinkPairingMachine {
  enum State: Hashable {
    /// No pairing has begun. The bond's keys encrypt the link.
    case quiet
    /// Keys are being agreed on: other keys than the bond's may encrypt the link next.
    case agreeing(isUnbonded: Bool)
    /// The bond's keys were made on this link.
    case bonded
    /// Keys kept by neither side encrypt the link.
    case unbonded
  }

  /// The permission for the pairing.
  enum Approval {
    /// A session that requested security.
    case session
    /// The policy, or a window for devices.
    case policy
    /// An agent; the identity belongs to the device in the question.
    case agent(Session, identity: DeviceAddress)
    /// The policy's fixed passkey. Until the pairing has succeeded, an attempt at it counts.
    case passkey(UInt32)
    /// Data exchanged out of band.
    case outOfBand
  }

  private(set) var state = State.quiet
  private(set) var approval: Approval?
  /// True if the bond whose keys were made on this link has the protection that a session requested, or no session
  /// requested any.
  private var isBondWanted = true
  /// The sessions that wait for the link to become more secure, each under its own number.
  private var causesByNumber: [Int: Session] = [:]
  /// The levels of requests replacing a weaker bond.
  private var replacementsByNumber: [Int: Int] = [:]
  private var hasToldLoss = false

  /// The sessions waiting for it, oldest request first.
  var causes: [Session] { causesByNumber.sorted { $0.key < $1.key }.map(\.value) }

  /// The lowest level of requests replacing a weaker bond.
  var replacementLevel: Int? { replacementsByNumber.values.min() }

  /// True if all requests that led to the bond wanted more protection than it has.
  var hasUnwantedBond: Bool { state == .bonded && !isBondWanted && causesByNumber.isEmpty }

  /// True if only the bond's keys can encrypt the link.
  var usesBond: Bool { state == .quiet || state == .bonded }

  /// True during a key exchange.
  var isAgreeing: Bool { if case .agreeing = state { true } else { false } }

  /// True if keys other than the bond's encrypt the link.
  var hasOtherKeys: Bool {
    switch state {
    case .quiet, .bonded: false
    case .agreeing(let isUnbonded): isUnbonded
    case .unbonded: true
    }
  }

  /// The policy's passkey, if it was given and the pairing has not succeeded yet.
  var passkey: UInt32? {
    if isAgreeing, case .passkey(let passkey) = approval { passkey } else { nil }
  }

  /// The agent that permitted the pairing, knowing the bond to be replaced; nil if the device claims an identity other
  /// than in the question.
  func consenter(to identity: DeviceAddress) -> Session? {
    if case .agent(let session, identity) = approval { session } else { nil }
  }

  // MARK: Inputs

  /// A session requests security.
  /// - Parameter level: its level if it replaces a weaker bond.
  mutating func requested(by session: Session, number: Int, replacingBondFor level: Int? = nil) {
    causesByNumber[number] = session
    replacementsByNumber[number] = level
    if approval == nil { approval = .session }
  }

  /// A session's request has ended.
  /// - Parameters:
  ///   - isProtected: true if the link is encrypted.
  ///   - isReached: true if it has the requested protection.
  mutating func requestEnded(_ number: Int, isProtected: Bool, isReached: Bool = false) {
    causesByNumber[number] = nil
    replacementsByNumber[number] = nil
    if isReached { isBondWanted = true }
    if !isProtected { approval = nil }
  }

  /// A session has ended.
  mutating func ended(_ session: Session) { causesByNumber = causesByNumber.filter { $0.value !== session } }

  /// A question or a passkey appears: a pairing continues.
  mutating func begins() {
    switch state {
    case .quiet, .bonded: state = .agreeing(isUnbonded: false)
    case .unbonded: state = .agreeing(isUnbonded: true)
    case .agreeing: break
    }
  }

  mutating func approved(_ approval: Approval) { self.approval = approval }

  /// A bond's keys were made.
  /// - Parameter replacing: true if there was a bond, which its users want.
  mutating func bonded(replacing: Bool = false) {
    // The keys of one pairing may arrive one by one.
    let wasWanted = state == .bonded ? isBondWanted : replacing
    (state, isBondWanted) = (.bonded, causesByNumber.isEmpty || wasWanted)
  }

  /// The link is encrypted with keys that are not stored, as neither side requests it or they were rejected.
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

  /// Lost keys are reported once per link.
  /// - Returns: true to report it.
  mutating func keysLost() -> Bool {
    defer { hasToldLoss = true }
    return !hasToldLoss
  }
}
