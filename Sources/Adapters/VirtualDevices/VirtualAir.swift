import Adapter
import Bluetooth
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
  /// The passkey that the adapters show, for the persons at the devices.
  let passkey: UInt32
  private var devices: [any CommandedDevice] = []
  private var phones: [VirtualPhone] = []

  /// Makes an empty air.
  /// - Parameters:
  ///   - scheduler: the source of all time.
  ///   - seed: the source of the scenario's chance and the air's; the keys of pairings are random.
  package init(scheduler: any Scheduler, seed: UInt64, logger: Logger) {
    context = SimulationContext(scheduler: scheduler, seed: seed)
    air = Air(scheduler: scheduler, seed: seed)
    self.logger = logger
    var generator = context.generator(Stream.pairing.rawValue)
    passkey = UInt32(generator.next() % 1_000_000)
    air.onFault = { logger.error("a host on the air broke a rule: \($0)") }
  }

  /// Makes an adapter, and puts its scenario on the air.
  /// - Parameter id: its name for users.
  package func makeAdapter(_ id: String, _ scenario: Scenario) -> VirtualAdapter {
    let adapter = VirtualAdapter(id, scenario.adapter, on: self)
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

  private func loseKeys(_ name: String) {
    for case let device as ConnectableDevice in devices where device.name.hasSameOctets(as: name) {
      device.host.bonds.forget()
    }
    for phone in phones where phone.name.hasSameOctets(as: name) { phone.host.bonds.forget() }
  }

  /// True for an address of a device, which phones do not visit.
  func isDevice(_ address: DeviceAddress) -> Bool {
    devices.contains { device in
      let host = (device as? ConnectableDevice)?.host
      return device.address == address || host?.adapter.information.privateAddress == address
    }
  }

  private func phone(_ description: PhoneDescription) -> VirtualPhone {
    if let phone = phones.first(where: { $0.address == description.address }) { return phone }
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
    for description in scenario.phones where !phones.contains(where: { $0.address == description.address }) {
      phone(description).watch()
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
