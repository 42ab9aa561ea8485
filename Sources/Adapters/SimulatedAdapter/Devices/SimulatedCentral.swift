import Adapter
import Bluetooth
import ScenarioRules
import Scenarios

// watching   hears an advertisement that it likes → approaching
// approaching the delay has passed: connected → visiting, failed → watching
// visiting    the link ended → resting, or gone
// resting     `returnAfter` has passed → watching
// gone        never comes back

/// A phone of the scenario: it watches the advertisements of adapters, connects to a match, and works through its
/// script.
final class SimulatedCentral: Listener {
  let address: DeviceAddress
  let name: String
  let pairing: DevicePairing

  private enum State {
    case watching, approaching, resting, gone
    case visiting(PhoneVisit)
  }

  private unowned let air: Air
  private var description: PhoneDescription
  private var generator: SeededGenerator
  private var end: SimulatedLink.End
  private let privateAddress: PrivateAddress?
  private var state = State.resting
  /// The requested visit.
  private var request: Request?

  private struct Request {
    /// Returns true if a caller waits for the report.
    let isWanted: () -> Bool
    let done: (VisitReport) -> Void
  }

  /// The number of packets that a phone sends in one connection event.
  private static let packetsPerEvent = 6

  init(_ description: PhoneDescription, air: Air) {
    self.description = description
    self.air = air
    address = description.address
    name = description.name
    let pairing = DevicePairing(
      description.pairing, of: description.address, hasPrivateAddresses: description.privateAddress != nil, air: air)
    self.pairing = pairing
    privateAddress = PrivateAddress(
      of: description.address, period: description.privateAddress, air.keys.keys, in: air.context)
    generator = air.generator(Stream.behaviour.of(description.address))
    end = SimulatedLink.End(
      address: description.address, maximumMTU: description.mtu,
      signal: Signal(description.signal, generator: air.generator(Stream.signal.of(description.address))),
      party: pairing, radio: description.radio)
  }

  /// Visits once, as described.
  /// - Parameters:
  ///   - isWanted: returns true if a caller waits for the report; the phone does not begin a visit without a waiting
  ///     caller.
  ///   - done: called once, when the visit is over.
  /// - Returns: false if the phone is on a visit, or searches for an advertisement for a waiting caller.
  func visit(
    _ description: PhoneDescription, isWanted: @escaping () -> Bool, _ done: @escaping (VisitReport) -> Void
  ) -> Bool {
    switch state {
    case .approaching, .visiting: return false
    case .watching:
      guard let request, !request.isWanted() else { return false }
      air.remove(self)
    case .resting, .gone: break
    }
    self.description = description
    self.description.returnAfter = nil
    pairing.description = description.pairing
    request = Request(isWanted: isWanted, done: done)
    watch()
    return true
  }

  /// Starts watching.
  func watch() {
    state = .watching
    air.add(self)
    air.audienceChanged(to: .adapter)
  }

  func listens(to advertiser: Advertiser) -> Bool {
    guard case .watching = state else { return false }
    return advertiser.kind == .adapter && advertiser.phy == .le1M && advertiser.concerns(address)
  }

  func heard(_ advertiser: Advertiser, rssi: Int) {
    guard request?.isWanted() ?? true else { return }
    guard advertiser.parameters.isConnectable, likes(advertiser.parameters) else { return }
    state = .approaching
    let delay = description.connectDelay.draw(&generator)
    air.scheduler.schedule(after: delay) { [weak self, weak advertiser] in
      guard let self else { return }
      guard let advertiser else { return watch() }
      connect(to: advertiser)
    }
    air.audienceChanged(to: .adapter)
  }

  private func likes(_ parameters: AdvertisingParameters) -> Bool {
    let data = AdvertisingData(parsing: parameters.data).merged(with: AdvertisingData(parsing: parameters.scanResponse))
    return description.likes(data)
  }

  private func connect(to advertiser: Advertiser) {
    if let privateAddress { end.address = privateAddress.address }
    let outcome = air.connect(
      end, to: advertiser, at: advertiser.address, attempts: 1, ConnectionParameters(),
      packetsPerEvent: Self.packetsPerEvent)
    guard case .connected(let link) = outcome else { return watch() }
    let stay = description.stay.draw(&generator)
    state = .visiting(
      PhoneVisit(
        description, link: link, isBonded: link.isBonded, stay: stay, scheduler: air.scheduler, generator: generator
      ) { [weak self] in
        self?.pairing.linkEnded()
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
    guard let time = description.returnAfter?.draw(&generator) else {
      state = .gone
      return air.remove(self)
    }
    state = .resting
    air.scheduler.schedule(after: time) { [weak self] in if case .resting? = self?.state { self?.watch() } }
  }
}
