import FrameworkSupport

/// The work behind a monitor: its conditions, and their events.
///
/// | Input                       | Event                                                       |
/// |-----------------------------|-------------------------------------------------------------|
/// | a condition of another kind | unmonitored, `conditionUnsupported`                         |
/// | one too many                | unmonitored, `conditionLimitExceeded`                       |
/// | the state of beacons        | satisfied or unsatisfied, if not reported or assumed before |
/// | the user may not scan       | unmonitored, `authorizationDenied`                          |
/// | the user may scan again     | none: the conditions are unknown again                      |
/// | Bluetooth is off            | none: the last state stays                                  |
final class MonitorEngine: Sendable {
  private let records = Guarded<[String: CLMonitor.Record]>([:])
  private let output: AsyncThrowingStream<CLMonitor.Event, any Error>.Continuation
  private let engine = Guarded<LocationEngine?>(nil)

  init(socket: String?, _ output: AsyncThrowingStream<CLMonitor.Event, any Error>.Continuation) {
    self.output = output
    engine[\.self] = LocationEngine(socket: socket) { [weak self] in self?.happened($0) }
  }

  func close() {
    engine[\.self]?.close()
    output.finish()
  }

  var identifiers: [String] { records.with { $0.keys.sorted() } }

  func record(for identifier: String) -> CLMonitor.Record? { records.with { $0[identifier] } }

  func add(_ condition: any CLCondition, _ identifier: String, _ state: CLMonitor.Event.State) {
    var assumed = CLMonitor.Event(identifier: identifier, state: state, date: Date())
    let isBeacon = condition is CLMonitor.BeaconIdentityCondition
    let isNew = records.with { records in
      guard records[identifier] != nil || records.count < BeaconMachine.maximumWatches else { return false }
      records[identifier] = CLMonitor.Record(condition: condition, lastEvent: assumed)
      return true
    }
    if isNew, isBeacon { return monitor(identifier) }
    assumed = CLMonitor.Event(identifier: identifier, state: .unmonitored, date: Date())
    (assumed.conditionLimitExceeded, assumed.conditionUnsupported) = (!isNew, !isBeacon)
    report(assumed)
    // The former condition with this identifier may be a beacon condition.
    if isNew { stop(identifier) }
  }

  func remove(_ identifier: String) {
    if records.with({ $0.removeValue(forKey: identifier) }) != nil { stop(identifier) }
  }

  private func monitor(_ identifier: String) {
    guard let condition = record(for: identifier)?.condition as? CLMonitor.BeaconIdentityCondition else { return }
    engine[\.self]?.change { machine, now in
      machine.monitor(identifier, condition.region, tellsEntry: true, tellsExit: true, at: now)
    }
  }

  private func stop(_ identifier: String) {
    engine[\.self]?.change { machine, _ in
      machine.stopMonitoring(identifier)
      return []
    }
  }

  /// On the engine's queue.
  func happened(_ event: LocationEngine.Event) {
    switch event {
    case .permitted(true):
      for (identifier, record) in records[\.self] where record.lastEvent.authorizationDenied {
        add(record.condition, identifier, .unknown)
      }
    case .beacons(.determined(let identifier, let state)) where state != .unknown:
      var event = CLMonitor.Event(
        identifier: identifier, state: state == .inside ? .satisfied : .unsatisfied, date: Date())
      if state == .inside, let beacon = engine[\.self]?.nearest(identifier),
        let condition = record(for: identifier)?.condition as? CLMonitor.BeaconIdentityCondition
      {
        event.refinement = CLMonitor.BeaconIdentityCondition(
          uuid: condition.uuid, major: beacon.major, minor: beacon.minor)
      }
      report(event)
    case .beacons(.monitoringFailed(let identifier, .denied)):
      var event = CLMonitor.Event(identifier: identifier, state: .unmonitored, date: Date())
      event.authorizationDenied = true
      report(event)
    case .permitted, .beacons: break
    }
  }

  /// A condition removed by the program meanwhile is no longer reported.
  private func report(_ event: CLMonitor.Event) {
    let isNews = records.with { records in
      guard let record = records[event.identifier] else { return event.conditionLimitExceeded }
      guard record.lastEvent.state != event.state else { return false }
      records[event.identifier] = CLMonitor.Record(condition: record.condition, lastEvent: event)
      return true
    }
    if isNews { output.yield(event) }
  }
}
