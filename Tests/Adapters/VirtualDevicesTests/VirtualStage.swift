import Adapter
import Bluetooth
import Controllers
import GATT
import TestSupport

@testable import Scenarios
@testable import VirtualDevices

/// An adapter on a virtual air with a scenario, under virtual time, and its events.
final class VirtualStage {
  let scheduler: VirtualScheduler
  let air: VirtualAir
  let adapter: VirtualAdapter
  private(set) var reports: [AdvertisingReport] = []
  private(set) var links: [any Link] = []
  private(set) var ends: [BluetoothError] = []
  private(set) var pairings: [PairingEvent] = []
  /// The hosts' violations of rules.
  let log = LogLines()
  let bonds: Bonds

  /// The owner of the adapter's bonds.
  final class Bonds: BondSource { var all: [Bond] = [] }

  init(
    _ json: String, seed: UInt64 = 1, scheduler: VirtualScheduler = VirtualScheduler(), bonds: Bonds = Bonds()
  ) throws {
    (self.scheduler, self.bonds) = (scheduler, bonds)
    air = VirtualAir(scheduler: scheduler, seed: seed, logger: log.logger)
    adapter = air.makeAdapter("virtual", try Scenario(json: json))
    adapter.host.setBonds(bonds)
    adapter.host.onEvent = { [unowned self] in note($0) }
    adapter.host.start()
    let host = adapter.host
    scheduler.run { host.state == .on }
  }

  private func note(_ event: AdapterEvent) {
    switch event {
    case .report(let report): reports.append(report)
    case .connected(let link): links.append(link)
    case .pairing(_, let event):
      pairings.append(event)
      if case .question(let id, .consent) = event { adapter.host.answer(id, .accept) }
      if case .bonded(let bond) = event { bonds.all = bonds.all.filter { $0.id != bond.id } + [bond] }
    default: break
    }
  }

  func forgetPairings() { pairings = [] }

  func scan(_ seconds: Int = 2) {
    reports = []
    adapter.host.setScan(ScanParameters(isActive: true))
    scheduler.advance(by: .seconds(seconds))
    adapter.host.setScan(nil)
    scheduler.advance(by: .seconds(1))
  }

  /// The device of this number in the scenarios of the tests.
  static func address(_ number: UInt64) -> DeviceAddress {
    DeviceAddress(value: 0xC0DE_0000_0000 | number, kind: .random)
  }

  /// A client on a new link to a device; nil if that takes longer than a minute.
  func connect(_ number: UInt64) -> Client? {
    let count = links.count
    adapter.host.connect(to: Self.address(number), ConnectionParameters())
    scheduler.run(for: .seconds(60)) { links.count > count }
    return links.count > count ? Client(links[count], scheduler) : nil
  }
}

/// The real GATT client on a link, one procedure at a time.
final class Client {
  let link: any Link
  private(set) var values: [[UInt8]] = []
  /// The reason of the link's end.
  private(set) var end: BluetoothError?
  private let scheduler: VirtualScheduler
  private let host: GATTHost
  private var results: [UInt64: Result<GATTResult, GATTError>] = [:]
  private var count: UInt64 = 0

  init(_ link: any Link, _ scheduler: VirtualScheduler) {
    (self.link, self.scheduler) = (link, scheduler)
    host = GATTHost(scheduler: scheduler)
    host.attach(link)
    host.onAction = { [unowned self] action in
      switch action {
      case .finished(let id, let result): results[id.value] = result
      case .value(_, let value, _): values.append(value)
      default: break
      }
    }
    let serve = link.onEvent
    link.onEvent = { [unowned self] event in
      if case .ended(let error) = event { end = error }
      serve?(event)
    }
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

  /// Raises the protection of the link.
  /// - Returns: the error; nil if the link has the level.
  func raise(to level: Int) -> BluetoothError? {
    var outcome: BluetoothError??
    link.raiseSecurity(to: level, as: .none, usesOwnData: false) { outcome = .some($0) }
    scheduler.run(for: .seconds(60)) { outcome != nil }
    return outcome ?? GAPError.timeout.error("it takes longer than a minute")
  }
}
