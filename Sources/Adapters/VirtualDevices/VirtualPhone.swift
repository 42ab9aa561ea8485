import Adapter
import Bluetooth
import Controllers
import Scenarios
import VirtualController

// watching    scans, and receives an advertisement that it likes → approaching; its caller no longer waits → gone
// approaching the delay has passed: connects → visiting, or without a link in time → watching
// visiting    the link ended → resting, or gone
// resting     `returnAfter` has passed → watching
// gone        never comes back

/// A phone of the scenario: a host of our own that scans for adapters, connects to a match, and works through its
/// script.
final class VirtualPhone {
  let address: DeviceAddress
  let name: String
  let host: ScenarioHost

  private enum State {
    case watching, approaching, resting, gone
    case visiting(PhoneVisit)
  }

  /// A visit that a test requested.
  private struct Request {
    /// Returns true if a caller waits for the report.
    let isWanted: () -> Bool
    let done: (VisitReport) -> Void
  }

  /// Maximum time for connecting to an adapter that may have stopped advertising.
  private static let connectTimeout = Duration.seconds(10)

  private unowned let world: VirtualAir
  private var description: PhoneDescription
  private var generator: SeededGenerator
  private var state = State.resting
  private var request: Request?
  /// The last connectable advertisement of each adapter, which its scan response completes.
  private var advertisements: [DeviceAddress: [UInt8]] = [:]
  private var timeout: (any ScheduledWork)?

  private var scheduler: any Scheduler { world.context.scheduler }

  init(_ description: PhoneDescription, on world: VirtualAir) {
    (self.description, self.world) = (description, world)
    (name, address) = (description.name, description.address)
    generator = world.context.generator(Stream.behaviour.of(description.address))
    host = ScenarioHost(
      ControllerModel(description.radio, address: address, isExtended: true), name: name, address: address,
      pairing: description.pairing, privateAddress: description.privateAddress, on: world)
    host.controller.receivesFrom = { [weak world] in world?.isAdapter($0) ?? false }
    let signal = Signal(
      description.signal, generator: world.context.generator(Stream.signal.of(description.address)))
    host.controller.linkSignal = { signal.next() }
    host.onReport = { [weak self] in self?.heard($0) }
    host.onLink = { [weak self] in self?.begin($0) }
  }

  /// Visits once, as described.
  /// - Returns: false if the phone is on a visit, or searches for an advertisement for a waiting caller.
  func visit(
    _ description: PhoneDescription, isWanted: @escaping () -> Bool, _ done: @escaping (VisitReport) -> Void
  ) -> Bool {
    switch state {
    case .approaching, .visiting: return false
    case .watching: guard let request, !request.isWanted() else { return false }
    case .resting, .gone: break
    }
    self.description = description
    self.description.returnAfter = nil
    host.pairing = description.pairing
    request = Request(isWanted: isWanted, done: done)
    watch()
    return true
  }

  /// Starts watching.
  func watch() {
    state = .watching
    advertisements = [:]
    host.setPower(true)
    host.adapter.setScan(ScanParameters(isActive: true))
  }

  private func heard(_ report: AdvertisingReport) {
    guard case .watching = state, let address = report.address else { return }
    guard request?.isWanted() ?? true else { return giveUp() }
    if !report.isScanResponse { advertisements[address] = report.isConnectable ? report.data : nil }
    guard let data = advertisements[address] else { return }
    let response = AdvertisingData(parsing: report.isScanResponse ? report.data : [])
    guard description.likes(AdvertisingData(parsing: data).merged(with: response)) else { return }
    state = .approaching
    host.adapter.setScan(nil)
    scheduler.schedule(after: description.connectDelay.draw(&generator)) { [weak self] in self?.connect(to: address) }
  }

  /// The caller no longer waits for the visit.
  private func giveUp() {
    request = nil
    state = .gone
    host.adapter.setScan(nil)
  }

  private func connect(to address: DeviceAddress) {
    host.adapter.connect(to: address, ConnectionParameters())
    timeout = scheduler.schedule(after: Self.connectTimeout) { [weak self] in
      self?.host.adapter.cancelConnect(to: address)
      self?.watch()
    }
  }

  private func begin(_ link: any Link) {
    timeout?.cancel()
    state = .visiting(
      PhoneVisit(
        description, link: link, isBonded: host.isBonded, stay: description.stay.draw(&generator),
        scheduler: scheduler, generator: generator
      ) { [weak self] in
        self?.report()
        self?.rest()
      })
  }

  private func report() {
    guard case .visiting(let visit) = state, let request else { return }
    self.request = nil
    request.done(visit.report)
  }

  private func rest() {
    guard let time = description.returnAfter?.draw(&generator) else { return state = .gone }
    state = .resting
    scheduler.schedule(after: time) { [weak self] in if case .resting? = self?.state { self?.watch() } }
  }
}
