import Adapter
import Bluetooth
import BluetoothCrypto

// State       Input                                  Next
// response    Pairing Response, as initiator         legacy or secure
// legacy      packets, answers                       encryption, when the short term key is agreed on
// secure      packets, answers                       encryption, when the long term key is agreed on
// encryption  `giveKey`, as responder                encryption: the controllers use the key from now on
// encryption  packets of keys, the key is in use     encryption (kept: they can overtake the controller's event)
// encryption  the link is encrypted                  keys, unless the first of these came more than 7.5 ms ago
// keys        packets of keys                        ended: completed
// any         anything else                          throws: the pairing fails
//
// The responder begins with legacy or secure.

/// A pairing at one side of a link (Core 5.4, Vol 3, Part H, 2.1): features, authentication, encryption, keys.
struct Pairing: Sendable {
  private enum State: Sendable {
    case response(PairingTerms, request: PairingFeatures)
    case legacy(LegacyAuthentication)
    case secure(SecureAuthentication)
    /// `isGiven`: the controller has the key. Earlier packets of keys would have come without encryption.
    case encryption(Key128, isGiven: Bool, early: EarlyKeys)
    case keys(KeyDistributionMachine)
    case ended
  }

  /// The connection's addresses.
  struct Ends: Hashable, Sendable {
    let role: LinkRole
    var local: DeviceAddress
    let peer: DeviceAddress
  }

  private let ends: Ends
  private var state: State
  /// Nil until the features are exchanged.
  private(set) var parameters: PairingParameters?
  private var display: PasskeyDisplay?

  /// Begins as initiator.
  init(requesting terms: PairingTerms, _ ends: Ends) {
    self.ends = ends
    state = .response(terms, request: PairingFeatures(requesting: terms))
  }

  /// The initiator's Pairing Request.
  func start() -> [PairingStep] {
    guard case .response(_, let request) = state else { return [] }
    return [.send(.pairingRequest(request))]
  }

  /// Begins as responder.
  init(
    responding terms: PairingTerms, to request: PairingFeatures, _ ends: Ends, _ steps: inout [PairingStep]
  ) throws(PairingFailureReason) {
    self.ends = ends
    state = .ended
    let response = PairingFeatures(responding: terms, to: request)
    let parameters = try PairingParameters(
      ends.role, local: ends.local, peer: ends.peer, request: request, response: response, terms)
    steps = [.send(.pairingResponse(response))] + (try authenticate(parameters))
  }

  private mutating func authenticate(
    _ parameters: PairingParameters
  ) throws(PairingFailureReason) -> [PairingStep] {
    self.parameters = parameters
    let steps: [PairingStep]
    if parameters.isSecureConnections {
      let machine = SecureAuthentication(parameters)
      steps = machine.start()
      state = .secure(machine)
    } else {
      var machine = LegacyAuthentication(parameters)
      steps = try machine.start()
      state = .legacy(machine)
    }
    return advance(steps)
  }

  // MARK: - Inputs

  /// A packet was received.
  /// - Parameter arrival: when it arrived in this machine.
  mutating func receive(_ pdu: SMPPDU, arrived arrival: Instant) throws(PairingFailureReason) -> [PairingStep] {
    if case .keypressNotification(let keypress) = pdu { return receive(keypress) }
    switch (state, pdu) {
    case (.response(let terms, let request), .pairingResponse(let response)):
      return try authenticate(
        PairingParameters(
          ends.role, local: ends.local, peer: ends.peer, request: request, response: response, terms))
    case (.legacy(var machine), _):
      let steps = try machine.receive(pdu)
      state = .legacy(machine)
      return advance(steps)
    case (.secure(var machine), _):
      let steps = try machine.receive(pdu)
      state = .secure(machine)
      return advance(steps)
    case (.encryption(let key, let isGiven, var early), _):
      guard isGiven, early.keep(pdu, arrived: arrival) else { throw .unspecified }
      state = .encryption(key, isGiven: true, early: early)
      return []
    case (.keys(var machine), _):
      let steps = try machine.receive(pdu)
      state = .keys(machine)
      return steps
    case (.response, _), (.ended, _): throw .unspecified
    }
  }

