import Beacons
import Bluetooth

/// A location manager's regions and constraints.
///
/// | Monitored region | Input                                   | Then                                                  |
/// |------------------|-----------------------------------------|-------------------------------------------------------|
/// | unknown, outside | one of its beacons                      | `determined`, `entered` → inside                      |
/// | unknown          | none of them for five seconds           | `determined` → outside                                |
/// | inside           | none of them for the timeout of ranging | `determined`, `exited` → outside                      |
/// | any              | asked                                   | `determined`, once the state is known or cannot be,   |
/// |                  |                                         | after five seconds at the latest                      |
/// | any              | Bluetooth pauses, and can be used again | the state stays, and the timeout begins anew          |
/// | any              | Bluetooth cannot be used                | `monitoringFailed`, once; it continues with Bluetooth |
///
/// For each ranged constraint there is a `ranged` each second while Bluetooth can be used, and one `rangingFailed` when
/// it cannot.
struct BeaconMachine {
  /// The beacons to monitor or range.
  typealias Region = BeaconRanging.Region

  /// The state of beacon reception.
  enum Bluetooth: Equatable {
    /// Not known yet, or about to change.
    case paused
    case usable
    case unusable(Failure)
  }

  /// The reason why beacons are not watched.
  enum Failure: Equatable {
    /// The policy of bled does not permit this user to scan.
    case denied
    /// No adapter is on; the text has details.
    case unavailable(String)
    /// There are `maximumWatches` already.
    case limit
  }

  enum State { case unknown, inside, outside }

  enum Event: Equatable {
    case monitoringStarted(String)
    case monitoringFailed(String, Failure)
    case entered(String)
    case exited(String)
    case determined(String, State)
    /// The beacons in reach, the nearest first.
    case ranged(Region, [BeaconRanging.Ranged])
    case rangingFailed(Region, Failure)
  }

  private struct Monitor {
    var ranging: BeaconRanging
    var tellsEntry: Bool
    var tellsExit: Bool
    var state = State.unknown
    /// The beginning of uninterrupted reception; nil: not now.
    var since: Instant?
    var hasStarted = false
    /// The end of the program's wait for the state.
    var asked: Instant?

    /// When its beacons count as lost, unless one is received before.
    var end: Instant? {
      switch state {
      case .unknown: since?.advanced(by: BeaconMachine.firstLook)
      case .inside: ranging.deadline ?? since?.advanced(by: BeaconRanging.timeout)
      case .outside: nil
      }
    }
  }

  /// Maximum monitored regions, and maximum ranged constraints.
  static let maximumWatches = 20
  /// The limit for a region's first state: beacons send ten times a second, few less than once in five seconds.
  private static let firstLook = Duration.seconds(5)
  /// The time between two lists of ranged beacons.
  private static let pace = Duration.seconds(1)

  private var bluetooth = Bluetooth.paused
  private var monitors: [String: Monitor] = [:]
  private var ranged: [Region: BeaconRanging] = [:]
  /// When the next lists of ranged beacons are due.
  private var nextLists: Instant?

  /// The beacons to scan for.
  var regions: Set<Region> { Set(monitors.values.map(\.ranging.region)).union(ranged.keys) }

  /// When `tick` has something to do.
  var deadline: Instant? {
    (monitors.values.flatMap { [$0.end, $0.asked] } + [nextLists]).compactMap(\.self).min()
  }

  // MARK: Monitoring

  /// Monitors a region's entry and exit; a region with the same identifier is replaced.
  mutating func monitor(
    _ identifier: String, _ region: Region, tellsEntry: Bool, tellsExit: Bool, at now: Instant
  ) -> [Event] {
    guard monitors[identifier] != nil || monitors.count < Self.maximumWatches else {
      return [.monitoringFailed(identifier, .limit)]
    }
    monitors[identifier] = Monitor(
      ranging: BeaconRanging(region: region), tellsEntry: tellsEntry, tellsExit: tellsExit)
    switch bluetooth {
    case .paused: return []
    case .usable: return begin(identifier, at: now)
    case .unusable(let failure): return [.monitoringFailed(identifier, failure)]
    }
  }

  /// Ends monitoring.
  mutating func stopMonitoring(_ identifier: String) { monitors[identifier] = nil }

  /// The program requests a region's state. A region that is not monitored has none.
  mutating func ask(_ identifier: String, at now: Instant) -> [Event] {
    guard let monitor = monitors[identifier], monitor.state == .unknown else {
      return [.determined(identifier, monitors[identifier]?.state ?? .unknown)]
    }
    if case .unusable = bluetooth { return [.determined(identifier, .unknown)] }
    if monitor.asked == nil { monitors[identifier]?.asked = now.advanced(by: Self.firstLook) }
    return []
  }

  /// A monitored region's nearest beacon.
  func nearest(_ identifier: String) -> IBeacon? { monitors[identifier]?.ranging.beacons.first?.beacon }

  // MARK: Ranging

