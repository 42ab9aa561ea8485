import Adapter
import Bluetooth
import GATT

@testable import Scenarios
@testable import SimulatedAdapter
@testable import VirtualDevices

/// One adapter under virtual time, and all its events.
final class AdapterStage {
  let scheduler: VirtualScheduler
  let adapter: any Adapter
  /// The devices around it.
  let air: any CommandedAir
  /// The adapter, as tests command it.
  let staged: any StagedAdapter
  private let bonds: StoredBonds
  private(set) var reports: [AdvertisingReport] = []
  private(set) var links: [any Link] = []
  private(set) var failures: [BluetoothError] = []
  /// Receives links that others started.
  var onIncoming: ((any Link) -> Void)?
  /// Everything but reports, in order, as text.
  private(set) var trace: [String] = []

  init(
    _ json: String, seed: UInt64 = 1, id: String = "simulated", air: (any CommandedAir)? = nil,
    scheduler: VirtualScheduler? = nil,
    bonds: [Bond] = []
  ) throws {
    self.bonds = StoredBonds(bonds)
    let scheduler = scheduler ?? VirtualScheduler()
    self.scheduler = scheduler
    let scenario = json.isEmpty ? Scenario.builtin : try Scenario(json: json)
    self.air = air ?? Airs.make(scheduler: scheduler, seed: seed)
    if let air = self.air as? VirtualAir {
      staged = air.makeAdapter(id, scenario)
    } else {
      staged = SimulatedAdapter(
        id: id, scenario: scenario, scheduler: scheduler, seed: seed, air: self.air as? Air)
    }
    adapter = staged.seam
    adapter.setBonds(self.bonds)
    adapter.onEvent = { [unowned self] in note($0) }
  }

  /// An adapter that is on.
  static func on(_ json: String = "", seed: UInt64 = 1) throws -> AdapterStage {
    let world = try AdapterStage(json, seed: seed)
    world.adapter.start()
    world.scheduler.run { world.adapter.state == .on }
    // The event is reported a little later.
    world.scheduler.settle()
    return world
  }

  private func note(_ event: AdapterEvent) {
    switch event {
    case .stateChanged: trace.append("state \(adapter.state.condition.word)")
    case .scanning(let isOn): trace.append("scanning \(isOn)")
    case .watching(let isOn): trace.append("watching \(isOn)")
    case .presence(let address, let isThere): trace.append("presence \(address) \(isThere)")
    case .report(let report): reports.append(report)
    case .advertising(let set, .on(let interval, _)): trace.append("advertising \(set.value) on \(interval)")
    case .advertising(let set, .off): trace.append("advertising \(set.value) off")
    case .advertising(let set, .ended(let end)): trace.append("advertising \(set.value) ended \(end.rawValue)")
    case .advertising(let set, .failed(let error)): trace.append("advertising \(set.value) failed \(error.name)")
    case .responses(let id, let responses): trace.append("responses \(id.value) \(responses)")
    case .periodic(let train, let event): trace.append("periodic \(train.address) \(train.sid) \(event)")
    case .pairing(let address, let event):
      if case .bonded(let bond) = event { bonds.store(bond) }
      trace.append("pairing \(address) \(event)")
    case .connected(let link):
      trace.append("connected \(link.peer) \(link.role) \(link.attempts)")
      links.append(link)
      link.onEvent = { [unowned self, unowned link] event in
        if case .ended(let error) = event { trace.append("ended \(link.peer) \(error.name)") }
      }
      if link.role == .peripheral { onIncoming?(link) }
    case .connectAttemptFailed(let address, let error):
      trace.append("attempt failed \(address) \(error.name)")
      failures.append(error)
    case .connectWaiting(let address, let reason): trace.append("waiting \(address) \(reason.name)")
    }
  }

  /// Forgets the events so far.
  func forget() {
    trace = []
    reports = []
  }

  /// The common parts of the devices.
  var context: SimulationContext {
    if let air = air as? VirtualAir { return air.context }
    return (air as? Air)?.context ?? SimulationContext(scheduler: scheduler, seed: 1)
  }

  /// The means of the person at the adapter in pairings.
  private(set) var capability = PairingCapability.none

  func setPairing(_ settings: PairingSettings) {
    capability = settings.capability
    adapter.setPairing(settings)
  }

  /// The device or phone of this name loses its keys.
  func loseKeys(device name: String) {
    (air as? Air)?.loseKeys(device: name)
    (air as? VirtualAir)?.loseKeys(name)
  }

