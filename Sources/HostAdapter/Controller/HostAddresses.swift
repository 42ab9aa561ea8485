import Adapter
import AdapterParts
import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Radio

/// The user of `HostAddresses`.
protocol HostAddressesOwner: AnyObject {
  /// Whether scan, advertising and connecting may pause; nil if nothing goes on any more.
  var pauseIsHarmless: Bool? { get }
  /// They go on under this address, except for unwanted ones: their ends were not told. The radio tells when they have
  /// begun again (`RadioAction.resumed`).
  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>)
  /// The controller does not work.
  func controllerFailed(_ reason: String)
}

/// The private addresses under which one controller is seen: runs `OwnAddresses` by the clock.
final class HostAddresses {
  weak var owner: (any HostAddressesOwner)?
  /// For how long an address is used, and the root of the keys; nil for no private addresses.
  var settings: PrivacySettings?

  private let activities: RadioActivities
  private let context: AdapterContext
  /// Nil while the controller is not in use.
  private var machine: OwnAddresses?
  private var alarm: (any ScheduledWork)?
  private var random = SystemRandomNumberGenerator()

  init(_ activities: RadioActivities, in context: AdapterContext) {
    self.activities = activities
    self.context = context
  }

  /// The key that resolves the addresses of a controller; nil if it has none.
  func key(of identity: DeviceAddress) -> Key128? {
    settings?.identityResolvingKey(of: identity).flatMap { Key128(littleEndian: $0) }
  }

  /// A controller was set up.
  /// - Returns: its first private address; nil if it has none.
  func begin(_ identity: DeviceAddress) -> DeviceAddress? {
    guard let settings, let key = key(of: identity) else { return nil }
    var new = OwnAddresses(key: key, rotation: settings.rotation)
    let address = new.begin(at: context.scheduler.now, using: &random)
    machine = new
    arm()
    return address
  }

  /// The controller is closed.
  func close() {
    machine = nil
    alarm?.cancel()
    alarm = nil
  }

  /// Whether this is an end for the pause, which programs need not notice.
  func withholds(_ action: RadioAction) -> Bool { machine?.withholds(action) == true }

  /// All activities have ended for the pause.
  func becameQuiet() { run { $0.quiet(using: &self.random) } }

  /// Gives the controller its first address.
  /// - Parameter done: called when it has it; never if it does not take it.
  func setFirst(_ address: DeviceAddress, _ done: @escaping () -> Void) {
    set(address) { [weak self] answer in
      if answer == .taken { return done() }
      // Without the controller there is no machine.
      if let self, machine != nil { owner?.controllerFailed("it takes no private address") }
    }
  }

  private func set(_ address: DeviceAddress, _ done: @escaping (OwnAddresses.Answer) -> Void) {
    activities.ask(CommandPacket(LESetRandomAddress { $0.address = address.value })) { answer in
      // The slot's answer for the controller is "unspecified error".
      done(answer.status.isSuccess ? .taken : answer.status.code == .unspecifiedError ? .missing : .refused)
    }
  }

  private func run(_ step: (inout OwnAddresses) -> [OwnAddresses.Action]) {
    guard var machine else { return }
    let actions = step(&machine)
    self.machine = machine
    for action in actions { perform(action) }
    arm()
  }

  private func arm() {
    alarm?.cancel()
    alarm = machine?.deadline.map { deadline in
      context.scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        run { $0.tick(at: self.context.scheduler.now) }
      }
    }
  }

  private func perform(_ action: OwnAddresses.Action) {
    switch action {
    case .pauseIsDue: pause()
    case .set(let address):
      set(address) { [weak self] answer in
        guard let self else { return }
        if answer != .taken { context.logger.warning("the controller takes no new private address") }
        run { $0.answered(answer, at: self.context.scheduler.now) }
      }
    case .resume(let address, let scanEnded, let ended):
      let isScanOver = scanEnded && activities.targets.scan == nil
      owner?.resume(
        under: address, isScanOver: isScanOver, over: ended.filter { activities.targets.advertising[$0] == nil })
      activities.run(.resume(address, activities.targets))
    case .failed: owner?.controllerFailed("it does not take its private address again")
    }
  }

  private func pause() {
    switch owner?.pauseIsHarmless {
    case true?:
      machine?.pause(at: context.scheduler.now)
      activities.run(.pause)
    case false?: machine?.postpone(at: context.scheduler.now)
    case nil: break
    }
  }
}
