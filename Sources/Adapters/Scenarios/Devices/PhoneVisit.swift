import ATT
import Adapter
import Bluetooth
import GATT
import ScenarioRules

/// One visit of a phone: MTU, discovery of everything, the script step by step, and the end.
///
/// It is a list of tasks, the first of which is in progress; discoveries add tasks to the list.
package final class PhoneVisit {
  private enum Task {
    /// A procedure, and its step of the script.
    case procedure(GATTProcedure, String? = nil, of: BluetoothUUID? = nil)
    case services
    case characteristics(in: ClosedRange<UInt16>, isGeneric: Bool)
    case descriptors(of: Int)
    case step(PhoneDescription.Step)
  }

  /// The steps so far.
  package private(set) var report = VisitReport()

  private struct Characteristic {
    let found: DiscoveredCharacteristic
    /// Belongs to Generic Access or Generic Attribute.
    let isGeneric: Bool
    var configuration: UInt16?
  }

  private let scheduler: any Scheduler
  private let host: GATTHost
  private let link: any Link
  private let capability: PairingCapability
  private let departure: Instant
  private var generator: SeededGenerator
  private var tasks: [Task]
  private var characteristics: [Characteristic] = []
  /// The ATT MTU.
  private var mtu = 23
  /// The number of the procedure in progress.
  private var procedure: UInt64 = 0

  package init(
    _ phone: PhoneDescription, link: any Link, isBonded: Bool, stay: Duration,
    scheduler: any Scheduler, generator: SeededGenerator, _ done: @escaping () -> Void
  ) {
    self.scheduler = scheduler
    self.link = link
    capability = phone.pairing?.capability ?? .none
    self.generator = generator
    departure = scheduler.now.advanced(by: stay)
    tasks = [.procedure(.exchangeMTU), .services] + phone.script.map(Task.step)
    host = GATTHost(scheduler: scheduler)
    // A phone has a name, too.
    _ = try? host.database.add(.genericAccess(name: phone.name))
    host.asksForSecurity = phone.pairing != nil
    host.attach(link, maximumMTU: phone.mtu)
    host.onAction = { [weak self] in self?.handle($0) }
    host.onEnded = done
    begin(isBonded: isBonded)
  }

  /// A phone encrypts the link with its keys; if the other side has lost them the link ends.
  private func begin(isBonded: Bool) {
    guard isBonded else { return next() }
    raise(2) { [weak self] _ in self?.next() }
  }

  /// Begins the next task; after the last one waits until it is time to leave.
  private func next() {
    guard host.link != nil else { return }
    guard let task = tasks.first else {
      report.isComplete = true
      _ = scheduler.schedule(at: max(departure, scheduler.now)) { [weak link] in link?.disconnect() }
      return
    }
    switch task {
    case .procedure(let procedure, _, _): start(procedure)
    case .services: start(.discoverServices(.primary))
    case .characteristics(let range, _): start(.discoverCharacteristics(in: range))
    case .descriptors(let index):
      let found = characteristics[index].found
      start(.discoverDescriptors(in: found.valueHandle + 1...found.endHandle))
    case .step(let step):
      tasks.removeFirst()
      begin(step)
    }
  }

  private func start(_ wanted: GATTProcedure) {
    procedure += 1
    host.start(wanted, id: ProcedureID(procedure))
  }

  private func handle(_ action: GATTAction) {
    if case .securityNeeded(let id, _, let error) = action { return raiseSecurity(for: id, error) }
    if case .value(let handle, let value, _) = action {
      return record("value", characteristics.first { $0.found.valueHandle == handle }?.found.uuid, value)
    }
    guard case .finished(ProcedureID(procedure), let result) = action, !tasks.isEmpty else { return }
    let task = tasks.removeFirst()
    if case .procedure(_, let step?, let uuid) = task {
      var value: [UInt8]?
      if case .success(.value(let octets)) = result { value = octets }
      var error: BluetoothError?
      if case .failure(let failure) = result { error = failure.bluetoothError }
      record(step, uuid, value, error)
    }
    // A phone ignores errors and continues with the next task.
    if case .success(let found) = result { receive(found, of: task) }
    next()
  }

  private func record(
    _ action: String, _ characteristic: BluetoothUUID? = nil, _ value: [UInt8]? = nil, _ error: BluetoothError? = nil
  ) {
    guard report.steps.count < VisitReport.capacity else { return }
    report.steps.append(
      .init(
        time: scheduler.secondsSinceEpoch, action: action, characteristic: characteristic, value: value, error: error))
  }

  /// Encrypts the link, or pairs, and repeats the refused operation.
  private func raiseSecurity(for id: ProcedureID, _ error: ATTErrorCode) {
    let level = error == .insufficientAuthentication ? link.security.level + 1 : 2
    guard level > link.security.level, level <= 4 else { return host.resume(id, isSecured: false) }
    raise(level) { [weak self] error in self?.host.resume(id, isSecured: error == nil) }
  }

  private func raise(_ level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    link.raiseSecurity(to: level, as: capability, usesOwnData: false, done)
  }

  private func receive(_ result: GATTResult, of task: Task) {
    switch (task, result) {
    case (_, .mtu(let mtu)): self.mtu = mtu
    case (.services, .services(let services)):
      tasks = services.map { .characteristics(in: $0.range, isGeneric: [0x1800, 0x1801].contains($0.uuid)) } + tasks
    case (.characteristics(_, let isGeneric), .characteristics(let found)):
      let first = characteristics.count
      if !isGeneric { for found in found { record("discover", found.uuid) } }
      characteristics += found.map { Characteristic(found: $0, isGeneric: isGeneric) }
      let subscribable = characteristics.indices[first...].filter { index in
        let found = characteristics[index].found
        return !found.properties.isDisjoint(with: [.notify, .indicate]) && found.valueHandle < found.endHandle
      }
      tasks = subscribable.map { .descriptors(of: $0) } + tasks
    case (.descriptors(let index), .descriptors(let found)):
      characteristics[index].configuration = found.first { $0.uuid == 0x2902 }?.handle
    default: break
    }
  }

  // MARK: - The script

  private func begin(_ step: PhoneDescription.Step) {
    if case .wait(let span) = step.action {
      scheduler.schedule(after: span.draw(&generator)) { [weak self] in self?.next() }
      return
    }
    if case .pair = step.action {
      return raise(2) { [weak self] error in
        self?.record(step.word, nil, nil, error)
        self?.next()
      }
    }
    if case .openChannel(let psm, let octets) = step.action {
      return link.openChannel(to: psm, ChannelParameters()) { [weak self] result in
        if case .success(let channel) = result {
          channel.isReading = true
          for start in stride(from: 0, to: octets.count, by: channel.sendMTU) {
            channel.send(Array(octets[start..<min(start + channel.sendMTU, octets.count)]))
          }
        }
        if case .failure(let error) = result {
          self?.record(step.word, nil, nil, error)
        } else {
          self?.record(step.word)
        }
        self?.next()
      }
    }
    let procedures = characteristics.filter { characteristic in
      step.characteristic.map { $0 == characteristic.found.uuid } ?? !characteristic.isGeneric
    }.compactMap { characteristic in
      procedure(for: step.action, characteristic).map {
        Task.procedure($0, step.word, of: characteristic.found.uuid)
      }
    }
    if procedures.isEmpty, let wanted = step.characteristic {
      record(step.word, wanted, nil, GAPError.notSupported.error("there is no such characteristic that allows it"))
    }
    tasks = procedures + tasks
    next()
  }

  /// The procedure of a step for one characteristic; nil if its properties do not allow it.
  private func procedure(
    for action: PhoneDescription.Step.Action, _ characteristic: Characteristic
  ) -> GATTProcedure? {
    let properties = characteristic.found.properties
    let handle = characteristic.found.valueHandle
    switch action {
    case .read: return properties.contains(.read) ? .readLong(handle) : nil
    case .write(let value):
      if properties.contains(.write) {
        return value.count <= mtu - 3 ? .write(handle, value) : .writeLong(handle, value)
      }
      return properties.contains(.writeWithoutResponse) ? .writeWithoutResponse(handle, value) : nil
    case .subscribe:
      let wanted: ClientConfiguration = properties.contains(.notify) ? .notification : .indication
      return characteristic.configuration.map { .subscribe(descriptor: $0, wanted) }
    case .unsubscribe: return characteristic.configuration.map { .subscribe(descriptor: $0, []) }
    case .wait, .pair, .openChannel: return nil
    }
  }
}
