import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc

/// The output of `bleshell range`: on a terminal a table of the beacons, otherwise a line of JSON for each event.
@MainActor final class RangeView {
  /// An event as JSON.
  private struct Line: Encodable {
    let event: String
    let uuid: String
    let major: UInt16
    let minor: UInt16
    let proximity: String
    /// In metres, from the signal strength.
    let distance: Double?
    /// The average, in dBm.
    let rssi: Double?
    let measuredPower: Int8
    /// The number of beacons of the region in reach after it: the region is entered with the first and left with the
    /// last.
    let inReach: Int
    let time: Double
  }

  private struct Row {
    var ranged: BeaconRanging.Ranged
    var entered: Double
    var exited: Double?
  }

  /// Maximum shown beacons that are no longer in reach.
  private static let maximumExited = 32

  private let output: Output
  private let live: LiveLines?
  private let start = ContinuousClock.now
  private var ranging: BeaconRanging
  private var rows: [Row] = []

  init(region: BeaconRanging.Region, output: Output) {
    self.output = output
    live = output.isTerminal && Output.drawsScreens && !output.json ? LiveLines(output: output) : nil
    ranging = BeaconRanging(region: region)
    draw()
  }

  /// A device was received.
  func received(_ report: ScanReport.Params) throws {
    for beacon in AdvertisingData(parsing: report.data.octets).manufacturerData.compactMap(IBeacon.init) {
      try show(ranging.received(beacon, rssi: report.rssi, at: now))
    }
  }

  /// Notices which beacons are silent, until it is cancelled.
  func watchSilence() async throws {
    while true {
      // Reports received meanwhile have a later deadline.
      let deadline = ranging.deadline ?? now.advanced(by: BeaconRanging.timeout)
      try await Task.sleep(for: now.duration(to: deadline))
      try show(ranging.tick(at: now))
    }
  }

  /// Leaves the table as it is at the end.
  func finish() {
    guard let live else { return }
    live.erase()
    table.lines(output).forEach(output.line)
    if rows.isEmpty { output.problem("no such beacon was heard") }
  }

  private var now: Instant { Instant.zero.advanced(by: ContinuousClock.now - start) }

  private func show(_ events: [BeaconRanging.Event]) throws {
    let time = Date().timeIntervalSince1970
    for event in events {
      switch event {
      case .entered(let ranged):
        rows.removeAll { $0.ranged.isSame(as: ranged) }
        rows.append(Row(ranged: ranged, entered: time))
        try report("enter", ranged, time)
      case .moved(let ranged): try report("proximity", ranged, time)
      case .exited(let ranged):
        for index in rows.indices where rows[index].ranged.isSame(as: ranged) { rows[index].exited = time }
        try report("exit", ranged, time)
      }
    }
    while rows.count(where: { $0.exited != nil }) > Self.maximumExited {
      guard let oldest = rows.firstIndex(where: { $0.exited != nil }) else { break }
      rows.remove(at: oldest)
    }
    if !events.isEmpty || live?.isDue == true { draw() }
  }

  private func report(_ event: String, _ ranged: BeaconRanging.Ranged, _ time: Double) throws {
    guard live == nil else { return }
    try output.object(
      Line(
        event: event, uuid: "\(ranged.beacon.uuid)", major: ranged.beacon.major, minor: ranged.beacon.minor,
        proximity: ranged.proximity.rawValue, distance: ranged.distance, rssi: ranged.rssi.map(rounded),
        measuredPower: ranged.beacon.measuredPower, inReach: ranging.beacons.count, time: time))
  }

  private func draw() {
    guard let live else { return }
    live.draw(
      table.lines(output),
      "ranging, \(ranging.beacons.count) in reach; Ctrl-C stops")
  }

  private var table: Table {
    var table = Table(
      .init(heading: "MAJOR", right: true), .init(heading: "MINOR", right: true), .init(heading: "PROXIMITY"),
      .init(heading: "DISTANCE", right: true), .init(heading: "RSSI", right: true), .init(heading: "ENTERED"),
      .init(heading: "EXITED"))
    for ranged in ranging.beacons {
      guard let row = rows.first(where: { $0.ranged.isSame(as: ranged) }) else { continue }
      table.add(ranged, row.entered, exited: nil)
    }
    for row in rows.reversed() where row.exited != nil { table.add(row.ranged, row.entered, exited: row.exited) }
    return table
  }
}

extension Table {
  @MainActor
  fileprivate mutating func add(_ ranged: BeaconRanging.Ranged, _ entered: Double, exited: Double?) {
    func clock(_ time: Double) -> String { clockText(Date(timeIntervalSince1970: time)) }
    let isGone = exited != nil
    rows.append([
      .init(text: "\(ranged.beacon.major)"), .init(text: "\(ranged.beacon.minor)"),
      .init(text: isGone ? "gone" : ranged.proximity.rawValue, style: isGone ? .dim : .bold),
      .init(text: isGone ? "-" : ranged.distance.map { "\($0) m" } ?? "-"),
      .init(text: isGone ? "-" : ranged.rssi.map { "\(Int(nearest: $0))" } ?? "-"),
      .init(text: clock(entered), style: .dim), .init(text: exited.map(clock) ?? "-", style: .dim),
    ])
  }
}

extension BeaconRanging.Ranged {
  fileprivate func isSame(as other: Self) -> Bool {
    beacon.uuid == other.beacon.uuid && beacon.major == other.beacon.major && beacon.minor == other.beacon.minor
  }

  /// In metres, as in free space: the signal is 6 dB weaker at twice the distance.
  fileprivate var distance: Double? { loss.map { rounded(pow(10, $0 / 20)) } }
}

/// With one decimal place.
private func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }
