import Adapter
import Bluetooth

/// A pending connection to one device.
struct PendingConnection {
  fileprivate enum State { case waiting, attempting, resting }

  fileprivate(set) var parameters: ConnectionParameters
  /// The number of attempts.
  fileprivate(set) var attempts = 0
  fileprivate var state = State.waiting
  /// Rings when the attempt is over, or the back-off has passed.
  fileprivate var alarm: (any ScheduledWork)?

  fileprivate init(_ parameters: ConnectionParameters) { self.parameters = parameters }

  /// The delay after a failed attempt: 100 ms, doubled each time, up to 6.4 s.
  fileprivate var backOff: Duration { .milliseconds(100 << min(max(attempts - 1, 0), 6)) }

  /// Drops the attempt or the back-off in progress.
  fileprivate mutating func reset() {
    alarm?.cancel()
    alarm = nil
    state = .waiting
  }
}

/// The adapter of an initiator.
protocol InitiatorHost: AnyObject {
  /// Tries to connect to an advertiser.
  func tryToConnect(to advertiser: Advertiser, at address: DeviceAddress, _ pending: PendingConnection) -> Air.Outcome
  /// A link was established.
  func connected(_ link: SimulatedLink)
  func attemptFailed(_ address: DeviceAddress, _ error: BluetoothError)
  /// The set of sought devices may have changed.
  func initiatorChanged()
}

/// The pending connections of a simulated adapter.
///
/// | State      | Input                                   | Effect                                       |
/// |------------|-----------------------------------------|----------------------------------------------|
/// | waiting    | the device advertises                   | → attempting                                 |
/// | attempting | the device's delay has passed: a link   | the host is notified → (none)                |
/// | attempting | the same: no answer                     | the host is notified → resting               |
/// | attempting | the same: it is gone                    | → waiting                                    |
/// | resting    | the back-off has passed                 | → waiting                                    |
/// | any        | cancel                                  | → (none)                                     |
/// | any        | the controller is off                   | → waiting                                    |
final class SimulatedInitiator {
  weak var host: (any InitiatorHost)?
  private var pending: [DeviceAddress: PendingConnection] = [:]
  private let scheduler: any Scheduler

  init(scheduler: any Scheduler) { self.scheduler = scheduler }

  /// The devices with a pending connection.
  var addresses: Set<DeviceAddress> { Set(pending.keys) }

  /// True while it listens for a device.
  var isListening: Bool { pending.values.contains { $0.state == .waiting } }

  /// Adds a pending connection to a device, or changes its parameters.
  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    pending[address, default: PendingConnection(parameters)].parameters = parameters
  }

  /// Cancels the pending connection.
  func cancel(_ address: DeviceAddress) { pending.removeValue(forKey: address)?.alarm?.cancel() }

  /// Drops the attempts in progress; the pending connections stay.
  func endAttempts() {
    for address in pending.keys { pending[address]?.reset() }
  }

  /// An advertisement was received: its sender is connectable now.
  /// - Parameter hears: returns true if it can be received with these PHYs.
  func heard(_ advertiser: Advertiser, hears: (Set<PHY>) -> Bool) {
    let address = advertiser.address
    guard advertiser.parameters.isConnectable, let known = pending[address], known.state == .waiting,
      hears(known.parameters.phys), let owner = advertiser.owner
    else { return }
    pending[address]?.state = .attempting
    pending[address]?.attempts += 1
    // A cancelled request cancels its alarm: this one still exists when it rings.
    pending[address]?.alarm = scheduler.schedule(after: owner.connectDelay()) { [weak self] in
      self?.conclude(advertiser, address)
    }
    host?.initiatorChanged()
  }

  private func conclude(_ advertiser: Advertiser, _ address: DeviceAddress) {
    guard let host, let known = pending[address] else { return }
    pending[address]?.alarm = nil
    switch host.tryToConnect(to: advertiser, at: address, known) {
    case .connected(let link):
      pending[address] = nil
      host.connected(link)
    case .failed(let error):
      pending[address]?.state = .resting
      pending[address]?.alarm = scheduler.schedule(after: known.backOff) { [weak self] in
        self?.pending[address]?.reset()
        self?.host?.initiatorChanged()
      }
      host.attemptFailed(address, error)
    case .gone: pending[address]?.state = .waiting
    }
    host.initiatorChanged()
  }
}
