import Adapter
import Bluetooth
import HCI

/// Shares a controller that cannot do everything at once: compatible activities run together, others take turns, and
/// activities excluded by the present links wait for their end.
///
/// | State | Input                              | Outcome                                                        |
/// |-------|------------------------------------|----------------------------------------------------------------|
/// | any   | `update`: all wanted go together   | all granted, no deadline                                       |
/// | any   | `update`: some do not              | the first group granted, until the end of its turn             |
/// | turns | `update` after the deadline        | the next group granted                                         |
/// | turns | `update`: other activities wanted  | other groups; the turn of a leader that still leads one continues |
/// | turns | `update`: a new one comes first    | its group granted at once, for a turn of its own, if it had none for a round or the leader has led alone for one turn |
/// | turns | `update`: the leader has ended     | the group that waits for the longest time                      |
/// | any   | `update`: a link excludes some     | these are held back; the others as above                       |
/// | any   | `refused` twice beside another one | the two take turns from now on                                 |
/// | any   | then `refused` without that one    | they do not; that one is not blamed again                      |
///
/// Connecting precedes advertising, advertising precedes scanning: in this order each activity without a group leads
/// one, joined by the activities compatible with all its members. The earlier the leader, the longer its turn; each has
/// a share.
struct ActivityTurns {
  typealias Activity = LEStates.Activity

  /// The permission for an activity.
  enum Grant: Hashable {
    case now
    /// The activity has a later turn.
    case later
    /// When links have ended.
    case heldBack
  }

  /// The permission for an activity, and its slowdown: the ratio between a round and the activity's turns.
  struct Allowance: Hashable {
    var grant: Grant
    var slowdown: Double

    static let full = Allowance(grant: .now, slowdown: 1)
  }

  /// Our sides on links.
  enum LinkSide: Hashable { case central, peripheral }

  private struct Group {
    let leader: Activity
    var members: Set<Activity>
  }

  /// The combinations reported by the controller.
  private let told: LEStates
  private var states: LEStates
  /// The activity last refused beside another one, by the latter.
  private var suspects: [Activity: Activity] = [:]
  /// The conclusions from refusals: of the one activity beside the other. All scans count as one.
  private var learned: Set<[Activity]>
  /// The conclusions that were wrong.
  private var disproved: Set<[Activity]> = []
  /// True if `states` has changed.
  private var hasLearned = false
  private var wanted: Set<Activity> = []
  private var links: Set<LinkSide> = []
  private var groups: [Group] = []
  private var leader: Activity?
  private var end = Instant.zero
  /// The start of `leader`'s turn.
  private var start = Instant.zero
  /// When each had a turn last, or led alone.
  private var lastTurns: [Activity: Instant] = [:]
  /// The activities excluded by links.
  private(set) var heldBack: Set<Activity> = []

  /// - Parameters:
  ///   - states: the combinations of the controller; nil if it did not report them. A controller that combines nothing
  ///     at all did not fill the answer in.
  ///   - quirks: the conclusions of earlier times are among these.
  init(states: LEStates?, quirks: Set<Quirk> = []) {
    let states = states ?? .all
    told = states.isEmpty ? .all : states
    learned = Set(quirks.compactMap(\.excluded))
    self.states = learned.reduce(told) { $0.without($1[0], beside: $1[1]) }
  }

  /// The conclusions from refusals.
  var quirks: Set<Quirk> { Set(learned.map { .exclusion($0[0].quirkActivity, beside: $0[1].quirkActivity) }) }

  /// True if there is anything to be shared.
  var isLimited: Bool { !states.isSuperset(of: .all) || !disproved.isEmpty }

  /// The activities taking turns now; empty if all run together.
  var sharing: Set<Activity> { groups.count > 1 ? wanted.subtracting(heldBack) : [] }

  /// Sets the wanted activities and the present links, and lets time pass.
  mutating func update(wanted: Set<Activity>, links: Set<LinkSide>, at now: Instant) {
    let known = groups.reduce(into: Set()) { $0.formUnion($1.members) }
    if let leader { lastTurns[leader] = now }
    if wanted != self.wanted || links != self.links || hasLearned {
      self.wanted = wanted
      self.links = links
      hasLearned = false
      regroup()
    }
    guard groups.count > 1 else {
      lead(groups.first?.leader, at: now)
      // A lone activity has no turn: nothing waits for it.
      end = .zero
      return
    }
    let current = groups.firstIndex { $0.leader == leader }
    let next: Int
    let first = groups.prefix(current ?? 0).firstIndex { !known.contains($0.leader) && mayLead($0, at: now) }
    if let first {
      next = first
    } else if let current {
      if now < end { return }
      // A leader that was alone has the first turn.
      next = end == .zero ? current : (current + 1) % groups.count
    } else {
      let turns = groups.map { lastTurn(of: $0, at: now) ?? .zero }
      next = turns.indices.min { turns[$0] < turns[$1] } ?? 0
    }
    lead(groups[next].leader, at: now)
    end = now.advanced(by: Self.turn(of: groups[next].leader))
  }

  private mutating func lead(_ new: Activity?, at now: Instant) {
    if new != leader { (leader, start) = (new, now) }
  }

