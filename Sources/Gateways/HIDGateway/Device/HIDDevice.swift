import BledRPC
import Bluetooth

/// A bonded device: its link, the discovery of its HID services, and their devices in the kernel.
///
/// | State       | Input                        | Next        | Actions                                             |
/// |-------------|------------------------------|-------------|-----------------------------------------------------|
/// | away        | begin                        | connecting  | connect, which waits and connects again             |
/// | connecting  | answer: connected            | discovering | discover                                            |
/// | connecting  | answer: failed               | paused      |                                                     |
/// | discovering | services without HID         | other       | disconnect                                          |
/// | discovering | services that are known      | ready       | subscribe; the kernel's devices are linked          |
/// | discovering | other services               | reading     | read the attributes of the HID services             |
/// | reading     | the last answer              | ready       | the same, with new devices of the kernel            |
/// | ready       | values, events of the kernel | ready       | input reports; reads and writes                     |
/// | any of these | services changed            | discovering | discover                                            |
/// | any of these | disconnected, reconnecting  | lost        | the kernel's devices are unlinked                   |
/// | any of these | disconnected; a failed step | paused      | the same, disconnect                                |
/// | lost        | connected                    | discovering | discover                                            |
/// | paused      | begin                        | connecting  | connect                                             |
/// | any         | session lost                 | away        | the kernel's devices are unlinked                   |
struct HIDDevice {
  /// A call of bled.
  enum Call: Hashable {
    case connect
    case disconnect
    case discover
    case read(UInt16)
    case subscribe(UInt16)
    case write(UInt16, [UInt8], response: Bool)
    /// The kernel waits for these: the index of the HID service, and the number of the request.
    case get(UInt16, service: Int, request: UInt32)
    case set(UInt16, [UInt8], response: Bool, service: Int, request: UInt32)
  }

  /// The result of a call that succeeded.
  enum Answer {
    case done
    /// The address of the adapter that has the link.
    case connected(adapter: String)
    case services([ServiceDescription])
    case value([UInt8], isWhole: Bool)
  }

  enum Input {
    case begin
    case answer(Call, Result<Answer, BluetoothError>)
    /// The link was established again.
    case connected(adapter: String)
    case disconnected(isReconnecting: Bool)
    /// A link that was lost does not come back by itself.
    case connectFailed(BluetoothError)
    case servicesChanged
    case subscriptionLost(UInt16)
    case value(UInt16, [UInt8])
    case kernel(service: Int, UhidEvent)
    case sessionLost
    /// The keys are gone.
    case forgotten
  }

  enum Action: Hashable {
    case call(Call)
    /// `begin` is expected after a pause.
    case pause(Duration)
    case kernel(service: Int, UhidRequest)
    case say(String)
    /// The discovery has shown whether the device has HID services.
    case learned(isHID: Bool)
  }

  private enum State {
    case away
    case connecting
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
  /// The unanswered writes of the kernel: further ones are dropped.
  private static let mostWrites = 64

  /// The bond, with the identity address.
  var bond: BondDescription
  private var state = State.away
  /// The attributes behind `services`; nil: there are none yet.
  private var layout: HIDLayout?
  /// The devices of the HID services; nil for a service that cannot be used.
  private var services: [KernelDevice?] = []
  private var adapter = ""
  private var failures = 0
  private var writes = 0
  private var hasSaidDropped = false
  /// Distinguishes links: an answer to a call on an earlier one has no effect.
  private(set) var link = 0

  init(_ bond: BondDescription) { self.bond = bond }

  /// Whether its reports reach the kernel.
  var isReady: Bool { if case .ready = state { true } else { false } }

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
      case .away, .connecting, .lost, .paused, .other: return []
      }
    case .subscriptionLost(let handle):
      guard isReady else { return [] }
      return [.say("its values came faster than they could be read"), .call(.subscribe(handle))]
    case .value(let handle, let octets):
      // A report that precedes the end of the discovery waits for the kernel's device.
      return each { $0.value(octets, of: handle) }
    case .kernel(let service, let event): return one(service) { $0.event(event) }
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
    case .connecting, .discovering, .reading, .ready, .lost, .other: return []
    }
  }

  private mutating func connected(_ adapter: String) -> [Action] {
    self.adapter = adapter
    state = .discovering
    return [.call(.discover)]
  }

  private mutating func disconnected(_ isReconnecting: Bool) -> [Action] {
    switch state {
    case .discovering, .reading, .ready:
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
    writes = 0
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
    case (.discover, .success(.services(let found))): return discovered(HIDLayout(found))
    case (.discover, .failure(let error)): return retry("cannot be discovered", error)
    case (.read(let handle), _): return read(handle, try? result.get())
    case (.subscribe, .failure(let error)): return retry("a report cannot be subscribed to", error)
    case (.get(_, let service, let request), _):
      let value: [UInt8]? = if case .success(.value(let octets, _)) = result { octets } else { nil }
      return one(service) { $0.read(value, for: request) }
    case (.set(_, _, _, let service, let request), _):
      writes -= 1
      let isDone = if case .success = result { true } else { false }
      return one(service) { $0.wrote(isDone, for: request) }
    case (.write, _):
      writes -= 1
      return []
    case (.connect, _), (.discover, _), (.subscribe, _), (.disconnect, _): return []
    }
  }

  private mutating func discovered(_ found: HIDLayout) -> [Action] {
    guard case .discovering = state else { return [] }
    guard !found.services.isEmpty else {
      state = .other
      return each { $0.removed() } + [.learned(isHID: false), .call(.disconnect)]
    }
    guard found != layout else { return use() }
    state = .reading(Reading(layout: found, waiting: found.toRead))
    return [.learned(isHID: true)] + found.toRead.sorted().map { .call(.read($0)) }
  }

  private mutating func read(_ handle: UInt16, _ answer: Answer?) -> [Action] {
    guard case .reading(var reading) = state else { return [] }
    reading.waiting.remove(handle)
    if case .value(let octets, true) = answer { reading.values[handle] = octets }
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
      name: given ?? bond.name ?? bond.address, location: adapter.lowercased(), identity: bond.address.lowercased(),
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
    failures = 0
    let handles = Set(services.flatMap { $0?.notifying ?? [] })
    return handles.sorted().map { .call(.subscribe($0)) } + each { $0.linked() }
  }

  // MARK: The kernel's devices

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
      guard writes < Self.mostWrites else { return dropped() }
      writes += 1
      return [.call(.write(handle, value, response: response))]
    }
  }

  private mutating func dropped() -> [Action] {
    guard !hasSaidDropped else { return [] }
    hasSaidDropped = true
    return [.say("it does not accept output reports as fast as programs send them: some are dropped")]
  }
}
