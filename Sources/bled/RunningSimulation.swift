import BledCore
import BledRPC
import Bluetooth
import SimulatedAdapter

/// The simulated air and its clock, as clients command them.
final class RunningSimulation: Simulation {
  private let air: Air
  private let clock: DaemonClock

  init(_ air: Air, _ clock: DaemonClock) {
    self.air = air
    self.clock = clock
  }

  func advance(by duration: Duration, _ done: @escaping (Double) -> Void) throws(BluetoothError) {
    guard clock.advance(by: duration, { [clock] in done(clock.scheduler.secondsSinceEpoch) }) else {
      throw GAPError.notSupported.error("the clock goes by itself: give a scenario with \"clock\": \"manual\"")
    }
  }

  var devices: [SimulationDevice] {
    air.deviceStates.map {
      .init(
        name: $0.name, address: "\($0.address)", addressType: "\($0.address.kind)", present: $0.isPresent,
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
        operation: $0.operation.rawValue, value: HexBytes($0.value))
    }
  }
}
