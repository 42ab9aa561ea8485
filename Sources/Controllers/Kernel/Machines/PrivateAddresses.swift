import Adapter
import Bluetooth
import HCI
import Radio

/// The private addresses of one controller: when the kernel makes the next one (`PrivateAddressMachine`), and the
/// activities that wait for it. Without privacy the kernel is asked once, because of links that come in.
///
/// | State   | Input                                | Actions and next state                                      |
/// |---------|--------------------------------------|-------------------------------------------------------------|
/// | idle    | `begin`                              | the kernel is asked: opening                                |
/// | idle    | `begin`, neither privacy nor extended commands | `open`: idle                                      |
/// | opening | done, without privacy                | `open`: idle                                                |
/// | opening | an address, or an earlier one        | `open`: used                                                |
/// | opening | no address                           | `failed`                                                    |
/// | used    | the address was used for long enough | `pauseIsDue`; the owner answers with `pause` or `postpone`  |
/// | used    | `postpone`                           | the same a second later                                     |
/// | used    | `pause`                              | pausing, for 5 s at most                                    |
/// | pausing | `quiet`                              | the kernel is asked                                         |
/// | pausing | an address, none, or no quiet        | `resume`: used; after none it is tried again in a minute    |
/// | any     | `close`                              | idle; the last address is remembered for a controller that slept |
///
/// While it is pausing, ends of the scan and of advertisements are withheld from programs (`withholds`).
struct PrivateAddresses {
  enum Action: Hashable {
    case send(PrivateAddressMachine.Request)
    /// The controller can be used, under this address if it is a private one.
    case open(ControllerProfile, DeviceAddress?)
    /// The kernel made no address for a controller that has none.
    case failed
    /// Scan, advertising and connecting are to pause, when that harms no link.
    case pauseIsDue
    /// They go on under this address. Programs were not told of activities that ended for the pause.
    case resume(DeviceAddress, scanEnded: Bool, ended: Set<AdvertisingSetID>)
    /// The kernel made this address; nil for none.
    case made(DeviceAddress?)
  }

  /// The kernel's own time, which it counts where commands are legacy, must be over before it makes a new address.
  private static let margin = Duration.seconds(2)
  /// The kernel's own time.
  private static let kernelRotation = Duration.seconds(900)
  /// After the kernel gave no new address.
  private static let retry = Duration.seconds(60)
  /// How long the activities of a controller may take to end.
  private static let timeout = Duration.seconds(5)

  /// The address that the kernel made last, since the controller came on.
  private var last: DeviceAddress?
  /// Whether scan, advertising and connecting pause until there is a new address.
  private(set) var isPausing = false
  private var machine = PrivateAddressMachine()
  private var isExtended = false
  private var isPrivate = false
  /// The controller that has no radio yet, because it has no address.
  private var waiting: ControllerProfile?
  /// The ends of the present pause.
  private var withheld = WithheldEnds()
  /// When the address has been used for long enough.
  private var next: Instant?
  /// When the pause has taken too long.
  private var pauseEnd: Instant?
  /// The kernel's new address, and when it is taken: the controller's answers to the kernel are heard before.
  private var made: (address: DeviceAddress?, at: Instant)?

  /// When `tick` is due.
  var deadline: Instant? { [next, pauseEnd, machine.deadline, made?.at].compactMap { $0 }.min() }

  /// The controller was asked for its capabilities.
  mutating func begin(_ profile: ControllerProfile, isPrivate: Bool, at now: Instant) -> [Action] {
    self.isPrivate = isPrivate
    isExtended = profile.advertisesExtended
    guard isPrivate || isExtended else { return [.open(profile, nil)] }
    waiting = profile
    return ask(at: now)
  }

  /// The radio is closed.
  mutating func close(at now: Instant) -> [Action] {
    let actions = apply(machine.closing, at: now)
    let last = last
    self = PrivateAddresses()
    self.last = last
    return actions
  }

  /// The controller gets power anew, and another address with that.
  mutating func forget() { last = nil }

  /// The kernel, or another program, sent a command to the controller.
  mutating func heard(_ packet: CommandPacket) { machine.heard(packet) }

  /// The kernel answered one of its management commands.
  mutating func answered(_ opcode: UInt16, at now: Instant) -> [Action] {
    apply(machine.answered(opcode), at: now)
  }

  /// Scan, advertising and connecting pause.
  mutating func pause(at now: Instant) {
    isPausing = true
    pauseEnd = now.advanced(by: Self.timeout)
  }

  /// A pause would harm a link.
  mutating func postpone(at now: Instant) { next = now.advanced(by: .seconds(1)) }

  /// Whether this is an end for the pause, which programs need not notice.
  mutating func withholds(_ action: RadioAction) -> Bool { isPausing && withheld.withhold(action) }

  /// All activities have ended for the pause.
  mutating func quiet(at now: Instant) -> [Action] { ask(at: now) }

  /// - Parameter rotation: for how long an address is used; nil if it stays.
  mutating func tick(rotation: Duration?, at now: Instant) -> [Action] {
    if let made, made.at <= now { return adopt(made.address, rotation: rotation, at: now) }
    if let pauseEnd, pauseEnd <= now { return adopt(nil, rotation: rotation, at: now) }
    if let next, next <= now {
      self.next = nil
      return [.pauseIsDue]
    }
    return apply(machine.tick(at: now), at: now)
  }

  private mutating func ask(at now: Instant) -> [Action] {
    pauseEnd = nil
    made = nil
    return apply(machine.begin(isExtended: isExtended, at: now), at: now)
  }

  private mutating func apply(_ actions: [PrivateAddressMachine.Action], at now: Instant) -> [Action] {
    actions.compactMap { action in
      switch action {
      case .send(let request): return .send(request)
      case .done(let address):
        made = (address, now)
        return nil
      }
    }
  }

  private mutating func adopt(_ address: DeviceAddress?, rotation: Duration?, at now: Instant) -> [Action] {
    made = nil
    pauseEnd = nil
    if !isPrivate {
      defer { waiting = nil }
      return waiting.map { [.open($0, nil)] } ?? []
    }
    last = address ?? last
    let kernels: Duration = isExtended ? .zero : Self.kernelRotation
    next = rotation.map { now.advanced(by: address == nil ? Self.retry : max($0, kernels) + Self.margin) }
    if let profile = waiting {
      waiting = nil
      guard let last else {
        next = nil
        return [.made(address), .failed]
      }
      return [.made(address), .open(profile, last)]
    }
    guard isPausing, let last else { return [.made(address)] }
    isPausing = false
    defer { withheld = WithheldEnds() }
    return [.made(address), .resume(last, scanEnded: withheld.scan, ended: withheld.sets)]
  }
}
