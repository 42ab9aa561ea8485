import Adapter
import Bluetooth

// State        Leaves it
// exchanging   the features have arrived → asking, or the end if one side does not pair
// asking       all answers are right → concluding; one is wrong, or the time is up → the end
// concluding   the keys have arrived → the end
//
// Inputs: `timePassed`, `answered`. Actions: `ask`, `show`, `succeeded`, `failed`; after the last two nothing follows.

/// One pairing between the two sides of a simulated link, without the cryptography.
struct PairingMachine {
  /// The reason for its failure.
  enum Failure: Hashable, Sendable {
    /// A side does not pair.
    case notSupported(LinkRole)
    /// The user or a policy of a side refused.
    case refused(LinkRole)
    /// The passkeys differ.
    case wrongPasskey
    /// A side has no key of 7 octets or more.
    case keyTooShort
    /// No answer arrived in 30 seconds.
    case timeout
  }

  /// The result of the pairing.
  struct Outcome: Hashable, Sendable {
    var method: PairingMethod
    var isSecureConnections: Bool
    /// The key size in octets, 7 to 16.
    var keySize: Int
    /// True if both sides keep the keys.
    var bonds: Bool

    /// The protection of the link.
    var security: LinkSecurity {
      LinkSecurity(
        isAuthenticated: method.isAuthenticated, isSecureConnections: isSecureConnections, keySize: keySize)
    }
  }

  enum Action: Hashable, Sendable {
    case ask(LinkRole, PairingQuestion)
    /// The user at the other side types this passkey.
    case show(LinkRole, UInt32)
    case succeeded(Outcome)
    case failed(Failure)
  }

  /// The numbers of one pairing, 0 to 999999.
  struct Numbers: Hashable, Sendable {
    var compared: UInt32
    /// The passkey that the central shows, if needed.
    var shownByCentral: UInt32
    /// The passkey that the peripheral shows, if needed.
    var shownByPeripheral: UInt32
  }

  private enum State {
    case exchanging(until: Instant)
    case asking(until: Instant, waiting: Set<LinkRole>)
    case concluding(until: Instant)
    case ended
  }

  /// The Security Manager Timer (Core 5.4, Vol 3, Part H, 3.4).
  static let timeout = Duration.seconds(30)

  private let central: PairingFeatures?
  private let peripheral: PairingFeatures?
  private let numbers: Numbers
  /// The time that a packet and its answer take.
  private let roundTrip: Duration
  private var state: State
  private var outcome: Outcome?
  /// The passkeys known so far: the one shown, or the first one typed.
  private var passkey: UInt32?

  /// Begins to pair.
  /// - Parameters:
  ///   - central: the central's data about itself; nil if it does not pair.
  ///   - peripheral: the peripheral's data about itself; nil if it does not pair.
  ///   - roundTrip: the time that a packet and its answer take.
  ///   - numbers: the numbers of this pairing.
  init(
    central: PairingFeatures?, peripheral: PairingFeatures?, numbers: Numbers, roundTrip: Duration, now: Instant
  ) {
    self.central = central
    self.peripheral = peripheral
    self.roundTrip = roundTrip
    self.numbers = numbers
    state = .exchanging(until: now.advanced(by: roundTrip))
  }

  /// When `timePassed` is due.
  var deadline: Instant? {
    switch state {
    case .exchanging(let until), .asking(let until, _), .concluding(let until): until
    case .ended: nil
    }
  }

  mutating func timePassed(now: Instant, actions: inout [Action]) {
    guard let deadline, deadline <= now else { return }
    switch state {
    case .exchanging: choose(now, &actions)
    case .asking: fail(.timeout, &actions)
    case .concluding:
      state = .ended
      if let outcome { actions.append(.succeeded(outcome)) }
    case .ended: break
    }
  }

  private mutating func choose(_ now: Instant, _ actions: inout [Action]) {
    guard let central else { return fail(.notSupported(.central), &actions) }
    guard let peripheral else { return fail(.notSupported(.peripheral), &actions) }
    let method = PairingMethod(central: central, peripheral: peripheral)
    let result = Outcome(
      method: method, isSecureConnections: central.hasSecureConnections && peripheral.hasSecureConnections,
      keySize: min(central.keySize, peripheral.keySize), bonds: central.bonds && peripheral.bonds)
    guard result.keySize >= 7 else { return fail(.keyTooShort, &actions) }
    outcome = result
    let both: Set<LinkRole> = [.central, .peripheral]
    switch method {
    // Devices have no out-of-band data.
    case .justWorks, .outOfBand: ask(both, .consent, now, &actions)
    case .comparison: ask(both, .comparison(numbers.compared), now, &actions)
    case .typedPasskey: ask(both, .passkey, now, &actions)
    case .passkey(let shows):
      let shown = shows == .central ? numbers.shownByCentral : numbers.shownByPeripheral
      passkey = shown
      actions.append(.show(shows, shown))
      ask(both.subtracting([shows]), .passkey, now, &actions)
    }
  }

  private mutating func ask(
    _ roles: Set<LinkRole>, _ question: PairingQuestion, _ now: Instant, _ actions: inout [Action]
  ) {
    state = .asking(until: now.advanced(by: Self.timeout), waiting: roles)
    actions += [.central, .peripheral].filter(roles.contains).map { .ask($0, question) }
  }

  /// A side answers its question; anything else is ignored.
  mutating func answered(_ role: LinkRole, _ answer: PairingAnswer, now: Instant, actions: inout [Action]) {
    guard case .asking(let until, var waiting) = state, waiting.remove(role) != nil else { return }
    switch (outcome?.method, answer) {
    case (_, .refuse), (.typedPasskey, .accept), (.passkey, .accept): return fail(.refused(role), &actions)
    case (.passkey, .passkey(let typed)), (.typedPasskey, .passkey(let typed)):
      guard typed == passkey ?? typed else { return fail(.wrongPasskey, &actions) }
      passkey = typed
    default: break
    }
    state =
      waiting.isEmpty
      ? .concluding(until: now.advanced(by: roundTrip)) : .asking(until: until, waiting: waiting)
  }

  private mutating func fail(_ failure: Failure, _ actions: inout [Action]) {
    state = .ended
    actions.append(.failed(failure))
  }
}