  /// When a group's leader last had a turn; nil if that is more than a round ago.
  private func lastTurn(of group: Group, at now: Instant) -> Instant? {
    lastTurns[group.leader].flatMap { $0.advanced(by: Self.length(of: groups)) > now ? $0 : nil }
  }

  /// True if a new group may lead at once: a short-lived one would repeatedly leave the others no time.
  private func mayLead(_ group: Group, at now: Instant) -> Bool {
    let hadAll = leader.map { end == .zero && start.advanced(by: Self.turn(of: $0)) <= now } ?? true
    return hadAll || lastTurn(of: group, at: now) == nil
  }

  /// The controller disallowed an activity that its states combine with the running ones (Core 5.4, Vol 4, Part E,
  /// 7.8.27): many report wrong states. Once may be chance; at the second time in a row they take turns.
  /// - Returns: true if they do from now on, so it can be tried again.
  mutating func refused(_ activity: Activity, beside running: Set<Activity>) -> Bool {
    guard !disprove(activity, running) else { return false }
    // A scan is the most likely reason, then an advertisement.
    let suspect = Activity.allCases.last { other in
      running.contains(other) && states.combines(activity, other) && states.without(activity, beside: other) != states
        && !disproved.contains([activity.kind, other.kind])
    }
    guard let suspect, suspects[activity] == suspect else {
      suspects[activity] = suspect
      return false
    }
    suspects[activity] = nil
    states = states.without(activity, beside: suspect)
    learned.insert([activity.kind, suspect.kind])
    hasLearned = true
    return true
  }

  /// Takes a conclusion back if the activity is refused without the other one as well.
  /// - Returns: true if there was one.
  private mutating func disprove(_ activity: Activity, _ running: Set<Activity>) -> Bool {
    let kinds = Set(running.map(\.kind))
    let wrong = learned.filter { $0[0] == activity.kind && !kinds.contains($0[1]) }
    guard !wrong.isEmpty else { return false }
    learned.subtract(wrong)
    disproved.formUnion(wrong)
    states = learned.reduce(told) { $0.without($1[0], beside: $1[1]) }
    suspects[activity] = nil
    hasLearned = true
    return true
  }

  /// True if an activity never pauses for another one of those wanted, nor for a link.
  func isLasting(_ activity: Activity, among wanted: Set<Activity>, links: Set<LinkSide>) -> Bool {
    !isExcluded(activity, by: links)
      && wanted.allSatisfy { $0 == activity || states.combines($0, activity) || isExcluded($0, by: links) }
  }

  /// True if the controller cannot run an activity beside another one.
  func excludes(_ activity: Activity, beside other: Activity?) -> Bool {
    other.map { !states.combines(activity, $0) } ?? false
  }

  /// The controller accepted an activity.
  mutating func accepted(_ activity: Activity) { suspects[activity] = nil }

  /// When the turn is over; nil without turns.
  func deadline(after now: Instant) -> Instant? { groups.count > 1 ? end : nil }

  /// The allowance for an activity, wanted or not.
  /// - Parameter running: the present activities; an activity incompatible with them waits until they have ended.
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

  /// The allowances for all kinds of advertisements.
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

  private func excluded(_ activity: Activity) -> Bool { isExcluded(activity, by: links) }

  private func isExcluded(_ activity: Activity, by links: Set<LinkSide>) -> Bool {
    links.contains { !states.allows(activity, besideLinkAsCentral: $0 == .central) }
  }

  private static func length(of groups: [Group]) -> Duration { groups.reduce(.zero) { $0 + turn(of: $1.leader) } }

  /// Long enough to connect a device that advertises every second, to reach a phone that scans half of the time, and to
  /// discover most advertisers.
  private static func turn(of leader: Activity) -> Duration {
    switch leader {
    case .initiating: .seconds(3)
    case .advertisingConnectably, .advertisingScannably, .advertisingOnly: .seconds(2)
    case .scanningPassively, .scanningActively: .seconds(1)
    }
  }
}

extension LEStates.Activity {
  /// A common kind for all scans.
  fileprivate var kind: Self { isScan ? .scanningActively : self }
}

extension Quirk {
  /// The activity that it excludes, and the one beside which it does.
  fileprivate var excluded: [LEStates.Activity]? {
    guard case .exclusion(let one, let other) = self else { return nil }
    let activities = [one, other].compactMap { word in
      LEStates.Activity.allCases.first { $0.kind == $0 && $0.quirkActivity == word }
    }
    return activities.count == 2 ? activities : nil
  }
}

extension LEStates.Activity {
  fileprivate var quirkActivity: Quirk.Activity {
    switch self {
    case .initiating: .connecting
    case .advertisingConnectably: .connectableAdvertising
    case .advertisingScannably: .scannableAdvertising
    case .advertisingOnly: .broadcasting
    case .scanningPassively, .scanningActively: .scanning
    }
  }
}

extension ScanParameters {
  /// The controller's activity while scanning with them.
  var activity: LEStates.Activity { isActive ? .scanningActively : .scanningPassively }
}

extension AdvertisingParameters {
  /// The controller's activity while advertising with them.
  var activity: LEStates.Activity {
    if isConnectable { return .advertisingConnectably }
    return scanResponse.isEmpty ? .advertisingOnly : .advertisingScannably
  }
}
