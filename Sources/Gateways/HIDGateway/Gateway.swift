import BledConnection
import BledRPC
import Bluetooth

/// HID over GATT: bonded devices of bled as devices of the kernel. It does no I/O and belongs to one thread.
package final class Gateway {
  /// A state for `bleshell doctor`.
  package enum Condition: Hashable {
    case ok(String)
    case problem(String)
  }

  private struct Entry {
    /// Distinguishes it from earlier ones of the device: an answer to a call of those has no effect.
    let number: Int
    var machine: HIDDevice
    /// bled's identifier; nil until it was connected.
    var peripheral: OctetText?
    var files: [Int: any UhidFile] = [:]
  }

  /// How long a device is waited for that may have no HID, in seconds: a controller connects to few devices at a time,
  /// and telephones have bonds, too.
  private static let firstWait = 30.0

  private let clock: any Scheduler
  private let session: LastingSession
  private let files: any UhidFiles
  private let memory: any DeviceMemory
  /// By their identity addresses.
  private var entries: [DeviceAddress: Entry] = [:]
  private var lastNumber = 0
  private var addresses: [OctetText: DeviceAddress] = [:]
  private var adapters: [AdapterDescription] = []
  private var condition: Condition?
  /// The refusal of /dev/uhid; nil after a success.
  private var refusal: String?
  /// Something that belongs in the log.
  package var say: (String) -> Void = { _ in }
  /// The state has changed.
  package var whenChanged: (Condition) -> Void = { _ in }

  package init(
    _ connector: any DaemonConnector, _ clock: any Scheduler, _ files: any UhidFiles, _ memory: any DeviceMemory
  ) {
    self.clock = clock
    self.files = files
    self.memory = memory
    session = LastingSession(named: "HID", connector, clock)
    session.began = { [unowned self] in began($0) }
    session.notified = { [unowned self] in notified($0, $1) }
    session.lost = { [unowned self] in lost($0) }
  }

  package func start() { session.start() }

  /// Ends the devices of the kernel and the session.
  package func close() {
    for entry in entries.values { for file in entry.files.values { file.close() } }
    entries = [:]
    session.close()
  }

  // MARK: bled

  private func began(_ opened: SessionOpen.Result) {
    adapters = opened.adapters
    guard opened.isPermitted(.connect), opened.isPermitted(.pair) else {
      return change(
        .problem(
          "the policy of bled lacks the permissions \"connect\" and \"pair\" for this user: see configuration.md"))
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
    for (address, bond) in bonded.sorted(by: { $0.key.value < $1.key.value }) where memory.isHID(address) != false {
      if entries[address] == nil {
        lastNumber += 1
        entries[address] = Entry(number: lastNumber, machine: HIDDevice(bond))
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
    if let address { memory.remember(address, isHID: nil) }
    readBonds(after: address)
  }

  /// Devices do not wait any longer for an adapter that is on again.
  private func adapterChanged(_ change: AdapterDescription) {
    adapters.removeAll { $0.adapter.hasSameOctets(as: change.adapter) }
    adapters.append(change)
    guard change.state.known == .on, let address = change.address else { return }
    for (device, entry) in entries
    where entry.machine.isPaused && entry.machine.bond.adapterAddress.hasSameOctets(as: address) {
      give(device, .begin)
    }
  }

  private func adapterAddress(_ name: String) -> String {
    adapters.first { $0.adapter.hasSameOctets(as: name) }?.address ?? ""
  }

  // MARK: Devices

  private func give<Params: RPCPayload>(
    _ message: RPCMessage, _: Params.Type, _ peripheral: (Params) -> String, _ input: (Params) -> HIDDevice.Input
  ) {
    guard let params = try? message.params(Params.self), let address = addresses[OctetText(peripheral(params))] else {
      return
    }
    give(address, input(params))
  }

  private func give(_ address: DeviceAddress, _ input: HIDDevice.Input) {
    guard let actions = entries[address]?.machine.handle(input) else { return }
    var failed: Set<Int> = []
    for action in actions {
      if case .kernel(let service, let request) = action {
        if !send(request, service, address) { failed.insert(service) }
      } else {
        perform(action, address)
      }
    }
    for service in failed.sorted() { give(address, .kernelFailed(service: service)) }
    if case .value = input { return }
    changed()
  }

  private func perform(_ action: HIDDevice.Action, _ address: DeviceAddress) {
    switch action {
    case .call(let call): self.call(call, address)
    case .pause(let duration):
      clock.schedule(after: duration) { [weak self] in
        if self?.session.session != nil { self?.give(address, .begin) }
      }
    case .kernel: break
    case .say(let text): say(for: address, text)
    case .learned(let isHID):
      // An input device that does not show its service once still is one.
      if isHID || memory.isHID(address) != true { memory.remember(address, isHID: isHID) }
    }
  }

  private func say(for address: DeviceAddress, _ text: String) {
    let name = entries[address]?.machine.bond.name.map { " (\($0.excerpt))" } ?? ""
    say("\(address)\(name): \(text)")
  }

  // MARK: The kernel

  /// - Returns: false if the kernel has refused it.
  private func send(_ request: UhidRequest, _ service: Int, _ address: DeviceAddress) -> Bool {
    do throws(UhidFailure) {
      if case .create = request {
        entries[address]?.files[service]?.close()
        entries[address]?.files[service] = try files.open { [weak self] in
          self?.give(address, .kernel(service: service, $0))
        }
        refusal = nil
      }
      try entries[address]?.files[service]?.send(request)
    } catch {
      entries[address]?.files.removeValue(forKey: service)?.close()
      if refusal != error.description { say(for: address, "\(error)") }
      refusal = error.description
      return false
    }
    if case .destroy = request { entries[address]?.files.removeValue(forKey: service)?.close() }
    return true
  }

  private func changed() {
    guard session.session != nil else { return }
    let ready = entries.values.count { $0.machine.isWorking }
    let known = entries.keys.count { memory.isHID($0) == true }
    change(refusal.map { .problem($0) } ?? .ok("\(ready) of \(known) keyboards, mice and the like are connected"))
  }

  private func change(_ new: Condition) {
    guard new != condition else { return }
    condition = new
    whenChanged(new)
  }

  // MARK: Calls

  private func call(_ call: HIDDevice.Call, _ address: DeviceAddress) {
    guard let session = session.session, let entry = entries[address] else { return }
    let peripheral = entry.peripheral?.string ?? ""
    switch call {
    case .connect:
      let bonded = entry.machine.bond.adapterAddress
      guard let adapter = adapters.first(where: { $0.address?.hasSameOctets(as: bonded) == true }) else {
        let error = GAPError.adapterAbsent.error("the adapter \(bonded), which has its keys, is absent")
        return give(address, .answer(call, .failure(error)))
      }
      let params = PeripheralConnect.Params(
        address: "\(address)", addressType: address.kind, adapter: adapter.adapter,
        timeout: memory.isHID(address) == nil ? Self.firstWait : nil, reconnect: true)
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
        .parameters($0.security?.known)
      }
    case .discover:
      make(session, GATTDiscover.self, GATTDiscover.Params(peripheral: peripheral), call, address) {
        .services($0.services)
      }
    case .read(let handle), .get(let handle, _, _):
      make(session, GATTRead.self, GATTRead.Params(peripheral: peripheral, handle: handle), call, address) {
        .value($0.value.octets, isWhole: $0.truncated != true)
      }
    case .subscribe(let handle):
      make(session, GATTSubscribe.self, GATTSubscribe.Params(peripheral: peripheral, handle: handle), call, address) {
        _ in .done
      }
    case .write(let handle, let value, let response), .set(let handle, let value, let response, _, _):
      let params = GATTWrite.Params(
        peripheral: peripheral, handle: handle, value: HexBytes(value), response: response)
      make(session, GATTWrite.self, params, call, address) { _ in .done }
    }
  }

  private func make<Method: RPCMethod>(
    _ session: DaemonSession, _ method: Method.Type, _ params: Method.Params, _ call: HIDDevice.Call,
    _ address: DeviceAddress, _ answer: @escaping (Method.Result) -> HIDDevice.Answer
  ) {
    guard let entry = entries[address] else { return }
    session.call(method, params) { [weak self, number = entry.number, link = entry.machine.link] result in
      guard let self, let now = entries[address], now.number == number, now.machine.link == link else { return }
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
