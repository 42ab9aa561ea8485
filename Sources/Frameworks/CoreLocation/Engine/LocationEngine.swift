import Beacons
import BledRPC
import Bluetooth
import CoreBluetooth

/// The work behind a location manager: the scan for its beacons, and the clock of `BeaconMachine`.
final class LocationEngine: @unchecked Sendable {
  /// The news for the manager, on the engine's queue.
  enum Event {
    /// True if the policy permits this user to scan, each time the daemon reports it.
    case permitted(Bool)
    case beacons(BeaconMachine.Event)
  }

  /// The maximum number of alternatives in a filter of the daemon.
  private static let maximumFilters = 16

  private let scan: ScanEngine
  private let onEvent: (Event) -> Void
  // Used on the queue of `scan` alone.
  private var machine = BeaconMachine()
  private var isPermitted = true
  private var scanned: Set<BeaconMachine.Region> = []
  /// When the clock wakes, if it does.
  private var alarm: Instant?

  /// - Parameters:
  ///   - socket: The daemon's; nil: the one named in the environment.
  ///   - onEvent: Receives the events.
  init(socket: String?, onEvent: @escaping (Event) -> Void) {
    scan = ScanEngine(socket: socket)
    self.onEvent = onEvent
    scan.onEvent = { [weak self] in self?.happened($0) }
    scan.start()
  }

  /// The manager was released. Any thread.
  func close() { scan.close() }

  /// Changes the watched regions and constraints. Any thread.
  func change(_ body: @escaping (inout BeaconMachine, Instant) -> [BeaconMachine.Event]) {
    scan.run { [weak self] in
      guard let self else { return }
      deliver(body(&machine, .now))
      settle()
    }
  }

  /// A monitored region's nearest beacon. On the engine's queue.
  func nearest(_ identifier: String) -> IBeacon? { machine.nearest(identifier) }

  private func happened(_ event: ScanEngine.Event) {
    switch event {
    case .permitted(let isPermitted):
      self.isPermitted = isPermitted
      onEvent(.permitted(isPermitted))
    case .changed(let state):
      deliver(machine.changed(.init(state, isPermitted: isPermitted), at: .now))
    case .decided(let error):
      guard scan.state == .poweredOn else { break }
      deliver(machine.changed(error.map { .unusable(.unavailable($0.message)) } ?? .usable, at: .now))
    case .heard(let report):
      for beacon in AdvertisingData(parsing: report.data.octets).manufacturerData.compactMap(IBeacon.init) {
        deliver(machine.received(beacon, rssi: report.rssi, at: .now))
      }
    }
    settle()
  }

  private func deliver(_ events: [BeaconMachine.Event]) {
    for event in events { onEvent(.beacons(event)) }
  }

  /// The scan and the clock are as the machine wants them.
  private func settle() {
    let regions = machine.regions
    if regions != scanned {
      scanned = regions
      scan.scan(regions.isEmpty ? nil : Self.parameters(for: regions))
    }
    guard let deadline = machine.deadline, alarm.map({ deadline < $0 }) ?? true else { return }
    alarm = deadline
    let wait = max(Instant.now.duration(to: deadline).wholeNanoseconds, 0)
    scan.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait))) { [weak self] in
      guard let self, alarm == deadline else { return }
      alarm = nil
      deliver(machine.tick(at: .now))
      settle()
    }
  }

  private static func parameters(for regions: Set<BeaconMachine.Region>) -> ScanStart.Params {
    var filters = regions.map { region in
      let (data, mask) = region.pattern
      return ScanStart.Manufacturer(company: IBeacon.company, data: HexBytes(data), mask: HexBytes(mask))
    }
    // The machine chooses among all iBeacons then.
    if filters.count > maximumFilters { filters = [.init(company: IBeacon.company, data: HexBytes([0x02, 0x15]))] }
    return .init(duplicates: true, active: false, filters: filters.map { .init(manufacturer: $0) })
  }
}

extension BeaconMachine.Bluetooth {
  fileprivate init(_ state: CBManagerState, isPermitted: Bool) {
    self =
      switch state {
      case .unknown, .resetting: .paused
      case .poweredOn: .usable
      case .unauthorized where isPermitted: .unusable(.unavailable("bled may not use the Bluetooth adapter"))
      case .unauthorized: .unusable(.denied)
      case .poweredOff: .unusable(.unavailable("the Bluetooth adapter is off"))
      case .unsupported: .unusable(.unavailable("there is no Bluetooth adapter, or bled does not run"))
      @unknown default: .paused
      }
  }
}

extension Instant {
  /// The present time by Dispatch's clock.
  static var now: Instant { Instant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
}