  /// Begins lists of the beacons in range.
  mutating func range(_ region: Region, at now: Instant) -> [Event] {
    guard ranged[region] == nil else { return [] }
    guard ranged.count < Self.maximumWatches else { return [.rangingFailed(region, .limit)] }
    ranged[region] = BeaconRanging(region: region)
    if case .unusable(let failure) = bluetooth { return [.rangingFailed(region, failure)] }
    if bluetooth == .usable, nextLists == nil { nextLists = now.advanced(by: Self.pace) }
    return []
  }

  /// Ends the lists.
  mutating func stopRanging(_ region: Region) {
    ranged[region] = nil
    if ranged.isEmpty { nextLists = nil }
  }

  // MARK: Bluetooth

  /// Bluetooth can be used from now on, or no longer.
  mutating func changed(_ new: Bluetooth, at now: Instant) -> [Event] {
    guard new != bluetooth else { return [] }
    bluetooth = new
    let identifiers = monitors.keys.sorted()
    switch new {
    case .usable:
      nextLists = ranged.isEmpty ? nil : now.advanced(by: Self.pace)
      for region in ranged.keys { ranged[region] = BeaconRanging(region: region) }
      return identifiers.flatMap { begin($0, at: now) }
    case .paused:
      pause()
      return []
    case .unusable(let failure):
      pause()
      var events = identifiers.map { Event.monitoringFailed($0, failure) }
      for identifier in identifiers { events += settleQuestion(identifier) }
      return events + ranged.keys.sorted(by: Self.isBefore).map { .rangingFailed($0, failure) }
    }
  }

  /// A beacon was received.
  mutating func received(_ beacon: IBeacon, rssi: Int?, at now: Instant) -> [Event] {
    guard bluetooth == .usable else { return [] }
    for region in ranged.keys where region.contains(beacon) {
      _ = ranged[region]?.received(beacon, rssi: rssi, at: now)
    }
    var events: [Event] = []
    for identifier in monitors.keys.sorted() where monitors[identifier]?.ranging.region.contains(beacon) == true {
      _ = monitors[identifier]?.ranging.received(beacon, rssi: rssi, at: now)
      events += settle(identifier, .inside)
    }
    return events
  }

  /// Time has passed.
  mutating func tick(at now: Instant) -> [Event] {
    var events: [Event] = []
    for identifier in monitors.keys.sorted() {
      _ = monitors[identifier]?.ranging.tick(at: now)
      if let end = monitors[identifier]?.end, end <= now { events += settle(identifier, .outside) }
      if let asked = monitors[identifier]?.asked, asked <= now { events += settleQuestion(identifier) }
    }
    guard let nextLists, nextLists <= now else { return events }
    // Late lists are omitted.
    self.nextLists = max(nextLists.advanced(by: Self.pace), now)
    for region in ranged.keys.sorted(by: Self.isBefore) {
      _ = ranged[region]?.tick(at: now)
      events.append(.ranged(region, ranged[region]?.beacons ?? []))
    }
    return events
  }

  /// The program waits for the state no longer.
  private mutating func settleQuestion(_ identifier: String) -> [Event] {
    guard monitors[identifier]?.asked != nil else { return [] }
    monitors[identifier]?.asked = nil
    return [.determined(identifier, .unknown)]
  }

  /// The order of lists: by owner, then by numbers, any number first.
  private static func isBefore(_ left: Region, _ right: Region) -> Bool {
    func numbers(_ number: UInt16?) -> UInt64 { number.map { UInt64($0) + 1 } ?? 0 }
    return [left.uuid.high, left.uuid.low, numbers(left.major), numbers(left.minor)].lexicographicallyPrecedes(
      [right.uuid.high, right.uuid.low, numbers(right.major), numbers(right.minor)])
  }

  private mutating func begin(_ identifier: String, at now: Instant) -> [Event] {
    guard let monitor = monitors[identifier] else { return [] }
    monitors[identifier]?.since = now
    monitors[identifier]?.hasStarted = true
    return monitor.hasStarted ? [] : [.monitoringStarted(identifier)]
  }

  /// Reception has ended: earlier beacons do not count later.
  private mutating func pause() {
    nextLists = nil
    for (identifier, monitor) in monitors {
      monitors[identifier]?.since = nil
      monitors[identifier]?.ranging = BeaconRanging(region: monitor.ranging.region)
    }
  }

  /// A region's state is known.
  private mutating func settle(_ identifier: String, _ new: State) -> [Event] {
    guard let monitor = monitors[identifier], monitor.state != new else { return [] }
    let tells = new == .inside ? monitor.tellsEntry : monitor.tellsExit && monitor.state == .inside
    let determines = new == .inside ? monitor.tellsEntry : monitor.tellsExit
    monitors[identifier]?.state = new
    monitors[identifier]?.asked = nil
    return (determines || monitor.asked != nil ? [.determined(identifier, new)] : [])
      + (tells ? [new == .inside ? .entered(identifier) : .exited(identifier)] : [])
  }
}
