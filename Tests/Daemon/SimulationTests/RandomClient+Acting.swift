import BledRPC
import Bluetooth
import FoundationEssentials

@testable import BledCore
@testable import SimulatedAdapter

/// Actions of a client of its own accord.
extension RandomClient {
  func act() {
    switch manner {
    case .canary: sing()
    case .ordinary, .mayfly: live()
    case .flooder: if generator.chance(0.3) { flood() } else { live() }
    case .sleeper:
      live()
      if generator.chance(0.3) { asleepUntil = now.advanced(by: .seconds(generator.number(in: 30...600))) }
    case .rude: if generator.chance(0.5) { babble() } else { live() }
    }
  }

  /// The canary wants one thing: its own device, its values, and an answer now and then.
  private func sing() {
    guard let (id, device) = devices.first else {
      guard !ledger.isUncertain({ if case .connect = $0 { true } else { false } }) else { return }
      return connect(to: number % Population.polite, timeout: 300)
    }
    guard let value = device.characteristics.first(where: { $0.uuid == 0x2A37 }) else { return discover(id) }
    if device.subscriptions[value.handle] == nil { subscribe(id, value.handle) }
    read(id, value.handle)
  }

  private func live() {
    switch generator.number(in: 0...100) {
    case ..<8:
      scan()
    case ..<22: call(ScanStop.self, .init(), .scan(isOn: false))
    case ..<50:
      connect(to: pick(Population.polite + Population.bad), timeout: generator.chance(0.7) ? 300 : nil)
      if generator.chance(0.1) { disconnect() }
    case ..<57: disconnect()
    case ..<84: for _ in 0...pick(5) { use() }
    case ..<88: publish()
    case ..<93:
      stopAdvertising()
      if let handle = services.keys.min() { call(ServiceRemove.self, .init(handle: handle), .removeService(handle)) }
    case ..<98: notify()
    default:
      call(PeripheralList.self, Empty(), .other)
      call(AdapterList.self, Empty(), .other)
    }
  }

  func pick(_ count: Int) -> Int { Int(generator.next() % UInt64(max(count, 1))) }

  private func scan() {
    var params = ScanStart.Params(active: generator.chance(0.7))
    switch pick(5) {
    case 0: params.services = [0x180D]
    case 1: params.name = "d\(pick(9))"
    case 2: params.rssi = -70
    case 3:
      params.filters = [.init(name: "D\(pick(9))", ignoreCase: true), .init(addressKinds: ["randomStatic"])]
      (params.rssi, params.rssiOut, params.lost) = (-65, -75, 20)
    default: params.duplicates = generator.chance(manner == .sleeper ? 0.5 : 0.05)
    }
    if generator.chance(0.2) { params.adapter = "a\(pick(2))" }
    call(ScanStart.self, params, .scan(isOn: true))
    later { client in client.call(ScanStop.self, .init(), .scan(isOn: false)) }
  }

  private func connect(to number: Int, timeout: Double?) {
    let address = "\(Population.address(number))"
    call(
      PeripheralConnect.self, .init(address: address, addressType: "random", timeout: timeout),
      .connect(address: address, timeout: timeout))
  }

  private func disconnect() {
    let known = devices.sorted { $0.value.number < $1.value.number }
    if let (id, device) = known.first, generator.chance(0.7) {
      // In the middle of things, as often as not.
      if generator.chance(0.5) {
        call(PeripheralRSSI.self, .init(peripheral: id), .device(peripheral: id))
        for characteristic in device.characteristics {
          read(id, characteristic.handle)
          subscribe(id, characteristic.handle)
        }
      }
      return call(PeripheralDisconnect.self, .init(peripheral: id), .disconnect)
    }
    let waiting = ledger.waiting { if case .connect = $0 { true } else { false } }
    guard case .connect(let address, _)? = waiting.first?.concern else { return }
    call(PeripheralDisconnect.self, .init(address: address, addressType: "random"), .disconnect)
  }

  private func discover(_ id: String) {
    call(GATTDiscover.self, .init(peripheral: id), .procedure(peripheral: id))
  }

  private func read(_ id: String, _ handle: UInt16) {
    call(GATTRead.self, .init(peripheral: id, handle: handle), .procedure(peripheral: id))
  }

  private func subscribe(_ id: String, _ handle: UInt16) {
    if devices[id]?.subscriptions[handle] == nil {
      devices[id]?.subscriptions[handle] = Subscription(since: now)
    }
    devices[id]?.subscriptions[handle]?.isLeaving = false
    call(GATTSubscribe.self, .init(peripheral: id, handle: handle), .subscribe(peripheral: id, handle: handle))
  }

