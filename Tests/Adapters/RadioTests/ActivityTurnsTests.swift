import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct ActivityTurnsTests {
  typealias Activity = LEStates.Activity

  /// A controller that combines all but these bits.
  private func turns(without bits: Int...) -> ActivityTurns {
    ActivityTurns(states: LEStates.all.subtracting(LEStates(rawValue: bits.reduce(0) { $0 | 1 << UInt64($1) })))
  }

  private func granted(_ turns: ActivityTurns, _ activities: Set<Activity>) -> Set<Activity> {
    activities.filter { turns.allowance(for: $0).grant == .now }
  }

  @Test func whatGoesTogetherTakesNoTurns() {
    for states: LEStates? in [nil, [], .all] {
      var turns = ActivityTurns(states: states)
      #expect(!turns.isLimited)
      let wanted: Set<Activity> = [.initiating, .advertisingConnectably, .scanningActively]
      turns.update(wanted: wanted, links: [.central, .peripheral], at: .zero)
      #expect(granted(turns, wanted) == wanted)
      #expect(turns.deadline(after: .zero) == nil && turns.sharing.isEmpty && turns.heldBack.isEmpty)
    }
  }

  @Test func connectingAndScanningTakeTurns() {
    var turns = turns(without: 22, 23)
    let wanted: Set<Activity> = [.initiating, .advertisingConnectably, .scanningActively]
    var seconds: [Activity: Int] = [:]
    for second in 0..<40 {
      let now = Instant.zero.advanced(by: .seconds(second))
      turns.update(wanted: wanted, links: [], at: now)
      let active = granted(turns, wanted)
      #expect(!active.isSuperset(of: [.initiating, .scanningActively]))
      #expect(active.contains(.advertisingConnectably), "it goes with both")
      for activity in active { seconds[activity, default: 0] += 1 }
    }
    #expect(seconds == [.initiating: 30, .scanningActively: 10, .advertisingConnectably: 40])
    #expect(turns.sharing == wanted)
    #expect(turns.allowance(for: .scanningActively).slowdown == 4)
    #expect(turns.allowance(for: .advertisingConnectably).slowdown == 1)
  }

  @Test("Connecting has the largest share, then advertising, then scanning; each has one")
  func shares() {
    var turns = turns(without: 10, 14, 22, 23, 32)
    let wanted: Set<Activity> = [.initiating, .advertisingConnectably, .scanningPassively]
    var order: [Activity] = []
    for second in 0..<12 {
      turns.update(wanted: wanted, links: [], at: .zero.advanced(by: .seconds(second)))
      order += granted(turns, wanted)
    }
    let round: [Activity] = [
      .initiating, .initiating, .initiating, .advertisingConnectably, .advertisingConnectably, .scanningPassively,
    ]
    #expect(order == round + round)
    #expect(turns.allowance(for: .advertisingConnectably).slowdown == 3)
  }

  @Test func linksHoldBackWhatIsImpossibleBesideThem() {
    var turns = turns(without: 28, 35, 38, 41)
    let wanted: Set<Activity> = [.initiating, .advertisingConnectably, .advertisingOnly]
    turns.update(wanted: wanted, links: [], at: .zero)
    #expect(granted(turns, wanted) == wanted)
    turns.update(wanted: wanted, links: [.peripheral], at: .zero)
    #expect(granted(turns, wanted) == [.advertisingOnly])
    #expect(turns.heldBack == [.initiating, .advertisingConnectably])
    #expect(turns.allowance(for: .initiating).grant == .heldBack)
    turns.update(wanted: wanted, links: [], at: .zero)
    #expect(granted(turns, wanted) == wanted)
  }

  @Test func aTurnGoesOnWhenOthersComeAndGo() {
    var turns = turns(without: 22, 23)
    turns.update(wanted: [.scanningActively], links: [], at: .zero)
    #expect(turns.deadline(after: .zero) == nil)
    let both: Set<Activity> = [.scanningActively, .initiating]
    turns.update(wanted: both, links: [], at: .zero)
    #expect(granted(turns, both) == [.initiating], "the scan had its time")
    turns.update(wanted: both, links: [.central], at: .zero.advanced(by: .seconds(1)))
    #expect(turns.deadline(after: .zero) == .zero.advanced(by: .seconds(3)))
    #expect(granted(turns, both) == [.initiating])
    turns.update(wanted: [.scanningActively], links: [.central], at: .zero.advanced(by: .seconds(2)))
    #expect(granted(turns, both).contains(.scanningActively))
  }

  @Test("What remains of a connection's turn is not the scan's: the next connection begins at once (radio F2)")
  func theRestOfATurnIsNobodys() {
    var turns = turns(without: 22, 23)
    let both: Set<Activity> = [.scanningActively, .initiating]
    func update(_ wanted: Set<Activity>, at milliseconds: Int) -> Set<Activity> {
      turns.update(wanted: wanted, links: [], at: .zero.advanced(by: .milliseconds(milliseconds)))
      return granted(turns, wanted)
    }
    for start in stride(from: 0, to: 20_000, by: 1500) {
      #expect(update([.scanningActively], at: start) == [.scanningActively])
      #expect(update(both, at: start + 100) == [.initiating])
      #expect(update([.scanningActively], at: start + 300) == [.scanningActively])
    }
  }

  @Test("An activity that comes and goes leaves the others their turns (radio H4)")
  func comingAndGoing() {
    var turns = turns(without: 10, 14, 22, 23, 32)
    var tenths: [Activity: Int] = [:]
    for tenth in 0..<120 {
      var wanted: Set<Activity> = [.advertisingConnectably, .scanningPassively]
      if tenth / 3 % 2 == 0 { wanted.insert(.initiating) }
      turns.update(wanted: wanted, links: [], at: .zero.advanced(by: .milliseconds(100 * tenth)))
      for activity in granted(turns, wanted) { tenths[activity, default: 0] += 1 }
    }
    #expect(Set(tenths.keys) == [.initiating, .advertisingConnectably, .scanningPassively])
    #expect(tenths[.scanningPassively, default: 0] >= 10, "two rounds")
  }

  @Test("A connection that is wanted again soon waits for one turn of the scan, later for none (radio H4)")
  func wantedAgain() {
    let both: Set<Activity> = [.scanningActively, .initiating]
    for (milliseconds, isAtOnce) in [(500, false), (4300, true)] {
      var turns = turns(without: 22, 23)
      func update(_ wanted: Set<Activity>, at milliseconds: Int) -> Set<Activity> {
        turns.update(wanted: wanted, links: [], at: .zero.advanced(by: .milliseconds(milliseconds)))
        return granted(turns, wanted)
      }
      #expect(update(both, at: 0) == [.initiating])
      #expect(update([.scanningActively], at: 300) == [.scanningActively])
      #expect(update(both, at: milliseconds) == (isAtOnce ? [.initiating] : [.scanningActively]))
      #expect(update(both, at: milliseconds + 1000) == [.initiating])
    }
  }

  @Test("A conclusion that was wrong is taken back, and not made again (radio H3)")
  func wrongConclusion() {
    var turns = turns()
    func isBelieved(beside others: Set<Activity>) -> Bool { turns.refused(.initiating, beside: others) }
    #expect(!isBelieved(beside: [.scanningActively]))
    #expect(isBelieved(beside: [.scanningActively]))
    #expect(turns.allowance(for: .initiating, beside: [.scanningPassively]).grant == .later)
    // Without the scan too.
    #expect(!isBelieved(beside: []))
    #expect(turns.allowance(for: .initiating, beside: [.scanningPassively]).grant == .now)
    for _ in 0..<3 { #expect(!isBelieved(beside: [.scanningActively])) }
  }

  @Test func aNewActivityOvertakesThoseBehindIt() {
    let connecting: Set<Activity> = [.initiating], advertising: Set<Activity> = [.advertisingConnectably]
    let scanning: Set<Activity> = [.scanningActively]
    var turns = turns(without: 14, 22, 23, 32)
    func update(_ wanted: Set<Activity>, at milliseconds: Int) -> Set<Activity> {
      turns.update(wanted: wanted, links: [], at: .zero.advanced(by: .milliseconds(milliseconds)))
      return granted(turns, wanted)
    }
    _ = update(advertising.union(scanning), at: 0)
    #expect(update(advertising.union(scanning), at: 2000) == scanning)
    #expect(update(connecting.union(advertising).union(scanning), at: 2100) == connecting, "the scan's turn had begun")
    // Connecting has a whole turn, and the others theirs.
    #expect(update(connecting.union(advertising).union(scanning), at: 5099) == connecting)
    #expect(update(connecting.union(advertising).union(scanning), at: 5100) == advertising)
    // A later one in the order waits.
    var later = self.turns(without: 14, 22, 23, 32)
    later.update(wanted: connecting.union(advertising), links: [], at: .zero)
    later.update(wanted: connecting.union(advertising).union(scanning), links: [], at: .zero.advanced(by: .seconds(1)))
    #expect(granted(later, scanning.union(connecting)) == connecting)
  }

  @Test func whatStillRunsIsWaitedFor() {
    var turns = turns(without: 22, 23)
    turns.update(wanted: [.scanningActively, .initiating], links: [], at: .zero)
    #expect(turns.allowance(for: .initiating, beside: [.scanningActively]).grant == .later)
    #expect(turns.allowance(for: .initiating, beside: [.initiating, .scanningActively]).grant == .now)
    #expect(turns.allowance(for: .initiating, beside: [.advertisingConnectably]).grant == .now)
  }

  /// The bits that BlueZ's kernel tests as well: le_states[4] & 0x08, & 0x40, and so on.
  @Test func bitsOfTheSpecification() {
    func only(_ bit: Int) -> LEStates { LEStates(rawValue: 1 << UInt64(bit)) }
    #expect(only(22).combines(.initiating, .scanningPassively) && only(22).combines(.scanningPassively, .initiating))
    #expect(only(23).combines(.scanningActively, .initiating))
    #expect(only(32).combines(.advertisingConnectably, .initiating))
    #expect(only(35).allows(.advertisingConnectably, besideLinkAsCentral: true))
    #expect(only(38).allows(.advertisingConnectably, besideLinkAsCentral: false))
    #expect(only(41).allows(.initiating, besideLinkAsCentral: false))
    #expect(only(28).allows(.initiating, besideLinkAsCentral: true))
    for bit in 0..<42 {
      let pairs = LEStates.Activity.allCases.flatMap { one in
        LEStates.Activity.allCases.filter { other in
          one != other && !(one.isAdvertising && other.isAdvertising) && only(bit).combines(one, other)
        }
      }
      #expect(pairs.count <= 2, "bit \(bit) is one pair, in both orders")
    }
  }

  @Test("What earlier refusals showed holds from the start, and is taken back if it is wrong")
  func learnedBefore() {
    let quirk = Quirk.exclusion(.connecting, beside: .scanning)
    var turns = ActivityTurns(states: .all, quirks: [quirk, .silence])
    #expect(turns.isLimited && turns.quirks == [quirk])
    #expect(turns.excludes(.initiating, beside: .scanningPassively))
    #expect(!turns.excludes(.initiating, beside: .advertisingConnectably))
    let isBelieved = turns.refused(.initiating, beside: [])
    #expect(!isBelieved && turns.quirks.isEmpty && !turns.excludes(.initiating, beside: .scanningPassively))
  }

  @Test func refusalsAreQuirks() {
    var turns = ActivityTurns(states: nil)
    let believed = [1, 2].map { _ in turns.refused(.initiating, beside: [.scanningActively]) }
    #expect(believed == [false, true])
    #expect(turns.quirks == [.exclusion(.connecting, beside: .scanning)])
  }
}

extension LEStates.Activity {
  fileprivate var isAdvertising: Bool { !isScan && self != .initiating }
}
