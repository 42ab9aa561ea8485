import BledRPC
import Bluetooth

/// A bonded device: its link, the discovery of its HID services, and their devices in the kernel.
///
/// | State       | Input                        | Next        | Actions                                             |
/// |-------------|------------------------------|-------------|-----------------------------------------------------|
/// | away        | begin                        | connecting  | connect, which waits and connects again             |
/// | connecting  | answer: connected            | checking    | ask for the protection of the link                  |
/// | connecting  | answer: failed               | paused      |                                                     |
/// | checking    | the level of the bond        | discovering | discover                                            |
/// | checking    | less, or another adapter     | paused      | disconnect                                          |
/// | discovering | services without HID         | other       | disconnect                                          |
/// | discovering | services that are known      | ready       | subscribe; the kernel's devices are linked          |
/// | discovering | other services               | reading     | read the attributes of the HID services             |
/// | reading     | the last answer              | ready       | the same, with new devices of the kernel            |
/// | ready       | values, events of the kernel | ready       | input reports; reads and writes                     |
/// | any of these | services changed            | discovering | discover                                            |
/// | any of these | paired anew                 | checking    | ask for the protection; all is read again           |
/// | any of these | disconnected, reconnecting  | lost        | the kernel's devices are unlinked                   |
/// | any of these | disconnected; a failed step | paused      | the same, disconnect                                |
/// | lost        | connected                    | checking    | ask for the protection of the link                  |
/// | paused      | begin                        | connecting  | connect                                             |
/// | other       | services changed             | connecting  | connect                                             |
/// | any         | session lost                 | away        | the kernel's devices are unlinked                   |
struct HIDDevice {
  private enum State {
    case away
    case connecting
    case checking
    case discovering
    case reading(Reading)
    case ready
    case lost
    case paused
    case other
  }

  /// The reads that precede the use of new services.
  private struct Reading {
    let layout: HIDLayout
    var waiting: Set<UInt16>
    var values: [UInt16: [UInt8]] = [:]
  }

  private static let longestPause = 60
  /// The unanswered writes of the kernel: of further ones only the newest of a report are kept.
  private static let mostWrites = 64

  /// The bond, with the identity address.
  var bond: BondDescription
  private var state = State.away
  /// The attributes behind `services`; nil: there are none yet.
  private var layout: HIDLayout?
  /// The devices of the HID services; nil for a service that cannot be used.
  private var services: [KernelDevice?] = []
  private var failures = 0
  /// The subscriptions that are not answered.
  private var subscribing: Set<UInt16> = []
  private var hasSaidRefused = false
  /// The unanswered writes.
  private var writes = 0
  /// The newest of the writes that wait for an answer to others, by handle.
  private var newest: [UInt16: Call] = [:]
  private var hasSaidDropped = false
  /// Distinguishes links: an answer to a call on an earlier one has no effect.
  private(set) var link = 0

  init(_ bond: BondDescription) { self.bond = bond }

  /// Whether its reports reach the kernel.
  var isReady: Bool { if case .ready = state { true } else { false } }

  /// Whether they do, and the kernel has accepted the devices.
  var isWorking: Bool { isReady && services.allSatisfy { $0?.isStarted ?? true } }

  /// Whether it waits before it is connected again.
  var isPaused: Bool { if case .paused = state { true } else { false } }

  /// Whether it has no HID service, or none that can be used.
  var isLeftAlone: Bool { if case .other = state { true } else { false } }

  mutating func handle(_ input: Input) -> [Action] {
    switch input {
    case .begin: return begin()
    case .answer(let call, let result): return answered(call, result)
    case .connected(let adapter):
      if case .lost = state { return connected(adapter) }
      return []
    case .disconnected(let isReconnecting): return disconnected(isReconnecting)
    case .connectFailed(let error):
      guard case .lost = state else { return [] }
      return [.say("is not connected to again, which is tried: \(error.message)")] + pause()
    case .servicesChanged:
      switch state {
      case .discovering, .reading, .ready:
        state = .discovering
        return [.call(.discover)]
      case .other:
        state = .connecting
        return [.call(.connect)]
      case .away, .connecting, .checking, .lost, .paused: return []
      }
    case .subscriptionLost(let handle):
      guard isReady else { return [] }
      return each { $0.released() }
        + [.say("its values came faster than they could be read"), .call(.subscribe(handle))]
    case .valuesLost: return each { $0.released() }
    case .value(let handle, let octets): return value(octets, of: handle)
    case .kernel(let service, let event): return one(service) { $0.event(event) }
    case .kernelFailed(let service): return kernelFailed(service)
    case .paired: return paired()
    case .sessionLost:
      state = .away
      return unlink()
    case .forgotten:
      state = .away
      link += 1
      return each { $0.removed() }
    }
  }

  // MARK: The link

  private mutating func begin() -> [Action] {
    switch state {
    case .away, .paused:
      state = .connecting
      return [.call(.connect)]
    case .connecting, .checking, .discovering, .reading, .ready, .lost, .other: return []
    }
  }

  /// On another adapter, or without the protection of the bond, the device may be another one with its address.
  private mutating func connected(_ adapter: String) -> [Action] {
    guard adapter.hasSameOctets(as: bond.adapterAddress) else {
      return refuse("is connected over another adapter than \(bond.adapterAddress), which has its keys")
    }
    state = .checking
    return [.call(.parameters)]
  }