  /// A flooding device disconnects soon: a client that connects to it requests its values as soon as all received lines
  /// are read.
  func openSluice(_ id: String) {
    let mine = session?.id
    simulation.scheduler.schedule(after: .milliseconds(1)) { [self] in
      guard let session, session.id == mine, isAwake, isHeard, session.outbox.isEmpty, let device = devices[id] else {
        return
      }
      guard let value = device.characteristics.first(where: { $0.uuid == 0x2A37 }) else { return discover(id) }
      subscribe(id, value.handle)
    }
  }

  private func use() {
    // By number, not by identifier: the identifier is random and would make each run another.
    let known = devices.sorted { $0.value.number < $1.value.number }
    guard !known.isEmpty else { return }
    let (id, device) = known[pick(known.count)]
    guard let characteristic = device.characteristics.first(where: { _ in generator.chance(0.5) }) else {
      return discover(id)
    }
    let handle = characteristic.handle
    switch pick(8) {
    case 0, 1: read(id, handle)
    case 2:
      let value = HexBytes([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: pick(400)))
      call(
        GATTWrite.self, .init(peripheral: id, handle: handle, value: value, response: true), .procedure(peripheral: id))
    case 3:
      call(
        GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([1, 2, 3]), response: false),
        .device(peripheral: id))
    case 4, 5: subscribe(id, handle)
    case 6:
      guard device.subscriptions[handle] != nil else { return }
      devices[id]?.subscriptions[handle]?.isLeaving = true
      call(GATTUnsubscribe.self, .init(peripheral: id, handle: handle), .unsubscribe(peripheral: id, handle: handle))
    default: call(PeripheralRSSI.self, .init(peripheral: id), .device(peripheral: id))
    }
  }

  private func publish() {
    let service = ServiceToPublish(
      uuid: Population.visited,
      characteristics: [
        .init(uuid: 0xFFE1, properties: ["read", "write", "notify"]),
        .init(uuid: 0xFFE2, properties: ["indicate", "read"]),
        .init(uuid: 0xFFE3, properties: ["writeWithoutResponse"]),
      ])
    call(ServiceAdd.self, .init(service: service), .addService)
    let adapter = generator.chance(0.5) ? "a\(pick(2))" : nil
    call(
      AdvertisingStart.self,
      .init(
        adapter: adapter, name: "c\(number)", services: [Population.visited], interval: generator.number(in: 8...10)),
      .advertise)
    later { $0.stopAdvertising() }
  }

  /// Most stop their activities after a while, others forget to.
  private func later(_ stop: @escaping (RandomClient) -> Void) {
    guard generator.chance(0.9) else { return }
    let mine = session?.id
    simulation.scheduler.schedule(after: .seconds(generator.number(in: 1...300))) { [self] in
      if let current = session?.id, current == mine, isAwake { stop(self) }
    }
  }

  private func stopAdvertising() {
    for number in advertisements.sorted() {
      call(AdvertisingStop.self, .init(advertising: number), .stopAdvertising(number))
    }
  }

  private func notify() {
    for service in services.values.sorted(by: { $0.handle < $1.handle }) {
      for characteristic in service.characteristics ?? [] where characteristic.uuid != 0xFFE3 {
        let value = HexBytes([UInt8](repeating: 9, count: pick(300)))
        call(ServerNotify.self, .init(handle: characteristic.handle, value: value), .other)
      }
    }
  }

  /// More than the daemon accepts at once.
  private func flood() {
    let known = devices.sorted { $0.value.number < $1.value.number }
    guard let (id, device) = known.first(where: { !$0.value.characteristics.isEmpty }),
      let handle = device.characteristics.first?.handle
    else { return live() }
    let isCommands = generator.chance(0.3)
    for _ in 0..<(generator.chance(0.1) ? 1500 : 200) {
      if isCommands {
        call(
          GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([7]), response: false),
          .device(peripheral: id))
      } else {
        read(id, handle)
      }
    }
  }

  private func babble() {
    let lines = [
      "", "{", "[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"scan.start\"}]", "null", "{\"jsonrpc\":\"1.0\"}",
      "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"scan.stop\"}", "{\"jsonrpc\":\"2.0\",\"id\":77777,\"result\":{}}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"gatt.read\",\"params\":{\"peripheral\":7}}",
    ]
    guard isHeard else { return }
    connection?.receive(Data(lines[pick(lines.count)].utf8))
  }
}
