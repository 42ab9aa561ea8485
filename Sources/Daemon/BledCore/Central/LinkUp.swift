import Adapter
import Bluetooth

/// A link on its way to use by programs: encrypted as its bond says, before the first packet of our client (Core 5.4,
/// Vol 3, Part C, 10.3.2), then with the MTU exchanged, once (Part F, 3.4.2.1). It does no I/O.
///
/// | State      | Input                                    | Actions, next state                                 |
/// |------------|------------------------------------------|-----------------------------------------------------|
/// | idle       | begin, with a bond                       | encrypt → encrypting                                |
/// | idle       | begin, any other                         | exchange → exchanging; ready → ready if the device is not asked |
/// | idle       | begin, with a bond, on a kernel whose links may not end in silence | exchange → exchanging         |
/// | encrypting | the link has the level of the bond       | exchange, improve → exchanging; the same without it |
/// | encrypting | the keys are of no use to the device     | keysLost → over; as peripheral → idle               |
/// | encrypting | it failed for the moment                 | disconnect → over; as peripheral fail → idle        |
/// | encrypting | 30 s                                     | fail → over; as peripheral → idle                   |
/// | encrypting | the link ended because of the keys       | keysLost → over                                     |
/// | exchanging | the device answered, or refused          | ready → ready; encrypt → encrypting if that has to follow |
/// | exchanging | no answer in 30 s, or the link ended     | lost → over                                         |
/// | ready      | begin                                    | ready                                               |
/// | over       | any                                      |                                                     |
///
/// After a failed encryption our client sends nothing in plain text: the link ends, and so does the next one, until the
/// device has its keys again or the bond is forgotten. A link begun by the device continues for our server, whose
/// attributes have their own permissions, and for a device that pairs anew; programs may `begin` again.
struct LinkUp {
  private enum State {
    case idle
    case encrypting(until: Instant, exchanges: Bool)
    /// With the level to encrypt at afterwards.
    case exchanging(level: Int?)
    case ready
    case over
  }

  enum Action: Hashable {
    /// Encrypt the link with its bond's keys, at this level, 2 to 4.
    case encrypt(level: Int)
    /// Request longer packets and other parameters, which had to wait.
    case improve
    /// Ask the device for its MTU.
    case exchange
    /// Programs can use the link.
    case ready
    /// The device and this machine no longer share keys.
    case keysLost(BluetoothError)
    /// The link is useless, for this reason.
    case fail(BluetoothError)
    /// End the link for this reason; another one may do better.
    case disconnect(BluetoothError)
    /// The link ended before Exchange MTU was answered.
    case lost(LostExchange)
  }

  /// The device answers the controller's request within 40 s, or the link ends (Core 5.4, Vol 6, Part B, 5.2).
  static let timeout = Duration.seconds(30)

  private let role: LinkRole
  private var state = State.idle

  /// - Parameter role: our role on the link.
  init(role: LinkRole = .central) { self.role = role }

  /// When `timePassed` is due.
  var deadline: Instant? { if case .encrypting(let until, _) = state { until } else { nil } }

  /// True while the link is being encrypted with its bond's keys.
  var isEncrypting: Bool { deadline != nil }

  /// True while our client's requests have to wait.
  var isUnderWay: Bool {
    switch state {
    case .encrypting, .exchanging, .over: true
    case .idle, .ready: false
    }
  }

  /// The step that programs wait for; nil if there is none.
  var awaited: String? {
    switch state {
    case .encrypting: "the link is up, but not encrypted yet"
    case .exchanging: "the link is up, but the device has not answered Exchange MTU"
    case .idle, .ready, .over: nil
    }
  }

  // MARK: - Inputs

  /// Programs want to use the link.
  /// - Parameters:
  ///   - level: the link's level by the bond, 2 to 4; nil without one.
  ///   - exchanges: true if the device accepts Exchange MTU.
  ///   - exchangesFirst: true to exchange before encryption (`Link.mustReceive`).
  mutating func begin(level: Int?, exchanges: Bool, exchangesFirst: Bool = false, now: Instant) -> [Action] {
    switch state {
    case .idle:
      guard let level else { return proceed(exchanges) }
      if exchanges, exchangesFirst {
        state = .exchanging(level: level)
        return [.exchange]
      }
      state = .encrypting(until: now.advanced(by: Self.timeout), exchanges: exchanges)
      return [.encrypt(level: level)]
    case .ready: return [.ready]
    case .encrypting, .exchanging, .over: return []
    }
  }

