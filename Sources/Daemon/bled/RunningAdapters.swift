import Adapter
import Bluetooth
import EventLoop
import Controllers
import Logging
import Scenarios
import SimulatedAdapter
import VirtualDevices

/// Makes the listed adapters, and with "all" later ones. They stay until the daemon ends.
final class RunningAdapters {
  /// Called with each new adapter. Set it before the first are made.
  var onNew: ((any Adapter) -> Void)?
  private let loop: EventLoop
  private let scheduler: any Scheduler
  private let logger: Logger
  /// The addresses for controllers without one, by name.
  private let publicAddresses: [String: DeviceAddress]
  /// The air shared by the simulated adapters.
  let air: Air
  private let seed: UInt64
  /// The air shared by the virtual adapters.
  let virtualAir: VirtualAir
  /// The simulated ones.
  private(set) var simulated: [SimulatedAdapter] = []
  private var kernel: [AdapterSelector: KernelAdapter] = [:]
  /// The controllers whose host is bled itself.
  private var hosts: Set<ControllerAddress> = []
  /// The numbers of controllers the kernel is to leave to bled.
  private var taken: Set<UInt16> = []
  /// All adapters.
  private var all: [any Adapter] = []
  /// The static random address for an adapter with this name, if its controller has none.
  private let spareAddress: (String) -> DeviceAddress
  /// The listed adapters.
  private var names: [String] = []

  /// - Parameters:
  ///   - publicAddresses: for controllers without one, by adapter name.
  ///   - spareAddress: the static random address for an adapter with this name, if its controller has none.
  ///   - seed: the seed for all randomness on the simulated air.
  init(
    publicAddresses: [String: DeviceAddress], spareAddress: @escaping (String) -> DeviceAddress, loop: EventLoop,
    scheduler: any Scheduler, seed: UInt64, logger: Logger
  ) {
    self.publicAddresses = publicAddresses
    self.spareAddress = spareAddress
    self.loop = loop
    self.scheduler = scheduler
    self.logger = logger
    self.seed = seed
    air = Air(scheduler: scheduler, seed: seed)
    virtualAir = VirtualAir(scheduler: scheduler, seed: seed, logger: Logger(label: "bled.virtual"))
  }

  /// Makes the listed adapters that do not exist yet; a simulated one may be listed more than once.
  func use(_ settings: Settings) {
    taken.formUnion(settings.adapters.compactMap(\.userChannel))
    var others = names
    for (name, choice) in zip(settings.configuration.adapters.names, settings.adapters) {
      if let index = others.firstIndex(of: name) {
        others.remove(at: index)
        continue
      }
      if isOnOtherAir(choice) {
        logger.warning("adapter \(name) is not used: those of the other kind have another air until the next start")
        continue
      }
      names.append(name)
      switch choice {
      case .kernel(let selector): add(selector, isNamed: !settings.configuration.adapters.isDefault)
      case .all: addAll()
      case .host(let address): add(address)
      case .simulated(let scenario): addSimulated(scenario)
      case .virtual(let scenario): addVirtual(scenario)
      }
    }
    for name in others { logger.warning("adapter \(name) is no longer listed: it stays in use until the next start") }
  }

  /// True for a simulated adapter beside virtual ones, or a virtual one beside simulated ones.
  private func isOnOtherAir(_ choice: AdapterChoice) -> Bool {
    switch choice {
    case .simulated: !virtualAir.adapters.isEmpty
    case .virtual: !simulated.isEmpty
    case .kernel, .all, .host: false
    }
  }

  /// Uses every controller, including later ones, except those the kernel is to leave to bled. hci0 is the first,
  /// present or not, so the default does not depend on the controllers' order of appearance.
  private func addAll() {
    let first = (UInt16(0)...).first { !taken.contains($0) } ?? 0
    add(.index(first))
    kernel[.index(first)]?.onControllers = { [weak self] indexes in self?.add(indexes) }
    add(Controllers.present())
  }

  private func add(_ indexes: [UInt16]) {
    for index in indexes where !taken.contains(index) { add(.index(index)) }
  }

  private func add(_ selector: AdapterSelector, isNamed: Bool = false) {
    guard kernel[selector] == nil else { return }
    if let number = taken.first(where: { hosts.contains(.user($0)) && selector.isController($0) }) {
      return logger.warning("adapter \(selector) is in use as user:hci\(number) until the next start")
    }
    // An earlier list named the same controller differently.
    for (name, other) in kernel where other.isAlso(selector) {
      return logger.warning("adapter \(selector) is in use as \(name) until the next start")
    }
    let adapter = KernelAdapter(
      selector: selector, isNamed: isNamed, publicAddress: publicAddresses["\(selector)"],
      spare: spareAddress("\(selector)"), loop: loop, scheduler: scheduler, logger: Logger(label: "bled.kernel"))
    kernel[selector] = adapter
    use(adapter)
  }

  private func add(_ address: ControllerAddress) {
    if case .user(let number) = address, let (name, _) = kernel.first(where: { $0.value.isAlso(.index(number)) }) {
      return logger.warning("adapter \(address) is in use as \(name) until the next start")
    }
    guard hosts.insert(address).inserted else { return }
    let others = { [weak self] in self?.addresses(besides: "\(address)") ?? [] }
    use(
      HostAdapter(
        address, spare: spareAddress("\(address)"), others: others, loop: loop, scheduler: scheduler,
        logger: Logger(label: "bled.host")))
  }

  private func use(_ adapter: any Adapter) {
    all.append(adapter)
    onNew?(adapter)
  }

  /// The addresses of the adapters that are on, except the one with this name.
  private func addresses(besides id: String) -> Set<DeviceAddress> {
    Set(all.lazy.filter { $0.state == .on && $0.information.id != id }.map(\.information.address))
  }

  private func warn(_ scenario: Scenario?) {
    for warning in scenario?.warnings ?? [] { logger.warning("scenario: \(warning)") }
  }

  private func addVirtual(_ scenario: Scenario?) {
    warn(scenario)
    let count = virtualAir.adapters.count
    // Further ones without a file have no devices.
    let adapter = virtualAir.makeAdapter(
      count == 0 ? "virtual" : "virtual\(count)", scenario ?? (count == 0 ? .builtin : .empty))
    use(adapter.host)
  }

  private func addSimulated(_ scenario: Scenario?) {
    warn(scenario)
    let isFirst = simulated.isEmpty
    // Further ones without a file have no devices.
    let adapter = SimulatedAdapter(
      id: isFirst ? "simulated" : "simulated\(simulated.count)", scenario: scenario ?? (isFirst ? .builtin : .empty),
      scheduler: scheduler, seed: seed, logger: Logger(label: "bled.simulated"), air: air)
    simulated.append(adapter)
    use(adapter)
  }
}

extension KernelAdapter {
  /// True for the controller with that name.
  fileprivate func isAlso(_ selector: AdapterSelector) -> Bool {
    selector == .address(information.address) || "\(selector)" == information.id
  }
}
