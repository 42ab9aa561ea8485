import Bluetooth
import OrderedCollections

/// Shares a controller's advertising sets among the wanted advertisements.
///
/// While the sets suffice, each advertisement has its own. With more advertisements, all sets but the last keep the
/// earliest members, and the others take turns on the last one; a controller with legacy commands has only one. A
/// pinned member, which must not be interrupted, has its own set before all others.
///
/// | State         | Input                            | Outcome                                                     |
/// |---------------|----------------------------------|-------------------------------------------------------------|
/// | not a member  | `admit`                          | a member with its own set, or one that shares and has a turn soon |
/// | not a member  | `admit`, `limit` share already   | refused                                                     |
/// | not a member  | `admit` pinned                   | a member with its own set; the latest of the others may have to share |
/// | not a member  | `admit` pinned, no set but that of the others is left | refused                                |
/// | not a member  | `admit`, pinned ones have all sets | refused                                                   |
/// | pinned member | `admit`, there are fewer `sets`  | refused, not a member, unless earlier ones left it a set    |
/// | member        | `remove`                         | not a member; the one waiting longest may get a set of its own |
/// | waits         | `onAir`, the last turn is over   | on the air for `turn`                                       |
/// | on the air    | `onAir`, its turn is over        | waits, if another member is able to take the turn           |
///
/// Every second turn is a newcomer's, if there is one: each is received soon, and a short-lived one keeps none off the
/// air.
///
/// While it shares, an advertisement is sent at least every `longestInterval` during its turn, so that each turn is
/// received.
public struct AdvertisingRotation: Hashable, Sendable {
  /// The time on the air before the next advertisement has its turn.
  public static let turn = Duration.milliseconds(500)
  /// The longest interval within a turn.
  public static let longestInterval = Duration.milliseconds(250)
  /// Maximum advertisements sharing one set: the last is received every eight seconds, or sixteen while others begin
  /// and end.
  public static let limit = 16

  /// Maximum simultaneous advertisements of the controller, 0 or more. It may turn out to be lower than reported.
  public var sets: Int
  /// The sets; the pinned ones are first.
  private var members: OrderedSet<AdvertisingSetID> = []
  private var pinned: Set<AdvertisingSetID> = []
  /// The sharing members that have never been on the air.
  private var fresh: OrderedSet<AdvertisingSetID> = []
  /// The member at its turn.
  private var current: AdvertisingSetID?
  private var turnEnd = Instant.zero
  private var isNewcomersTurn = false
  /// The members; the one with the longest wait for a turn is first.
  private var queue: OrderedSet<AdvertisingSetID> = []

  /// Makes a rotation without members for a controller with so many sets.
  public init(sets: Int) { self.sets = sets }

  /// Maximum advertisements.
  public var capacity: Int { sets > 0 ? sets - 1 + Self.limit : 0 }

  /// The members taking turns; empty while every member has a set.
  public var sharing: ArraySlice<AdvertisingSetID> {
    members.count > sets && sets > 0 ? members.elements[(sets - 1)...] : []
  }

  /// True if the advertisement is a member.
  public func contains(_ set: AdvertisingSetID) -> Bool { members.contains(set) }

  /// Adds an advertisement, unless it is a member already.
  /// - Parameter isPinned: true without turns: it is on the air all the time.
  /// - Returns: false if there is no place for it, as `refusal` says; it is no member then.
  public mutating func admit(_ set: AdvertisingSetID, isPinned: Bool = false) -> Bool {
    if pinned.contains(set) != isPinned { remove(set) }
    if let index = members.firstIndex(of: set) {
      if !isPinned || index < places { return true }
      remove(set)
      return false
    }
    guard isPinned ? pinned.count < places : pinned.count < sets && members.count < capacity else { return false }
    if isPinned {
      members.insert(set, at: pinned.count)
      pinned.insert(set)
    } else {
      members.append(set)
    }
    queue.append(set)
    fresh.append(set)
    return true
  }

  /// Maximum pinned members: all sets, or all but one if there are others.
  private var places: Int { members.count > pinned.count ? sets - 1 : sets }

  /// The reason why there is no place for a further advertisement.
  public func refusal(isPinned: Bool) -> BluetoothError {
    let message =
      if isPinned && sets == 1 && places == 0 {
        """
        A train of periodic advertisements does not take turns, and this adapter has one advertising set: stop the \
        other advertisements.
        """
      } else if isPinned || pinned.count >= sets {
        """
        trains of periodic advertisements do not take turns: each has one of this adapter's \(sets) advertising sets, \
        and none is left for this advertisement: stop a train
        """
      } else {
        "this adapter sends at most \(capacity) advertisements, in rotation: stop one"
      }
    return GAPError.advertisingSetsExhausted.error(message)
  }

  /// Removes an advertisement.
  public mutating func remove(_ set: AdvertisingSetID) {
    members.remove(set)
    pinned.remove(set)
    queue.remove(set)
    fresh.remove(set)
    if current == set { current = nil }
  }

  /// The members to be on the air now. Call it again at the deadline and after each change.
  /// - Parameter able: true if an advertisement can be sent at present; other members are omitted.
  public mutating func onAir(at now: Instant, able: (AdvertisingSetID) -> Bool) -> [AdvertisingSetID] {
    let sharing = sharing
    guard !sharing.isEmpty else {
      current = nil
      fresh = []
      return sets > 0 ? members.filter(able) : []
    }
    let own = members.elements[..<(sets - 1)]
    for set in own { fresh.remove(set) }
    if let current, sharing.contains(current), now < turnEnd, able(current) { return own.filter(able) + [current] }
    guard let next = next(in: sharing, able) else {
      current = nil
      return own.filter(able)
    }
    fresh.remove(next)
    queue.remove(next)
    queue.append(next)
    current = next
    turnEnd = now.advanced(by: Self.turn)
    return own.filter(able) + [next]
  }

  /// When the turn is over; nil if no member waits for it, or it is over already.
  public func deadline(after now: Instant) -> Instant? {
    current != nil && sharing.count > 1 && now < turnEnd ? turnEnd : nil
  }

  /// The interval of an advertisement while it is on the air.
  public func intervalOnAir(of set: AdvertisingSetID, wanted: Duration) -> Duration {
    sharing.contains(set) ? min(wanted, Self.longestInterval) : wanted
  }

  /// The mean time between two advertisements: its interval on the air, times the number of sharing members.
  /// - Parameter interval: the interval on the air.
  public func realInterval(of set: AdvertisingSetID, onAir interval: Duration) -> Duration {
    sharing.contains(set) ? interval * sharing.count : interval
  }

  /// After a newcomer, or without one: the member with the longest wait. Else the latest newcomer: earlier ones have
  /// waited longer.
  private mutating func next(
    in sharing: ArraySlice<AdvertisingSetID>, _ able: (AdvertisingSetID) -> Bool
  ) -> AdvertisingSetID? {
    let newcomer = isNewcomersTurn ? nil : fresh.last { sharing.contains($0) && able($0) }
    isNewcomersTurn = newcomer != nil
    return newcomer ?? queue.first { sharing.contains($0) && able($0) }
  }
}
