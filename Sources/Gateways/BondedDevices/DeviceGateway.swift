import BledConnection
import BledRPC
import Bluetooth

/// Bonded devices of bled as devices of another system. It does no I/O and belongs to one thread.
package final class DeviceGateway<System: DeviceSystem>: DeviceService {
  private typealias Device = System.Device

  private struct Entry {
    /// Distinguishes it from earlier ones of the device: an answer to a call of those has no effect.
    let number: Int
    var machine: Device
    /// bled's identifier; nil until it was connected.
    var peripheral: OctetText?
  }

  /// How long a device is waited for that may lack the service, in seconds: a controller connects to few devices at a
  /// time, and telephones have bonds, too.
  private static var firstWait: Double { 30 }

  private let clock: any Scheduler
  private let session: LastingSession
  private let system: System
  private let memory: any DeviceMemory
  /// By their identity addresses.
  private var entries: [DeviceAddress: Entry] = [:]
  private var lastNumber = 0
  private var addresses: [OctetText: DeviceAddress] = [:]
  private var adapters: [AdapterDescription] = []
  private var condition: DeviceCondition?
  /// The refusal of the other system; nil after a success.
  private var refusal: String?
  package var say: (String) -> Void = { _ in }
  package var whenChanged: (DeviceCondition) -> Void = { _ in }

  package init(
    _ connector: any DaemonConnector, _ clock: any Scheduler, _ system: System, _ memory: any DeviceMemory
  ) {
    self.clock = clock
    self.system = system
    self.memory = memory
    session = LastingSession(named: System.name, connector, clock)
    session.began = { [unowned self] in began($0) }
    session.notified = { [unowned self] in notified($0, $1) }
    session.lost = { [unowned self] in lost($0) }
  }

  package func start() { session.start() }

  package func close() {
    // Keys that are held down would stay so in programs that outlast the gateway.
    for address in entries.keys { perform(entries[address]?.machine.handle(.sessionLost) ?? [], address) }
    system.close()
    entries = [:]
    session.close()
  }

  // MARK: bled

  private func began(_ opened: SessionOpen.Result) {
    adapters = opened.adapters
    guard opened.isPermitted(.connect), opened.isPermitted(.bonds) else {
      return change(
        .problem(
          "the policy of bled lacks the permissions \"connect\" and \"bonds\" for this user: see configuration.md"))
    }
    readBonds()
  }

  private func lost(_ error: BluetoothError) {
    for address in entries.keys { give(address, .sessionLost) }
    change(.problem("\(error.message); it is tried again each second"))
  }

  /// - Parameter paired: the device that has paired.
  private func readBonds(after paired: DeviceAddress? = nil) {
    session.session?.call(PairingList.self, Empty()) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let list): update(list.bonds, after: paired)
      case .failure(let error): say("the bonds cannot be read: \(error.message)")
      }
    }
  }

  /// Of the bonds of a device, the newest with keys for links counts: only its adapter is used.
  private func update(_ bonds: [BondDescription], after paired: DeviceAddress?) {
    var bonded: [DeviceAddress: BondDescription] = [:]
    for bond in bonds where bond.level.known != nil {
      if let address = bond.identity, bonded[address] == nil { bonded[address] = bond }
    }
    for (address, entry) in entries where bonded[address]?.isOnAdapter(of: entry.machine.bond) != true {
      forget(address)
    }
    memory.keep(Set(bonded.keys))
    for (address, bond) in bonded.sorted(by: { $0.key.value < $1.key.value }) where memory.hasService(address) != false
    {
      if entries[address] == nil {
        lastNumber += 1
        entries[address] = Entry(number: lastNumber, machine: Device(bond))
      }
      entries[address]?.machine.bond = bond
      if address == paired { give(address, .paired) }
      give(address, .begin)
    }
    changed()
  }

  private func forget(_ address: DeviceAddress) {
    give(address, .forgotten)
    session.session?.callUnawaited(
      PeripheralDisconnect.self, PeripheralDisconnect.Params(address: "\(address)", addressType: address.kind))
    if let entry = entries.removeValue(forKey: address), let peripheral = entry.peripheral {
      addresses[peripheral] = nil
    }
  }

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case GATTValue.name:
      give(message, GATTValue.Params.self, \.peripheral) { .value($0.handle, $0.value.octets) }
    case PeripheralConnected.name:
      give(message, PeripheralConnect.Result.self, \.peripheral) { .connected(adapter: adapterAddress($0.adapter)) }
    case PeripheralDisconnected.name:
      give(message, PeripheralDisconnected.Params.self, \.peripheral) {
        .disconnected(isReconnecting: $0.reconnecting == true)
      }
    case PeripheralConnectFailed.name:
      give(message, PeripheralConnectFailed.Params.self, \.peripheral) { .connectFailed($0.reason.bluetoothError) }
    case PeripheralParametersChanged.name:
      give(message, LinkDescription.self, \.peripheral) { .parametersChanged(interval: $0.interval, mtu: $0.mtu) }
    case GATTServicesChanged.name:
      give(message, GATTServicesChanged.Params.self, \.peripheral) { _ in .servicesChanged }
    case GATTSubscriptionLost.name:
      give(message, GATTSubscriptionLost.Params.self, \.peripheral) { .subscriptionLost($0.handle) }
    case GATTValuesLost.name:
      give(message, GATTValuesLost.Params.self, \.peripheral) { _ in .valuesLost }
    case AdapterChanged.name:
      if let change = try? message.params(AdapterDescription.self) { adapterChanged(change) }
    case PairingBonded.name:
      if let params = try? message.params(PairingBonded.Params.self) { paired(params) }
    case PairingForgotten.name: readBonds()
    default: break
    }
  }

  /// A device has new keys: it may be another one than before.
  private func paired(_ params: PairingBonded.Params) {
    let address = params.addressType.known.flatMap { DeviceAddress(params.address, kind: $0) }
    if let address { memory.remember(address, hasService: nil) }
    readBonds(after: address)
  }

  /// Devices do not wait any longer for an adapter that is on again.
  private func adapterChanged(_ change: AdapterDescription) {
    adapters.removeAll { $0.adapter.hasSameOctets(as: change.adapter) }
    adapters.append(change)
    guard change.state.known == .on, let address = change.address else { return }
    for (device, entry) in entries
    where entry.machine.link.isPaused && entry.machine.bond.adapterAddress.hasSameOctets(as: address) {
      give(device, .begin)
    }
  }

  private func adapterAddress(_ name: String) -> String {
    adapters.first { $0.adapter.hasSameOctets(as: name) }?.address ?? ""
  }

  // MARK: Devices

  private func give<Params: RPCPayload>(
    _ message: RPCMessage, _: Params.Type, _ peripheral: (Params) -> String, _ input: (Params) -> Device.Input
  ) {
    guard let params = try? message.params(Params.self), let address = addresses[OctetText(peripheral(params))] else {
      return
    }
    give(address, input(params))
  }

  private func give(_ address: DeviceAddress, _ input: Device.Input) {
    guard let actions = entries[address]?.machine.handle(input) else { return }
    perform(actions, address)
    if case .value = input { return }
    changed()
  }

  private func give(_ address: DeviceAddress, event: Device.Event) {
    guard let actions = entries[address]?.machine.handle(event) else { return }
    perform(actions, address)
    changed()
  }

  private func perform(_ actions: [Device.Action], _ address: DeviceAddress) {
    var events: [Device.Event] = []
    for action in actions {
      switch action {
      case .call(let call): self.call(call, address)
      case .pause(let duration):
        clock.schedule(after: duration) { [weak self] in
          if self?.session.session != nil { self?.give(address, .begin) }
        }
      case .output(let request): events += perform(request, address).map { [$0] } ?? []
      case .say(let text): say(for: address, text)
      case .learned(let hasService):
        // A device that does not show its service once still has it.
        if hasService || memory.hasService(address) != true { memory.remember(address, hasService: hasService) }
      }
    }
    for event in events { give(address, event: event) }
  }

  /// - Returns: the event after a refusal.
  private func perform(_ request: Device.Output, _ address: DeviceAddress) -> Device.Event? {
    switch system.perform(request, of: address, { [weak self] in self?.give(address, event: $0) }) {
    case .done: return nil
    case .opened:
      refusal = nil
      return nil
    case .refused(let text, let event):
      if refusal != text { say(for: address, text) }
      refusal = text
      return event
    }
  }

  private func say(for address: DeviceAddress, _ text: String) {
    let name = entries[address]?.machine.bond.name.map { " (\($0.excerpt))" } ?? ""
    say("\(address)\(name): \(text)")
  }

  private func changed() {
    guard session.session != nil else { return }
    let ready = entries.values.count { $0.machine.isWorking }
    let known = entries.keys.count { memory.hasService($0) == true }
    change(refusal.map { .problem($0) } ?? .ok("\(ready) of \(known) \(System.kind) are connected"))
  }

  private func change(_ new: DeviceCondition) {
    guard new != condition else { return }
    condition = new
    whenChanged(new)
  }

  // MARK: Calls

  private func call(_ call: Device.Call, _ address: DeviceAddress) {
    guard let session = session.session, let entry = entries[address] else { return }
    let peripheral = entry.peripheral?.string ?? ""
    switch call.request {
    case .connect:
      let bonded = entry.machine.bond.adapterAddress
      guard let adapter = adapters.first(where: { $0.address?.hasSameOctets(as: bonded) == true }) else {
        let error = GAPError.adapterAbsent.error("the adapter \(bonded), which has its keys, is absent")
        return give(address, .answer(call, .failure(error)))
      }
      let params = PeripheralConnect.Params(
        address: "\(address)", addressType: address.kind, adapter: adapter.adapter,
        timeout: memory.hasService(address) == nil ? Self.firstWait : nil, reconnect: true)
      make(session, PeripheralConnect.self, params, call, address) { [weak self] in
        self?.addresses[OctetText($0.peripheral)] = address
        self?.entries[address]?.peripheral = OctetText($0.peripheral)
        return .connected(adapter: self?.adapterAddress($0.adapter) ?? "")
      }
    case .disconnect:
      let params = PeripheralDisconnect.Params(address: "\(address)", addressType: address.kind)
      make(session, PeripheralDisconnect.self, params, call, address) { _ in .done }
    case .parameters:
      make(session, PeripheralParameters.self, PeripheralReference(peripheral: peripheral), call, address) {
        [weak self] link in
        self?.give(address, .parametersChanged(interval: link.interval, mtu: link.mtu))
        return .parameters(link.security?.known)
      }
    case .discover:
      make(session, GATTDiscover.self, GATTDiscover.Params(peripheral: peripheral), call, address) {
        .services($0.services)
      }
    case .read(let handle):
      make(session, GATTRead.self, GATTRead.Params(peripheral: peripheral, handle: handle), call, address) {
        .value($0.value.octets, isWhole: $0.truncated != true)
      }
    case .subscribe(let handle):
      make(session, GATTSubscribe.self, GATTSubscribe.Params(peripheral: peripheral, handle: handle), call, address) {
        _ in .done
      }
    case .write(let handle, let value, let response):
      let params = GATTWrite.Params(
        peripheral: peripheral, handle: handle, value: HexBytes(value), response: response)
      make(session, GATTWrite.self, params, call, address) { _ in .done }
    case .setInterval(let interval):
      let params = PeripheralSetParameters.Params(
        peripheral: peripheral,
        parameters: LinkWish(minimumInterval: interval.lowerBound, maximumInterval: interval.upperBound))
      make(session, PeripheralSetParameters.self, params, call, address) { [weak self] link in
        self?.give(address, .parametersChanged(interval: link.interval, mtu: link.mtu))
        return .done
      }
    }
  }

  private func make<Method: RPCMethod>(
    _ session: DaemonSession, _ method: Method.Type, _ params: Method.Params, _ call: Device.Call,
    _ address: DeviceAddress, _ answer: @escaping (Method.Result) -> DeviceAnswer
  ) {
    guard let entry = entries[address] else { return }
    session.call(method, params) { [weak self, number = entry.number, link = entry.machine.link.number] result in
      guard let self, let now = entries[address], now.number == number, now.machine.link.number == link else { return }
      give(address, .answer(call, result.map(answer)))
    }
  }
}

extension BondDescription {
  /// The identity address; nil if its kind is not known.
  fileprivate var identity: DeviceAddress? { addressType.known.flatMap { DeviceAddress(address, kind: $0) } }

  fileprivate func isOnAdapter(of other: BondDescription) -> Bool {
    adapterAddress.hasSameOctets(as: other.adapterAddress)
  }
}