  /// Forgets the keys shared with a device.
  func unpair(_ identity: DeviceAddress) {
    bonds.remove(identity)
    adapter.unpair(identity)
  }

  /// The device of this number in the built-in scenario and in those of the tests.
  static func address(_ number: UInt64) -> DeviceAddress {
    DeviceAddress(value: 0xC0DE_0000_0000 | number, kind: .random)
  }

  /// Connects to a device; nil if that fails within a minute.
  func connect(_ number: UInt64, _ parameters: ConnectionParameters = ConnectionParameters()) -> (any Link)? {
    let count = links.count
    adapter.connect(to: Self.address(number), parameters)
    scheduler.run(for: .seconds(60)) { links.count > count }
    return links.count > count ? links.last : nil
  }
}

/// The real GATT client on a link, one procedure at a time.
final class Client {
  let link: any Link
  private let scheduler: VirtualScheduler
  private let host: GATTHost
  private var results: [UInt64: Result<GATTResult, GATTError>] = [:]
  private var count: UInt64 = 0
  private(set) var values: [(time: Instant, handle: UInt16, value: [UInt8], isIndication: Bool)] = []
  private(set) var reason: BluetoothError?

  init(_ link: any Link, _ world: AdapterStage) {
    self.link = link
    scheduler = world.scheduler
    host = GATTHost(scheduler: scheduler)
    host.attach(link)
    host.onAction = { [unowned self] action in
      switch action {
      case .finished(let id, let result): results[id.value] = result
      case .value(let handle, let value, let isIndication):
        values.append((scheduler.now, handle, value, isIndication))
      default: break
      }
    }
    let forward = link.onEvent
    link.onEvent = { [unowned self] event in
      if case .ended(let error) = event { reason = error }
      forward?(event)
    }
  }

  /// Begins a procedure.
  func start(_ procedure: GATTProcedure) {
    count += 1
    host.start(procedure, id: ProcedureID(count))
  }

  /// Runs one procedure to its end.
  func run(_ procedure: GATTProcedure) throws -> GATTResult {
    count += 1
    let id = count
    host.start(procedure, id: ProcedureID(id))
    scheduler.run(for: .seconds(60)) { results[id] != nil }
    return try (results[id] ?? .failure(.queueFull)).get()
  }

  /// Finds a characteristic by its UUID, anywhere.
  func find(_ uuid: BluetoothUUID) throws -> DiscoveredCharacteristic? {
    guard case .characteristics(let found) = try run(.discoverCharacteristics(in: 1...0xFFFF)) else { return nil }
    return found.first { $0.uuid == uuid }
  }

  /// Subscribes to a characteristic through the descriptor behind its value.
  func subscribe(_ characteristic: DiscoveredCharacteristic, _ wanted: ClientConfiguration) throws {
    let range = characteristic.valueHandle + 1...max(characteristic.endHandle, characteristic.valueHandle + 1)
    guard case .descriptors(let found) = try run(.discoverDescriptors(in: range)),
      let handle = found.first(where: { $0.uuid == 0x2902 })?.handle
    else { return }
    _ = try run(.subscribe(descriptor: handle, wanted))
  }
}

/// The real GATT server on the links to an adapter, and its actions.
final class Server {
  let host: GATTHost
  private(set) var trace: [String] = []
  private(set) var hasEnded = false
  private let scheduler: VirtualScheduler
  private(set) var link: (any Link)?

  init(_ world: AdapterStage, _ services: [ServiceDefinition] = []) {
    scheduler = world.scheduler
    host = GATTHost(scheduler: scheduler)
    for service in [.genericAccess(name: "Server"), .genericAttribute(hasHash: false)] + services {
      _ = try? host.database.add(service)
    }
    host.onAction = { [unowned self] in note($0) }
    host.onEnded = { [unowned self] in
      hasEnded = true
      trace.append("ended")
    }
    world.onIncoming = { [unowned self] link in
      self.link = link
      trace.append("connected \(link.peer)")
      host.attach(link)
    }
  }

  private func note(_ action: GATTAction) {
    switch action {
    case .mtuChanged(let mtu): trace.append("mtu \(mtu)")
    case .read(let question):
      trace.append("read \(name(question.handle))")
      host.answer(question, Array("answer".utf8))
    case .stored(let handle):
      trace.append("write \(name(handle)) \(Hex.encode(host.database.value(of: handle) ?? []))")
    case .subscriptionChanged(let handle, let wanted): trace.append("subscribe \(name(handle)) \(wanted.rawValue)")
    default: break
    }
  }

  private func name(_ handle: UInt16) -> String { host.database.attribute(handle)?.type.description ?? "?" }
}