  /// The link has its bond's level, or cannot have it, for this reason.
  mutating func encryptionEnded(_ error: BluetoothError?) -> [Action] {
    guard case .encrypting(_, let exchanges) = state else { return [] }
    guard let error else { return proceed(exchanges) + (role == .central ? [.improve] : []) }
    switch error.ofEncryption {
    case .keysLost:
      state = afterFailure
      return [.keysLost(error)]
    case .passing:
      state = afterFailure
      return [role == .central ? .disconnect(error) : .fail(error)]
    case .linkEnded: return []
    }
  }

  /// The device answered Exchange MTU, also with a refusal.
  mutating func exchanged(now: Instant) -> [Action] {
    guard case .exchanging(let level) = state else { return [] }
    if let level {
      state = .encrypting(until: now.advanced(by: Self.timeout), exchanges: false)
      return [.encrypt(level: level)]
    }
    state = .ready
    return [.ready]
  }

  /// The device did not answer Exchange MTU in time.
  mutating func exchangeTimedOut() -> [Action] {
    guard case .exchanging = state else { return [] }
    state = .over
    return [.lost(.unanswered)]
  }

  mutating func timePassed(_ peer: DeviceAddress, now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    state = afterFailure
    let words = "\(peer) did not encrypt the link with the keys of its bond within 30 s"
    // A central without a request may have the keys, but no need for them.
    let remedy = role == .central ? "connect again" : "have it do that, or pair, for which it is asked"
    return [.fail(GAPError.timeout.error("\(words): \(remedy)"))]
  }

  private var afterFailure: State { role == .central ? .over : .idle }

  /// The link has ended.
  mutating func linkEnded(_ reason: BluetoothError) -> [Action] {
    let before = state
    state = .over
    switch before {
    case .encrypting:
      if case .keysLost = reason.ofEncryption { return [.keysLost(reason)] }
      return []
    case .exchanging: return LostExchange(reason).map { [.lost($0)] } ?? []
    case .idle, .ready, .over: return []
    }
  }

  private mutating func proceed(_ exchanges: Bool) -> [Action] {
    state = exchanges ? .exchanging(level: nil) : .ready
    return [exchanges ? .exchange : .ready]
  }
}

/// The way Exchange MTU ended a link: some devices disconnect or crash at the request, and work with an MTU of 23.
enum LostExchange: Hashable {
  /// The device did not answer for 30 s.
  case unanswered
  /// The device ended the link.
  case hungUp
  /// The device stopped answering.
  case silent

  /// - Returns: nil if the end says nothing about the device.
  init?(_ reason: BluetoothError) {
    guard reason.domain == .hci else { return nil }
    switch reason.code {
    // Remote User Terminated Connection, and its other reasons (Core 5.4, Vol 1, Part F, 2.19 to 2.21).
    case 0x13, 0x14, 0x15: self = .hungUp
    // Connection Timeout, LL Response Timeout.
    case 0x08, 0x22: self = .silent
    default: return nil
    }
  }

  /// The words before "Exchange MTU" in the log.
  var words: String {
    switch self {
    case .unanswered: "did not answer"
    case .hungUp: "disconnected at"
    case .silent: "was lost at"
    }
  }

  /// Consecutive links ended in this way before the exchange is skipped. One link may be lost by chance.
  var maximum: Int {
    switch self {
    case .unanswered: 1
    case .hungUp: 2
    case .silent: 3
    }
  }
}

extension BluetoothError {
  fileprivate enum OfEncryption { case keysLost, passing, linkEnded }

  /// The meaning of a failed encryption with this error, or of the link's end meanwhile.
  fileprivate var ofEncryption: OfEncryption {
    switch domain {
    case .gap:
      switch GAPError(rawValue: code) {
      case .pairingFailed: .keysLost
      case .disconnected, .notConnected: .linkEnded
      default: .passing
      }
    case .hci:
      switch code {
      // Authentication Failure, PIN or Key Missing, Unsupported Remote Feature, Encryption Mode Not Acceptable,
      // Insufficient Security, MIC Failure (Core 5.4, Vol 1, Part F, 2).
      case 0x05, 0x06, 0x1A, 0x25, 0x2F, 0x3D: .keysLost
      // Timeouts, collisions, a lack of memory.
      default: .passing
      }
    case .att, .bled: .passing
    }
  }
}
