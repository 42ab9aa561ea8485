import Adapter
import BledCore
import BledRPC
import Bluetooth
import Scenarios
import SimulatedAdapter
import VirtualDevices

/// The simulated air and its clock, as clients command them.
final class RunningSimulation: Simulation {
  private let adapters: RunningAdapters
  private let clock: DaemonClock
  private var isVirtual: Bool { !adapters.virtualAir.adapters.isEmpty }
  private var air: any CommandedAir { isVirtual ? adapters.virtualAir : adapters.air }
  private var switched: [any SwitchedAdapter] { isVirtual ? adapters.virtualAir.adapters : adapters.simulated }

  init(_ adapters: RunningAdapters, _ clock: DaemonClock) {
    self.adapters = adapters
    self.clock = clock
  }

  func advance(by duration: Duration, _ done: @escaping (Double) -> Void) throws(BluetoothError) {
    guard clock.advance(by: duration, { [clock] in done(clock.scheduler.secondsSinceEpoch) }) else {
      throw GAPError.notSupported.error("the clock goes by itself: give a scenario with \"clock\": \"manual\"")
    }
  }

  var devices: [SimulationDevice] {
    air.commandedDevices.map {
      .init(
        name: $0.name, address: "\($0.address)", addressType: Word($0.address.kind), present: $0.isPresent,
        connected: $0.isConnected)
    }
  }

  func add(_ text: String) throws(BluetoothError) { try air.add(scenario: text) }

  func setPresent(_ isPresent: Bool, _ device: String) throws(BluetoothError) {
    try air.command(device, isPresent: isPresent)
  }

  func disconnect(_ device: String, reason: UInt8) throws(BluetoothError) {
    try air.command(device, disconnectWith: reason)
  }

  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID, _ device: String) throws(BluetoothError) {
    try air.command(device, set: value, of: characteristic)
  }

  func change(_ device: String, members: String) throws(BluetoothError) {
    try air.command(device, change: members)
  }

  func written(after number: Int, _ device: String?) -> [SimulationWrite] {
    air.writes.entries(after: number, device: device, limit: SimulationWritten.limit).map {
      .init(
        number: $0.number, time: $0.time, device: $0.device, characteristic: $0.characteristic,
        operation: Word($0.operation.rawValue), value: HexBytes($0.value))
    }
  }

  func visit(
    _ phone: String, isWanted: @escaping () -> Bool, _ done: @escaping (SimulationVisit.Result) -> Void
  ) throws(BluetoothError) {
    try air.visit(phone, isWanted: isWanted) { report in
      let steps = report.steps.map {
        SimulationVisitStep(
          time: $0.time, action: Word($0.action), characteristic: $0.characteristic, value: $0.value.map(HexBytes.init),
          error: $0.error.map(RPCError.init))
      }
      done(.init(steps: steps, complete: report.isComplete))
    }
  }

  func setAdapter(_ id: String?, _ state: SimulationAdapter.State) throws(BluetoothError) {
    let found = switched.first { adapter in
      id.map { $0.utf8.elementsEqual(adapter.seam.information.id.utf8) } ?? true
    }
    guard let adapter = found else {
      let known = switched.map { "\"\($0.seam.information.id)\"" }.joined(separator: ", ")
      throw GAPError.unknownDevice.error("there is no simulated adapter of that name: give one of \(known)")
    }
    if state != .absent { adapter.comeBack() }
    switch state {
    case .on: adapter.seam.setPower(true) { _ in }
    case .off: adapter.seam.setPower(false) { _ in }
    case .absent: adapter.vanish()
    case .failed: adapter.stopAnswering()
    }
  }
}

/// An adapter that tests switch.
private protocol SwitchedAdapter {
  /// The adapter, as the daemon uses it.
  var seam: any Adapter { get }
  /// The controller is unplugged.
  func vanish()
  /// The controller is plugged in again, and works.
  func comeBack()
  /// The controller does not answer any longer.
  func stopAnswering()
}

extension SimulatedAdapter: SwitchedAdapter {
  fileprivate var seam: any Adapter { self }

  fileprivate func stopAnswering() {
    fail(
      AdapterProblem(
        kind: .hardware, message: "the simulated controller does not answer",
        remedy: "repair it with simulation.adapter"))
  }
}

extension VirtualAdapter: SwitchedAdapter {
  fileprivate var seam: any Adapter { host }
}
