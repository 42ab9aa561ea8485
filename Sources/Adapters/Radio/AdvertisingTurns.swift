import Adapter
import Bluetooth
import HCI

/// The advertisements the controller can send at once: their turns at its sets, its allowances beside its links and
/// other activities, and the resulting intervals.
struct AdvertisingTurns {
  /// The permission for a kind of advertisement, and its slowdown.
  typealias Allowance = ActivityTurns.Allowance

  private var rotation: AdvertisingRotation
  /// The shortest interval for advertisements without connections. Before 5.0 it was 100 ms (Core 4.2, Vol 6, Part B,
  /// 4.4.2.2); that is assumed once a shorter one is refused.
  private var shortestUnconnectable = Duration.zero
  /// The controller's allowances of each kind; everything, if a kind is not there.
  private var allowances: [LEStates.Activity: Allowance] = [:]

  /// - Parameter sets: the controller's number of sets.
  init(sets: Int) { rotation = AdvertisingRotation(sets: sets) }

  /// When a set's turn is over.
  func deadline(after now: Instant) -> Instant? { rotation.deadline(after: now) }

  // MARK: - Sets

  /// A set is wanted. A train is not interrupted: its followers would lose it.
  /// - Returns: true if there is a place for it.
  mutating func admit(_ set: AdvertisingSetID, _ wanted: AdvertisingParameters) -> Bool {
    rotation.admit(set, isPinned: wanted.isPinned)
  }

  /// A set is no longer wanted, or cannot be sent.
  mutating func remove(_ set: AdvertisingSetID) { rotation.remove(set) }

  /// The controller has memory for this number of sets at once, fewer than it reported.
  mutating func limit(to sets: Int) { rotation.sets = sets }

  /// The sets at their turn, if they can be sent.
  mutating func due(at now: Instant, able: (AdvertisingSetID) -> Bool) -> [AdvertisingSetID] {
    rotation.onAir(at: now, able: able)
  }

  /// True if the set shares the air with others.
  func isShared(_ set: AdvertisingSetID) -> Bool { rotation.sharing.contains(set) }

  /// The error of an advertisement that the controller refuses for lack of room though there is no other.
  static let noRoom = GAPError.advertisingSetsExhausted.error(
    "the controller has no room for this advertisement: shorten its data, or end links or trains, and try again")

  /// The error of an advertisement for which there is no place.
  func exhausted(_ wanted: AdvertisingParameters) -> BluetoothError { rotation.refusal(isPinned: wanted.isPinned) }

  // MARK: - Beside links

  /// The controller's allowances, from now on.
  /// - Returns: true if that is a change.
  mutating func permit(_ new: [LEStates.Activity: Allowance]) -> Bool {
    defer { allowances = new }
    return new != allowances
  }

  /// The allowance for an advertisement.
  func allowance(of wanted: AdvertisingParameters?) -> Allowance {
    wanted.flatMap { allowances[$0.activity] } ?? .full
  }

  /// The error for an advertisement held back by links.
  static var heldBack: BluetoothError {
    GAPError.notSupported.error("the adapter cannot send this advertisement while it holds a link")
  }

  // MARK: - Intervals

  private static var slow: Duration { .milliseconds(100) }

  /// True if the controller may refuse because of the interval.
  func isTooFast(_ wanted: AdvertisingParameters) -> Bool {
    !wanted.isConnectable && wanted.interval < Self.slow && shortestUnconnectable < Self.slow
  }

  /// The controller refused too short an interval.
  mutating func slowDown() { shortestUnconnectable = Self.slow }

  /// The wanted parameters, with their interval on the air.
  func adapted(_ wanted: AdvertisingParameters?, of set: AdvertisingSetID) -> AdvertisingParameters? {
    guard var wanted else { return nil }
    // Another interval would begin the count anew.
    guard wanted.maximumEvents == nil else { return wanted }
    wanted.interval = rotation.intervalOnAir(of: set, wanted: wanted.interval)
    if !wanted.isConnectable { wanted.interval = max(wanted.interval, shortestUnconnectable) }
    return wanted
  }

  /// Its actual interval, with its turns and those of the controller's other activities.
  /// - Parameter parameters: as they are on the air.
  func realInterval(of set: AdvertisingSetID, _ parameters: AdvertisingParameters) -> Duration {
    let interval = TimeUnits.slots(TimeUnits.advertising(parameters.interval))
    let mean = parameters.endsByItself ? interval : rotation.realInterval(of: set, onAir: interval)
    return mean * allowance(of: parameters).slowdown
  }
}
