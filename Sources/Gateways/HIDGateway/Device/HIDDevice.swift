import BledRPC
import Bluetooth
import BondedDevices

/// A bonded device: the discovery of its HID services, and their devices in the kernel. `DeviceLink` has the states of
/// its link.
///
/// | State       | Input                        | Next        | Actions                                             |
/// |-------------|------------------------------|-------------|-----------------------------------------------------|
/// | discovering | services without HID         | other       | disconnect                                          |
/// | discovering | services that are known      | ready       | subscribe; the kernel's devices are linked          |
/// | discovering | other services               | reading     | read the attributes of the HID services             |
/// | reading     | the last answer              | ready       | the same, with new devices of the kernel            |
/// | ready       | values, events of the kernel | ready       | input reports; reads and writes                     |
/// | any         | the link ends                |             | the kernel's devices are unlinked                   |
package struct HIDDevice: BondedDevice {
  /// The reads that precede the use of new services.
  private struct Reading {
    let layout: HIDLayout
    var waiting: Set<UInt16>
    var values: [UInt16: [UInt8]] = [:]
  }

  /// The unanswered writes of the kernel: of further ones only the newest of a report are kept.
  private static let mostWrites = 64

  package private(set) var link: DeviceLink<Call>
  /// Not nil while new services are read.
  private var reading: Reading?
  /// The attributes behind `services`; nil: there are none yet.
  private var layout: HIDLayout?
  /// The devices of the HID services; nil for a service that cannot be used.
  private var services: [KernelDevice?] = []
  /// The subscriptions that are not answered.
  private var subscribing: Set<UInt16> = []
  private var hasSaidRefused = false
  /// The unanswered writes.
  private var writes = 0
  /// The newest of the writes that wait for an answer to others, by handle.
  private var newest: [UInt16: Call] = [:]
  private var hasSaidDropped = false
  private var hasSaidLost = false

  package init(_ bond: BondDescription) { link = DeviceLink(bond) }

  package var bond: BondDescription {
    get { link.bond }
    set { link.bond = newValue }
  }

  /// Whether its reports reach the kernel.
  var isReady: Bool { link.isOpen && reading == nil }

  /// Whether they do, and the kernel has accepted the devices.
  package var isWorking: Bool { isReady && services.allSatisfy { $0?.isStarted ?? true } }

  package mutating func handle(_ input: Input) -> [Action] {
    switch input {
    case .paired:
      layout = nil
      reading = nil
    case .servicesChanged: reading = nil
    case .forgotten: return perform(link.handle(input) ?? []) + each { $0.removed() }
    default: break
    }
    if let steps = link.handle(input) { return perform(steps) }
    switch input {
    case .answer(let call, let result): return answered(call, result)
    case .subscriptionLost(let handle):
      guard isReady else { return [] }
      return each { $0.released() }
        + [.say("its values came faster than they could be read"), .call(.subscribe(handle))]
    case .valuesLost:
      defer { hasSaidLost = true }
      let remark = hasSaidLost ? [] : [Action.say("some of its reports were lost, as this machine was too slow")]
      return each { $0.released() } + remark
    case .value(let handle, let octets): return value(octets, of: handle)
    default: return []
    }
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .kernel(let service, let event): return one(service) { $0.event(event) }
    case .kernelFailed(let service):
      let actions = one(service) { $0.failed() }
      return actions + perform(link.giveUp())
    }
  }

  private mutating func perform(_ steps: [DeviceLink<Call>.Step]) -> [Action] {
    steps.flatMap { step -> [Action] in
      switch step {
      case .call(let call): [.call(call)]
      case .pause(let duration): [.pause(duration)]
      case .say(let text): [.say(text)]
      case .unlinked: unlink()
      }
    }
  }

  private mutating func unlink() -> [Action] {
    reading = nil
    (writes, newest, subscribing) = (0, [:], [])
    return each { $0.unlinked() }
  }

  // MARK: Answers

  private mutating func answered(_ call: Call, _ result: Result<DeviceAnswer, BluetoothError>) -> [Action] {
    switch (call, result) {
    case (.discover, .success(.services(let found))): return discovered(HIDLayout(found))
    case (.read(let handle), _): return read(handle, result)
    case (.subscribe(let handle), .failure(let error)) where error.domain != .att:
      return perform(link.retry("the report of handle \(handle) cannot be subscribed to", error))
    case (.subscribe(let handle), .failure(let error)): return subscribed(handle, error)
    case (.subscribe(let handle), .success): return subscribed(handle, nil)
    case (.get(_, let service, let request), _):
      let value: [UInt8]? = if case .success(.value(let octets, _)) = result { octets } else { nil }
      return one(service) { $0.read(value, for: request) }
    case (.set(_, _, _, let service, let request), _):
      let isDone = if case .success = result { true } else { false }
      return wrote() + one(service) { $0.wrote(isDone, for: request) }
    case (.write, _): return wrote()
    case (.connect, _), (.parameters, _), (.discover, _), (.disconnect, _): return []
    }
  }

  private mutating func discovered(_ found: HIDLayout) -> [Action] {
    guard link.isDiscovering else { return [] }
    guard !found.services.isEmpty else {
      guard layout == nil else { return perform(link.refuse("has no HID service any more")) }
      return each { $0.removed() } + [.learned(hasService: false)] + perform(link.leave())
    }
    let learned = Action.learned(hasService: true)
    guard found != layout else { return [learned] + use() }
    link.use()
    reading = Reading(layout: found, waiting: found.toRead)
    return [learned] + found.toRead.sorted().map { .call(.read($0)) }
  }

  /// A device refuses the same read each time; after another failure all is read again.
  private mutating func read(_ handle: UInt16, _ result: Result<DeviceAnswer, BluetoothError>) -> [Action] {
    guard var reading else { return [] }
    reading.waiting.remove(handle)
    switch result {
    case .success(.value(let octets, true)): reading.values[handle] = octets
    case .failure(let error) where error.domain != .att: return perform(link.retry("cannot be read", error))
    case .success, .failure: break
    }
    self.reading = reading
    return reading.waiting.isEmpty ? assemble(reading) : []
  }

  /// All is read: the kernel gets new devices.
  private mutating func assemble(_ reading: Reading) -> [Action] {
    var actions = each { $0.removed() }
    layout = reading.layout
    services = reading.layout.services.map { attributes in
      do throws(ReportMap.Fault) {
        let service = try HIDService(attributes, external: reading.layout.external, reading.values)
        actions += remarks(on: service)
        return KernelDevice(service, describe(service, reading))
      } catch {
        actions.append(.say("a HID service cannot be used: \(error)"))
        return nil
      }
    }
    // After a link a device is in report mode, unless it errs (HIDS 1.0, 2.3).
    actions += reading.layout.services.compactMap(\.protocolMode).filter { reading.values[$0] == [0] }
      .map { .call(.write($0, [1], response: false)) }
    writes += actions.count { if case .call(.write) = $0 { true } else { false } }
    return actions + use()
  }

  private func remarks(on service: HIDService) -> [Action] {
    var actions: [Action] = []
    if let fault = service.map.fault { actions.append(.say("\(fault): the kernel may refuse or mend it")) }
    if service.unusable > 0 {
      actions.append(.say("\(service.unusable) of its reports are not in its report map, and are ignored"))
    }
    if service.map.isKeyboard, bond.level.known == .encrypted {
      actions.append(
        .say("a keyboard paired without protection against a person in the middle: see keyboards.md"))
    }
    return actions
  }

  private func describe(_ service: HIDService, _ reading: Reading) -> UhidDescription {
    let given = reading.layout.name.flatMap { reading.values[$0] }.map { String(decoding: $0, as: UTF8.self) }
    var description = UhidDescription(
      name: given ?? bond.name ?? bond.address, location: bond.adapterAddress.lowercased(),
      identity: bond.address.lowercased(),
      country: service.country, map: service.map.octets)
    // Vendor ID Source, Vendor ID, Product ID, Product Version (DIS 1.2, 3.9).
    if let id = reading.layout.identity.flatMap({ reading.values[$0] }), id.count == 7 {
      description.vendor = UInt16(id[1]) | UInt16(id[2]) << 8
      description.product = UInt16(id[3]) | UInt16(id[4]) << 8
      description.version = UInt16(id[5]) | UInt16(id[6]) << 8
    }
    return description
  }

  private mutating func use() -> [Action] {
    reading = nil
    guard services.contains(where: { $0 != nil }) else { return perform(link.leave()) }
    link.use()
    subscribing = Set(services.flatMap { $0?.notifying ?? [] })
    return subscribing.sorted().map { .call(.subscribe($0)) } + each { $0.linked() }
  }

  /// A subscription was answered. The reports of others are of use without one that the device refuses.
  private mutating func subscribed(_ handle: UInt16, _ refusal: BluetoothError?) -> [Action] {
    subscribing.remove(handle)
    if subscribing.isEmpty { link.succeeded() }
    guard let refusal, !hasSaidRefused else { return [] }
    hasSaidRefused = true
    return [.say("refuses the subscription to the report of handle \(handle): \(refusal.message)")]
  }

  // MARK: The kernel's devices

  /// A report that precedes the end of the discovery waits for the kernel's device.
  private mutating func value(_ octets: [UInt8], of handle: UInt16) -> [Action] {
    link.isDiscovering || link.isOpen ? each { $0.value(octets, of: handle) } : []
  }

  private mutating func each(_ change: (inout KernelDevice) -> [KernelDevice.Action]) -> [Action] {
    services.indices.flatMap { one($0, change) }
  }

  private mutating func one(_ service: Int, _ change: (inout KernelDevice) -> [KernelDevice.Action]) -> [Action] {
    guard services.indices.contains(service), var device = services[service] else { return [] }
    let actions = change(&device)
    services[service] = device
    return actions.flatMap { perform($0, service) }
  }

  private mutating func perform(_ action: KernelDevice.Action, _ service: Int) -> [Action] {
    switch action {
    case .send(let request): return [.output(Output(service: service, request: request))]
    case .read(let handle, let request): return [.call(.get(handle, service: service, request: request))]
    case .say(let text): return [.say(text)]
    case .write(let handle, let value, let response, let request?):
      writes += 1
      return [.call(.set(handle, value, response: response, service: service, request: request))]
    case .write(let handle, let value, let response, nil):
      let call = Call.write(handle, value, response: response)
      guard writes < Self.mostWrites else { return wait(call, handle) }
      writes += 1
      return [.call(call)]
    }
  }

  /// A write was answered: one that waits goes next.
  private mutating func wrote() -> [Action] {
    writes -= 1
    guard let next = newest.keys.min(), let call = newest.removeValue(forKey: next) else { return [] }
    writes += 1
    return [.call(call)]
  }

  private mutating func wait(_ call: Call, _ handle: UInt16) -> [Action] {
    let isDropped = newest.updateValue(call, forKey: handle) != nil
    guard isDropped, !hasSaidDropped else { return [] }
    hasSaidDropped = true
    return [.say("it does not accept output reports as fast as programs send them: some are dropped")]
  }
}
