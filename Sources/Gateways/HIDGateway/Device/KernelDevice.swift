import BledRPC

/// A HID service as a device of the kernel: reports both ways.
///
/// | State   | Input              | Output                                                                         |
/// |---------|--------------------|--------------------------------------------------------------------------------|
/// | absent  | linked             | create → created                                                               |
/// | created | value              | kept, up to 64                                                                 |
/// | created | start              | the kept reports → started                                                      |
/// | started | value              | input                                                                          |
/// | started | stop               | → created                                                                      |
/// | any     | output, set, get   | write or read on the link; without one a set and a get fail                    |
/// | any     | unlinked           | waiting requests fail; input at rest, or else destroy → absent                 |
struct KernelDevice {
  enum Action: Hashable {
    case send(UhidRequest)
    case read(UInt16, request: UInt32)
    /// `request` is nil if the kernel does not wait for the outcome.
    case write(UInt16, [UInt8], response: Bool, request: UInt32?)
    case say(String)
  }

  private enum State {
    case absent
    case created([[UInt8]])
    case started
  }

  /// The input reports that are kept until a driver has accepted the device.
  private static let longestQueue = 64

  private let service: HIDService
  private let description: UhidDescription
  private var state = State.absent
  private var isLinked = false
  /// The report that the kernel waits for; it asks for one at a time.
  private var reading: (request: UInt32, key: ReportKey)?
  /// The report that the kernel has set and waits for.
  private var setting: UInt32?
  /// The last state of its lights, for a device that has come back.
  private var outputs: [ReportKey: [UInt8]] = [:]
  /// Input reports that are not at rest.
  private var active: Set<ReportKey> = []
  private var hasSaidLong = false

  init(_ service: HIDService, _ description: UhidDescription) {
    self.service = service
    self.description = description
  }

  /// The characteristics to subscribe to.
  var notifying: [UInt16] { service.notifying }

  /// Whether a driver has accepted the device.
  var isStarted: Bool { if case .started = state { true } else { false } }

  // MARK: The link

  /// The device is connected, and subscribed to.
  mutating func linked() -> [Action] {
    isLinked = true
    if case .absent = state {
      state = .created([])
      return [.send(.create(description))]
    }
    // Lights as before.
    return outputs.sorted { $0.key.id < $1.key.id }.flatMap { write($0.value, to: $0.key, request: nil) }
  }

  /// The link has ended. Keys are released: a keyboard without a link must not repeat the last one.
  mutating func unlinked() -> [Action] {
    isLinked = false
    let actions = failures()
    return actions + (service.map.restsAtZero ? released() : destroy())
  }

  /// Values may be missing, such as one that releases a key: all keys are released.
  mutating func released() -> [Action] {
    guard service.map.restsAtZero else { return [] }
    defer { active = [] }
    return active.sorted { $0.id < $1.id }.flatMap {
      input([UInt8](repeating: 0, count: service.map.length(of: $0) ?? 0), of: $0)
    }
  }

  /// The kernel's device is gone, after a refusal.
  mutating func failed() -> [Action] {
    (state, reading, setting) = (.absent, nil, nil)
    (outputs, active) = ([:], [])
    return []
  }

  /// The device is no longer used.
  mutating func removed() -> [Action] { failures() + destroy() }

  private mutating func destroy() -> [Action] {
    if case .absent = state { return [] }
    state = .absent
    (outputs, active) = ([:], [])
    return [.send(.destroy)]
  }

  private mutating func failures() -> [Action] {
    defer { (reading, setting) = (nil, nil) }
    return [
      reading.map { .send(.report(request: $0.request, nil)) },
      setting.map { .send(.reportSet(request: $0, isDone: false)) },
    ]
    .compactMap { $0 }
  }

  // MARK: From the device

  /// A value was notified.
  mutating func value(_ octets: [UInt8], of handle: UInt16) -> [Action] {
    guard let report = service.reports.first(where: { $0.handle == handle }), report.key.type == .input else {
      return []
    }
    let isHeld = octets.contains { $0 != 0 } && service.map.restsAtZero(report.key)
    if isHeld { active.insert(report.key) } else { active.remove(report.key) }
    let length = service.map.length(of: report.key) ?? octets.count
    guard octets.count > length, !hasSaidLong else { return input(Array(octets.prefix(length)), of: report.key) }
    hasSaidLong = true
    return input(Array(octets.prefix(length)), of: report.key) + [
      .say(
        "the input report \(report.key.id) has \(octets.count) octets, \(length) by its report map: the rest is ignored"
      )
    ]
  }

  private mutating func input(_ octets: [UInt8], of key: ReportKey) -> [Action] {
    let report = (service.isNumbered(.input) ? [key.id] : []) + octets
    switch state {
    case .absent: return []
    case .started: return [.send(.input(report))]
    case .created(let kept):
      // The newest matter: a key that was released must not stay down.
      state = .created(kept.suffix(Self.longestQueue - 1) + [report])
      return []
    }
  }

  // MARK: From the kernel

  mutating func event(_ event: UhidEvent) -> [Action] {
    switch event {
    case .start:
      guard case .created(let kept) = state else { return [] }
      state = .started
      return kept.map { .send(.input($0)) }
    case .stop:
      if case .started = state { state = .created([]) }
      return []
    case .open, .close: return []
    case .output(let type, let octets):
      let key = ReportKey(type, service.isNumbered(type) ? octets.first ?? 0 : 0)
      let value = content(octets, of: key)
      if service.map.isLights(key), service.report(key) != nil { outputs[key] = value }
      return write(value, to: key, request: nil)
    case .getReport(let request, let key):
      guard isLinked, let report = service.report(key), report.properties.contains(.read) else {
        return [.send(.report(request: request, nil))]
      }
      reading = (request, key)
      return [.read(report.handle, request: request)]
    case .setReport(let request, let key, let octets):
      let actions = write(content(octets, of: key), to: key, request: request)
      guard !actions.isEmpty else { return [.send(.reportSet(request: request, isDone: false))] }
      setting = request
      return actions
    }
  }

  /// A read has ended; nil: it failed.
  mutating func read(_ value: [UInt8]?, for request: UInt32) -> [Action] {
    guard let waiting = reading, waiting.request == request else { return [] }
    reading = nil
    let number = service.isNumbered(waiting.key.type) ? [waiting.key.id] : []
    return [.send(.report(request: request, value.map { number + $0 }))]
  }

  /// A write has ended.
  mutating func wrote(_ isDone: Bool, for request: UInt32) -> [Action] {
    guard setting == request else { return [] }
    setting = nil
    return [.send(.reportSet(request: request, isDone: isDone))]
  }

  /// The report without its number. Where reports have none, programs of hidraw still put a zero in front.
  private func content(_ octets: [UInt8], of key: ReportKey) -> [UInt8] {
    if service.isNumbered(key.type) { return Array(octets.dropFirst()) }
    guard let length = service.map.length(of: key), octets.count == length + 1, octets.first == 0 else {
      return octets
    }
    return Array(octets.dropFirst())
  }

  private func write(_ value: [UInt8], to key: ReportKey, request: UInt32?) -> [Action] {
    guard isLinked, let report = service.report(key) else { return [] }
    // A report that the kernel waits for has an answer.
    let ways: [CharacteristicProperty] =
      request == nil ? [.writeWithoutResponse, .write] : [.write, .writeWithoutResponse]
    guard let way = ways.first(where: { report.properties.contains($0) }) else { return [] }
    return [.write(report.handle, value, response: way == .write, request: request)]
  }
}