  /// The person here has answered.
  mutating func answer(_ answer: PairingAnswer) throws(PairingFailureReason) -> [PairingStep] {
    let steps: [PairingStep]
    switch state {
    case .legacy(var machine):
      steps = try machine.answer(answer)
      state = .legacy(machine)
    case .secure(var machine):
      steps = try machine.answer(answer)
      state = .secure(machine)
    case .response, .encryption, .keys, .ended: return []
    }
    return (parameters?.sendsKeypress == true ? [.send(.keypressNotification(.completed))] : []) + advance(steps)
  }

  private var isAuthenticating: Bool {
    switch state {
    case .legacy, .secure: true
    case .response, .encryption, .keys, .ended: false
    }
  }

  /// True if the link is encrypted with its key, or may be at any moment.
  var mayEncrypt: Bool { if case .keys = state { true } else { isEncrypting } }

  /// True if the controllers have its key and the link is not known to be encrypted with it yet.
  var isEncrypting: Bool { if case .encryption(_, isGiven: true, _) = state { true } else { false } }

  /// Gives the agreed key to the responder's controller.
  /// - Returns: nil if it is not agreed on yet, or in use already.
  mutating func giveKey() -> Key128? {
    guard case .encryption(let key, _, let early) = state else { return nil }
    state = .encryption(key, isGiven: true, early: early)
    return key
  }

  /// The link is encrypted with the agreed key.
  /// - Parameter arrival: when the event arrived in this machine.
  mutating func encrypted(eventArrived arrival: Instant) throws(PairingFailureReason) -> [PairingStep] {
    guard case .encryption(let key, _, let early) = state, let parameters else { return [] }
    guard early.mayBeEncrypted(eventArrived: arrival) else { throw .unspecified }
    var machine = KeyDistributionMachine(parameters, agreed: key)
    var steps = machine.start()
    for pdu in early.packets { steps += try machine.receive(pdu) }
    state = .keys(machine)
    return steps
  }

  // MARK: - Steps

  /// Continues with encryption if a key is agreed on, and with a shown passkey.
  private mutating func advance(_ steps: [PairingStep]) -> [PairingStep] {
    guard let parameters else { return steps }
    var advanced: [PairingStep] = []
    for step in steps {
      switch step {
      case .agreed(let key):
        let key = key.truncated(to: parameters.keySize)
        // The initiator's controller encrypts at once.
        state = .encryption(key, isGiven: ends.role == .central, early: EarlyKeys())
        advanced.append(.agreed(key))
      case .show(let passkey, let entered):
        display = PasskeyDisplay(passkey: passkey, entered: entered)
        advanced.append(step)
      case .ask(.passkey):
        advanced.append(step)
        if parameters.sendsKeypress { advanced.append(.send(.keypressNotification(.started))) }
      case .send, .ask, .completed: advanced.append(step)
      }
    }
    return advanced
  }

  /// The other side reports its person's progress. Some devices do so without a passkey: that changes nothing, as in
  /// other stacks.
  private mutating func receive(_ keypress: Keypress) -> [PairingStep] {
    guard let parameters, parameters.hasKeypress, parameters.method.isTyped(by: ends.role.other), isAuthenticating,
      var display, display.receive(keypress)
    else { return [] }
    self.display = display
    return [.show(passkey: display.passkey, entered: display.entered)]
  }
}

/// A passkey shown here and typed at the other side.
private struct PasskeyDisplay: Sendable {
  /// More than a person presses. Further ones are not shown.
  private static let maximumChanges = 100

  let passkey: UInt32
  private(set) var entered: Int
  private var changes = 0

  init(passkey: UInt32, entered: Int) {
    self.passkey = passkey
    self.entered = entered
  }

  /// - Returns: true if the number of digits changed.
  mutating func receive(_ keypress: Keypress) -> Bool {
    guard changes < Self.maximumChanges else { return false }
    let before = entered
    changes += 1
    switch keypress {
    case .started, .cleared: entered = 0
    case .digitEntered: entered = min(entered + 1, 6)
    case .digitErased: entered = max(entered - 1, 0)
    case .completed: entered = 6
    }
    return entered != before
  }
}

extension PairingParameters {
  /// True if a person types here, with progress reports to the other side.
  fileprivate var sendsKeypress: Bool { hasKeypress && method.isTyped(by: role) }
}
