import Adapter
import Bluetooth
import DequeModule
import Logging
import Scenarios
import VirtualController

/// The air of scenarios on which every party is a controller: the daemon's adapters, and hosts of our own as devices
/// and phones. A device that only advertises is an entry of the air.
package final class VirtualAir {
  /// The daemon's adapters.
  package private(set) var adapters: [VirtualAdapter] = []
  let context: SimulationContext
  let air: Air
  let logger: Logger
  /// For the hosts of devices and phones: a device without power is no failure of an adapter.
  let quiet = Logger(label: "bled.virtual.devices") { _ in SwiftLogNoOpLogHandler() }
  /// The keys of the devices and phones.
  private(set) var keys = DeviceKeys(seed: 0)
  private var devices: [any CommandedDevice] = []
  private var phones: [VirtualPhone] = []
  /// The hosts that are to be started.
  private var starts: Deque<() -> Void> = []

  /// Makes an empty air.
  /// - Parameters:
  ///   - scheduler: the source of all time.
  ///   - seed: the source of all chance, and of the secrets of pairings.
  package init(scheduler: any Scheduler, seed: UInt64, logger: Logger) {
    context = SimulationContext(scheduler: scheduler, seed: seed)
    air = Air(scheduler: scheduler, seed: seed)
    self.logger = logger
    air.onFault = { logger.error("a host on the air broke a rule: \($0)") }
  }

  /// Makes an adapter, and puts its scenario on the air.
  /// - Parameter id: its name for users.
  package func makeAdapter(_ id: String, _ scenario: Scenario) -> VirtualAdapter {
    let adapter = VirtualAdapter(id, scenario, on: self)
    adapters.append(adapter)
    populate(scenario)
    for event in scenario.events {
      context.scheduler.schedule(after: event.time) { [weak self, weak adapter] in
        if let self, let adapter { happen(event, adapter) }
      }
    }
    return adapter
  }

  private func happen(_ event: ScenarioEvent, _ adapter: VirtualAdapter) {
    switch (event.action, event.device) {
    case (.vanish, nil): adapter.vanish()
    case (.comeBack, nil): adapter.comeBack()
    case (.vanish, let name?): setPresent(false, name)
    case (.comeBack, let name?): setPresent(true, name)
    case (.loseKeys, let name?): loseKeys(name)
    case (.loseKeys, nil): break
    case (.powerOff, _): adapter.host.setPower(false) { _ in }
    case (.powerOn, _): adapter.host.setPower(true) { _ in }
    }
  }

  private func setPresent(_ isPresent: Bool, _ name: String) {
    for device in devices where device.name.hasSameOctets(as: name) { device.setPresent(isPresent) }
  }

  /// Starts a host in its turn: the many of a large scenario do not delay an adapter.
  func startLater(_ start: @escaping () -> Void) {
    starts.append(start)
    if starts.count == 1 { startNext() }
  }

  private func startNext() {
    context.scheduler.schedule(after: .zero) { [weak self] in
      guard let self, let start = starts.first else { return }
      // Removed afterwards: one that it adds waits for its turn.
      start()
      starts.removeFirst()
      if !starts.isEmpty { startNext() }
    }
  }

  /// The device or phone of this name loses its keys.
  func loseKeys(_ name: String) {
    for host in hosts where host.name.hasSameOctets(as: name) { host.bonds.forget() }
  }

  /// An adapter shows a passkey for a pairing: the person at the device sees it.
  func show(_ passkey: UInt32, to address: DeviceAddress) {
    for host in hosts where host.shows(address) { host.see(passkey) }
  }

  /// The hosts of devices and phones.
  private var hosts: [ScenarioHost] { devices.compactMap { ($0 as? ConnectableDevice)?.host } + phones.map(\.host) }

  /// True for the controller of one of the daemon's adapters, which are the only ones that phones visit.
  func isAdapter(_ controller: VirtualController?) -> Bool { adapters.contains { $0.controller === controller } }

  private func phone(_ description: PhoneDescription) -> VirtualPhone {
    phones.first { $0.address == description.address } ?? newPhone(description)
  }

  private func newPhone(_ description: PhoneDescription) -> VirtualPhone {
    let phone = VirtualPhone(description, on: self)
    phones.append(phone)
    return phone
  }
}

extension VirtualAir: CommandedAir {
  package var commandedDevices: [any CommandedDevice] { devices }
  package var participants: Int { devices.count + phones.count }
  package var writes: WriteLog { context.writes }

  package func populate(_ scenario: Scenario) {
    if participants == 0 { keys = DeviceKeys(seed: scenario.seed ?? 0) }
    var taken = Set(devices.map(\.address))
    for description in scenario.devices where taken.isDisjoint(with: description.addresses) {
      taken.formUnion(description.addresses)
      guard description.isConnectable else {
        add(AdvertisingDevice(description, on: self))
        continue
      }
      let device = ConnectableDevice(description, on: self)
      add(device)
      if let bootLoader = device.bootLoader { devices.append(bootLoader) }
    }
    var known = Set(phones.map(\.address))
    for description in scenario.phones where known.insert(description.address).inserted {
      newPhone(description).watch()
    }
  }

  private func add(_ device: any CommandedDevice) {
    devices.append(device)
    device.setPresent(true)
  }

  package func visit(
    _ description: PhoneDescription, isWanted: @escaping () -> Bool, _ done: @escaping (VisitReport) -> Void
  ) -> Bool { phone(description).visit(description, isWanted: isWanted, done) }
}