  private mutating func checked(_ level: SecurityLevel?) -> [Action] {
    guard case .checking = state else { return [] }
    guard let level, let needed = bond.level.known, level.covers(needed) else {
      return refuse("has a link without the protection of its keys")
    }
    state = .discovering
    return [.call(.discover)]
  }

  private mutating func refuse(_ fault: String) -> [Action] {
    [.call(.disconnect), .say("\(fault): it is not used, and connected again later")] + pause()
  }

  private mutating func paired() -> [Action] {
    layout = nil
    switch state {
    case .checking, .discovering, .reading, .ready:
      state = .checking
      return [.call(.parameters)]
    case .other:
      state = .away
      return []
    case .away, .connecting, .lost, .paused: return []
    }
  }

  private mutating func disconnected(_ isReconnecting: Bool) -> [Action] {
    switch state {
    case .checking, .discovering, .reading, .ready:
      guard isReconnecting else { return pause() }
      state = .lost
      return unlink()
    case .connecting, .away, .lost, .paused, .other: return []
    }
  }

  private mutating func pause() -> [Action] {
    state = .paused
    failures += 1
    return unlink() + [.pause(.seconds(min(Self.longestPause, 1 << min(failures, 6))))]
  }

  private mutating func unlink() -> [Action] {
    link += 1
    (writes, newest, subscribing) = (0, [:], [])
    return each { $0.unlinked() }
  }

  /// A step failed on a link that may still be there.
  private mutating func retry(_ step: String, _ error: BluetoothError) -> [Action] {
    [.call(.disconnect), .say("\(step), which is tried again: \(error.message)")] + pause()
  }

  // MARK: Answers

  private mutating func answered(_ call: Call, _ result: Result<Answer, BluetoothError>) -> [Action] {
    switch (call, result) {
    case (.connect, .success(.connected(let adapter))): return connected(adapter)
    case (.connect, .failure(let error)):
      let text = "cannot be connected to, which is tried again: \(error.message)"
      return (failures == 0 ? [.say(text)] : []) + pause()
    case (.parameters, .success(.parameters(let level))): return checked(level)
    case (.parameters, .failure(let error)): return retry("has a link with an unknown protection", error)
    case (.discover, .success(.services(let found))): return discovered(HIDLayout(found))
    case (.discover, .failure(let error)): return retry("cannot be discovered", error)
    case (.read(let handle), _): return read(handle, result)
    case (.subscribe(let handle), .failure(let error)) where error.domain != .att:
      return retry("the report of handle \(handle) cannot be subscribed to", error)
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
    guard case .discovering = state else { return [] }
    guard !found.services.isEmpty else {
      guard layout == nil else { return refuse("has no HID service any more") }
      state = .other
      return each { $0.removed() } + [.learned(isHID: false), .call(.disconnect)]
    }
    let learned = Action.learned(isHID: true)
    guard found != layout else { return [learned] + use() }
    state = .reading(Reading(layout: found, waiting: found.toRead))
    return [learned] + found.toRead.sorted().map { .call(.read($0)) }
  }

  /// A device refuses the same read each time; after another failure all is read again.
  private mutating func read(_ handle: UInt16, _ result: Result<Answer, BluetoothError>) -> [Action] {
    guard case .reading(var reading) = state else { return [] }
    reading.waiting.remove(handle)
    switch result {
    case .success(.value(let octets, true)): reading.values[handle] = octets
    case .failure(let error) where error.domain != .att: return retry("cannot be read", error)
    case .success, .failure: break
    }
    state = .reading(reading)
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
    guard services.contains(where: { $0 != nil }) else {
      state = .other
      return [.call(.disconnect)]
    }
    state = .ready
    subscribing = Set(services.flatMap { $0?.notifying ?? [] })
    return subscribing.sorted().map { .call(.subscribe($0)) } + each { $0.linked() }
  }

  /// A subscription was answered. The reports of others are of use without one that the device refuses.
  private mutating func subscribed(_ handle: UInt16, _ refusal: BluetoothError?) -> [Action] {
    subscribing.remove(handle)
    if subscribing.isEmpty { failures = 0 }
    guard let refusal, !hasSaidRefused else { return [] }
    hasSaidRefused = true
    return [.say("refuses the subscription to the report of handle \(handle): \(refusal.message)")]
  }

  // MARK: The kernel's devices

  /// A report that precedes the end of the discovery waits for the kernel's device.
  private mutating func value(_ octets: [UInt8], of handle: UInt16) -> [Action] {
    switch state {
    case .discovering, .reading, .ready: each { $0.value(octets, of: handle) }
    case .away, .connecting, .checking, .lost, .paused, .other: []
    }
  }

  private mutating func kernelFailed(_ service: Int) -> [Action] {
    let actions = one(service) { $0.failed() }
    switch state {
    case .checking, .discovering, .reading, .ready: return actions + [.call(.disconnect)] + pause()
    case .away, .connecting, .lost, .paused, .other: return actions
    }
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
    case .send(let request): return [.kernel(service: service, request)]
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

extension SecurityLevel {
  /// Whether a link of this level has the protection of another one; the cases have the order of their strength.
  fileprivate func covers(_ other: Self) -> Bool {
    Self.allCases.drop { $0 != other }.contains(self)
  }
}
