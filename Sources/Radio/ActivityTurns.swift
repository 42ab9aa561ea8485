import Adapter
import Bluetooth
import HCI

/// Shares a controller that cannot do everything at once: compatible activities run together, others take turns, and
/// activities that are impossible beside the present links wait for their end.
///
/// | State   | Input                               | Outcome                                                        |
/// |---------|-------------------------------------|----------------------------------------------------------------|
/// | any     | `update`: all wanted go together    | all granted, no deadline                                       |
/// | any     | `update`: some do not               | the first group granted, until the end of its turn             |
/// | turns   | `update` after the deadline         | the next group granted                                         |
/// | turns   | `update`: other activities wanted   | other groups; the turn of a leader that still leads one goes on |
/// | turns   | `update`: a new one comes first     | its group granted at once, for a turn of its own                |
/// | any     | `update`: a link excludes some      | these are held back; the others as above                       |
/// | any     | `refused` twice beside another one  | the two take turns from now on                                 |
///
/// Connecting comes before advertising, advertising before scanning: in this order each activity that is in no group
/// yet leads one, to which the activities compatible with all its members are added. The earlier a leader comes, the
/// longer its turn is; each has a share.
struct ActivityTurns {
  typealias Activity = LEStates.Activity

  /// Whether an activity may go on.
  enum Grant: Hashable {
    case now
    /// When its turn comes.
    case later
    /// When links have ended.
    case heldBack
  }

  /// Whether an activity may go on, and how much its turns slow it down: the length of a round, by that of its turns.
  struct Allowance: Hashable {
    var grant: Grant
    var slowdown: Double

    static let full = Allowance(grant: .now, slowdown: 1)
  }

  /// The sides that we have on links.
  enum LinkSide: Hashable { case central, peripheral }

  private struct Group {
    let leader: Activity
    var members: Set<Activity>
  }

  private var states: LEStates
  /// The activity beside which another one was refused last, by that one.
  private var suspects: [Activity: Activity] = [:]
  /// Whether `states` changed.
  private var hasLearned = false
  private var wanted: Set<Activity> = []
  private var links: Set<LinkSide> = []
  private var groups: [Group] = []
  private var leader: Activity?
  private var end = Instant.zero
  /// The activities that the links exclude.
  private(set) var heldBack: Set<Activity> = []

  /// - Parameter states: the combinations of the controller; nil if it did not tell. One that combines nothing at all
  ///   did not fill the answer in.
  init(states: LEStates?) {
    let told = states ?? .all
    self.states = told.isEmpty ? .all : told
  }

  /// Whether there is anything to be shared.
  var isLimited: Bool { !states.isSuperset(of: .all) }

  /// The activities that take turns now; empty if all go together.
  var sharing: Set<Activity> { groups.count > 1 ? wanted.subtracting(heldBack) : [] }

  /// Sets the wanted activities and the present links, and lets time pass.
  mutating func update(wanted: Set<Activity>, links: Set<LinkSide>, at now: Instant) {
    let known = groups.reduce(into: Set()) { $0.formUnion($1.members) }
    if wanted != self.wanted || links != self.links || hasLearned {
      self.wanted = wanted
      self.links = links
      hasLearned = false
      regroup()
    }
    guard groups.count > 1 else {
      leader = groups.first?.leader
      // An activity that is alone has no turn that others would wait for.
      end = .zero
      return
    }
    let current = groups.firstIndex { $0.leader == leader }
    let next: Int
    if let first = groups.prefix(current ?? 0).firstIndex(where: { !known.contains($0.leader) }) {
      next = first
    } else {
      if current != nil, now < end { return }
      // An activity that led alone has the first turn.
      next = current.map { end == .zero ? $0 : ($0 + 1) % groups.count } ?? 0
    }
    leader = groups[next].leader
    end = now.advanced(by: Self.turn(of: groups[next].leader))
  }

  /// The controller disallowed an activity that its states combine with the running ones (Core 5.4, Vol 4, Part E,
  /// 7.8.27): many tell wrong states. Once may be chance; at the second time in a row they take turns.
  /// - Returns: whether they do from now on, so that it can be tried again.
  mutating func refused(_ activity: Activity, beside running: Set<Activity>) -> Bool {
    // A scan is the most likely reason, then an advertisement.
    let suspect = Activity.allCases.last { other in
      running.contains(other) && states.combines(activity, other) && states.without(activity, beside: other) != states
    }
    guard let suspect, suspects[activity] == suspect else {
      suspects[activity] = suspect
      return false
    }
    suspects[activity] = nil
    states = states.without(activity, beside: suspect)
    hasLearned = true
    return true
  }

  /// The controller accepted an activity.
  mutating func accepted(_ activity: Activity) { suspects[activity] = nil }

  /// When the turn is over; nil without turns.
  func deadline(after now: Instant) -> Instant? { groups.count > 1 ? end : nil }

  /// The allowance of an activity, wanted or not.
  /// - Parameter running: the present activities; one that does not go with them waits until they have ended.
  func allowance(for activity: Activity, beside running: Set<Activity> = []) -> Allowance {
    guard isLimited else { return .full }
    if heldBack.contains(activity) || excluded(activity) { return Allowance(grant: .heldBack, slowdown: 1) }
    let isFree = running.contains(activity) || running.allSatisfy { states.combines($0, activity) }
    guard groups.count > 1 else { return Allowance(grant: isFree ? .now : .later, slowdown: 1) }
    let own = groups.filter { $0.members.contains(activity) }
    let hasTurn = own.contains { $0.leader == leader }
    let round = Self.length(of: groups) / max(Self.length(of: own), .seconds(1))
    return Allowance(grant: hasTurn && isFree ? .now : .later, slowdown: round)
  }

  /// The allowances of all kinds of advertisements.
  func advertisingAllowances(beside running: Set<Activity>) -> [Activity: Allowance] {
    [.advertisingConnectably, .advertisingScannably, .advertisingOnly].reduce(into: [:]) {
      $0[$1] = allowance(for: $1, beside: running)
    }
  }

  private mutating func regroup() {
    heldBack = wanted.filter(excluded)
    groups = []
    let order = Activity.allCases.filter { wanted.contains($0) && !heldBack.contains($0) }
    for leader in order where !groups.contains(where: { $0.members.contains(leader) }) {
      var group = Group(leader: leader, members: [leader])
      for other in order where other != leader && group.members.allSatisfy({ states.combines($0, other) }) {
        group.members.insert(other)
      }
      groups.append(group)
    }
  }

  private func excluded(_ activity: Activity) -> Bool {
    links.contains { !states.allows(activity, besideLinkAsCentral: $0 == .central) }
  }

  private static func length(of groups: [Group]) -> Duration { groups.reduce(.zero) { $0 + turn(of: $1.leader) } }

  /// Long enough for a device that advertises every second to be connected, for an advertisement to be heard by a phone
  /// that scans half of the time, and for a scan to hear most advertisers.
  private static func turn(of leader: Activity) -> Duration {
    switch leader {
    case .initiating: .seconds(3)
    case .advertisingConnectably, .advertisingScannably, .advertisingOnly: .seconds(2)
    case .scanningPassively, .scanningActively: .seconds(1)
    }
  }
}

extension ScanParameters {
  /// The activity of a controller that scans with them.
  var activity: LEStates.Activity { isActive ? .scanningActively : .scanningPassively }
}

extension AdvertisingParameters {
  /// The activity of a controller that advertises with them.
  var activity: LEStates.Activity {
    if isConnectable { return .advertisingConnectably }
    return scanResponse.isEmpty ? .advertisingOnly : .advertisingScannably
  }
}
