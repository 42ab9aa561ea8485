import Adapter
import Bluetooth
import Controllers
import TestSupport

@testable import VirtualController

/// A host of our own on a virtual controller.
final class Node {
  let controller: VirtualController
  let adapter: HostAdapter
  private(set) var links: [any Link] = []
  /// Packets of all links, and the reasons of their ends.
  private(set) var packets: [[UInt8]] = []
  private(set) var ends: [BluetoothError] = []
  private(set) var reports: [AdvertisingReport] = []
  private(set) var bonds: [Bond] = []
  /// The events of followed trains, in order.
  private(set) var periodic: [PeriodicEvent] = []
  private let store = Store()

  private final class Store: BondSource { var all: [Bond] = [] }

  init(_ number: Int, on air: Air, _ change: (inout ControllerModel) -> Void = { _ in }) {
    var model = ControllerModel(address: 0x0011_2233_4400 + UInt64(number))
    change(&model)
    controller = VirtualController(model, on: air)
    adapter = HostAdapter(
      .virtual("node \(number)"), by: VirtualTransports(to: controller),
      spare: DeviceAddress(value: 0xC000_0000_0001, kind: .random), scheduler: air.scheduler,
      logger: LogLines().logger)
    adapter.setBonds(store)
    adapter.setPairing(PairingSettings(acceptsDevices: true))
    adapter.onEvent = { [unowned self] event in hear(event) }
    adapter.start()
  }

  var address: DeviceAddress { DeviceAddress(value: controller.model.address, kind: .public) }
  /// The data of the received advertisements.
  var advertised: Set<[UInt8]> { Set(reports.filter { !$0.isScanResponse }.map(\.data)) }
  /// The only link that has not ended.
  var link: (any Link)? { links.count == 1 ? links[0] : nil }

  private func hear(_ event: AdapterEvent) {
    switch event {
    case .connected(let link):
      links.append(link)
      link.isReading = true
      link.onEvent = { [unowned self, unowned link] event in
        switch event {
        case .received(let packet): packets.append(packet)
        case .ended(let error):
          ends.append(error)
          links.removeAll { $0 === link }
        default: break
        }
      }
    case .report(let report): reports.append(report)
    case .periodic(_, let event): periodic.append(event)
    case .pairing(_, .question(let id, _)): adapter.answer(id, .accept)
    case .pairing(_, .bonded(let bond)):
      bonds.append(bond)
      store.all = store.all.filter { $0.peer != bond.peer } + [bond]
    default: break
    }
  }

  /// The packets of followed trains.
  var trainData: [[UInt8]] { periodic.compactMap { if case .received(let packet) = $0 { packet.data } else { nil } } }

  func advertise() { adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6])) }
}

/// Two nodes on an air, both on.
struct TwoNodes {
  let scheduler = VirtualScheduler()
  let air: Air
  let central: Node
  let peripheral: Node

  init(
    seed: UInt64 = 1, _ first: (inout ControllerModel) -> Void = { _ in },
    _ second: (inout ControllerModel) -> Void = { _ in }
  ) {
    air = Air(scheduler: scheduler, seed: seed)
    central = Node(1, on: air, first)
    peripheral = Node(2, on: air, second)
    let nodes = [central, peripheral]
    scheduler.run { nodes.allSatisfy { $0.adapter.state == .on } }
  }

  /// Connects them.
  func connect(_ parameters: ConnectionParameters = ConnectionParameters()) {
    peripheral.advertise()
    central.adapter.connect(to: peripheral.address, parameters)
    let nodes = [central, peripheral]
    scheduler.run(for: .seconds(30)) { nodes.allSatisfy { $0.link != nil } }
  }

  /// Loses packets in both directions.
  func setLoss(_ probability: Double) {
    air.setLoss(probability, from: central.controller, to: peripheral.controller)
    air.setLoss(probability, from: peripheral.controller, to: central.controller)
  }
}
