import Adapter
import BledRPC
import Bluetooth
import DequeModule
import GATT

/// The adapters in their given order; the first is the default.
final class AdapterRegistry {
  private(set) var slots: [AdapterSlot] = []
  /// This machine's name as devices see it, on all adapters.
  var deviceName: String? {
    didSet { for slot in slots { slot.deviceName = deviceName } }
  }

  func add(_ adapter: any Adapter) -> AdapterSlot {
    let slot = AdapterSlot(adapter, audience: Audience(slots.count))
    slot.deviceName = deviceName
    slots.append(slot)
    return slot
  }

  /// The adapter, if there is just one.
  var only: AdapterSlot? { slots.count == 1 ? slots[0] : nil }

  var descriptions: [AdapterDescription] { slots.map(\.description) }

  /// Finds the adapter by its name or address; without a name, the first one.
  func find(_ name: String?) throws -> AdapterSlot {
    let found = if let name { slots.first { $0.isCalled(name) } } else { slots.first }
    guard let found else {
      let known = slots.map(\.id).joined(separator: ", ")
      throw GAPError.adapterAbsent.error(
        "there is no adapter \(name.map { "\"\($0.excerpt)\"" } ?? "at all"); configured: \(known.isEmpty ? "none" : known)"
      )
    }
    return found
  }

  /// Like `find`, but throws unless the adapter is usable now.
  func findUsable(_ name: String?) throws -> AdapterSlot {
    let found = try find(name)
    if let error = found.unusable { throw error }
    return found
  }
}

extension AdapterSlot {
  fileprivate func isCalled(_ name: String) -> Bool {
    if id.hasSameOctets(as: name) { return true }
    let address = adapter.information.address
    return address != .none && address == DeviceAddress(name, kind: address.kind)
  }
}

/// An adapter and its last events: the daemon's only copy of its scanning state and advertisements.
final class AdapterSlot {
  let adapter: any Adapter
  /// The audience of services limited to this adapter.
  let audience: Audience
  /// True once the adapter has worked since the daemon's start: pending requests then wait until it is on again.
  var hasWorked: Bool
  /// The last logged state.
  var loggedState: AdapterState?
  private(set) var isScanning = false
  /// The advertisements on the air, with their intervals.
  var onAir: [AdvertisingSetID: Duration] = [:]
  /// The links it holds.
  var linkCount = 0
  /// ATT responses ignored because no request was pending.
  var strayAnswers = 0
  /// See `AdapterRegistry.deviceName`.
  fileprivate(set) var deviceName: String?
  /// The pending power requests; the first is being executed.
  private var switches: Deque<(on: Bool, session: Session, reply: Reply<AdapterDescription>)> = []

  init(_ adapter: any Adapter, audience: Audience = Audience(0)) {
    self.adapter = adapter
    self.audience = audience
    hasWorked = adapter.state == .on
  }

  var id: String { adapter.information.id }

  /// True if the adapter works or is starting.
  var isUsable: Bool {
    switch adapter.state {
    case .on, .starting, .suspended: true
    case .absent, .off, .failed: false
    }
  }

  /// The reason why it is unusable now, and the remedy.
  var unusable: BluetoothError? {
    switch adapter.state {
    case .on, .starting, .suspended: nil
    case .absent:
      GAPError.adapterAbsent.error(
        adapter.information.absence?.text ?? "adapter \(id) is not present: plug it in, or choose another adapter")
    case .off:
      GAPError.adapterOff.error("adapter \(id) is off: switch it on with \"bleshell power on --adapter \(id)\"")
    case .failed(let problem): GAPError.adapterFailed.error(problem.text)
    }
  }

  /// The controller started or stopped scanning.
  func scanningChanged(to isOn: Bool) { isScanning = isOn }

  /// The adapter's state changed: in any state but on, it does not scan.
  func stateChanged() {
    if adapter.state == .on { hasWorked = true } else { isScanning = false }
  }

  /// Switches the power after all earlier requests, unless the session has ended by then.
  func setPower(_ on: Bool, for session: Session, _ reply: Reply<AdapterDescription>) {
    switches.append((on, session, reply))
    if switches.count == 1 { switchPower() }
  }

  private func switchPower() {
    while let next = switches.first, !next.session.isOpen { switches.removeFirst() }
    guard let next = switches.first else { return }
    adapter.setPower(next.on) { [weak self] error in
      guard let self else { return }
      switches.removeFirst()
      if let error { next.reply.fail(error) } else { next.reply.succeed(description) }
      switchPower()
    }
  }

  /// The adapter as clients see it.
  var description: AdapterDescription {
    let information = adapter.information
    let hasAddress = information.address != .none
    let isOn = adapter.state == .on
    let problem: AdapterProblem? =
      switch adapter.state {
      case .failed(let problem): problem
      case .absent: information.absence
      case .off, .starting, .on, .suspended: nil
      }
    return AdapterDescription(
      adapter: information.id, kind: Word(information.kind), address: hasAddress ? "\(information.address)" : nil,
      addressType: hasAddress ? Word(information.address.kind) : nil, name: information.name,
      state: Word(adapter.state.condition),
      problem: problem.map { .init(kind: Word($0.kind), message: $0.message, remedy: $0.remedy) },
      scanning: isScanning, advertising: onAir.count, links: linkCount,
      takingTurns: information.takingTurns.nonEmpty?.words(), heldBack: information.heldBack.nonEmpty?.words(),
      phys: isOn ? PHY.allCases.filter(information.phys.contains).words() : nil,
      features: isOn ? information.features?.names : nil,
      longestPacket: isOn ? information.longestPacket : nil,
      advertisingSets: isOn ? information.maximumAdvertisingSets : nil,
      longestAdvertisement: isOn ? information.maximumAdvertisingDataLength : nil,
      company: information.company.map(Int.init), version: information.version.map(Int.init),
      privateAddress: isOn ? information.privateAddress.map { "\($0)" } : nil, deviceName: deviceName,
      quirks: information.quirks.map { .init(quirk: $0.quirk.name, reason: $0.reason, learned: $0.learned) }.nonEmpty,
      sinceReport: isOn ? adapter.silence.report?.inSeconds : nil,
      sinceEvent: isOn ? adapter.silence.event?.inSeconds : nil)
  }
}

extension AdapterSlot: Hashable {
  static func == (left: AdapterSlot, right: AdapterSlot) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
