import BledRPC
import Bluetooth

/// The commands of tests: to the clock, and to the devices on the simulated air.
public protocol Simulation: AnyObject {
  /// Moves the clock.
  /// - Parameter done: called once with the time of day, in seconds since 1970.
  /// - Throws: `GAPError.notSupported` if the clock runs by itself.
  func advance(by duration: Duration, _ done: @escaping (Double) -> Void) throws(BluetoothError)
  /// The devices, in the order of their appearance on the air.
  var devices: [SimulationDevice] { get }
  /// Puts a scenario's devices and phones on the air.
  /// - Parameter text: in the format of a scenario file.
  /// - Throws: `BledError.invalidParameter`, with the place in the text; `BledError.limitReached`.
  func add(_ text: String) throws(BluetoothError)
  /// Has a device leave the air, or return.
  /// - Throws: `GAPError.unknownDevice`, with the names of existing devices; so do the others.
  func setPresent(_ isPresent: Bool, _ device: String) throws(BluetoothError)
  /// Has a device end its link.
  /// - Parameter reason: the HCI error code reported to this machine.
  func disconnect(_ device: String, reason: UInt8) throws(BluetoothError)
  /// Sets a device's value, and sends it to a subscriber.
  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID, _ device: String) throws(BluetoothError)
  /// Changes a device.
  /// - Parameter members: an object in the format of a scenario file.
  /// - Throws: `BledError.invalidParameter` as well, with the place in the text.
  func change(_ device: String, members: String) throws(BluetoothError)
  /// The writes to devices, at most `SimulationWritten.limit`.
  /// - Parameters:
  ///   - number: the last number before the returned ones.
  ///   - device: nil for all.
  func written(after number: Int, _ device: String?) -> [SimulationWrite]
  /// Has a phone visit once.
  /// - Parameters:
  ///   - phone: in the format of a scenario file.
  ///   - isWanted: true while the caller waits for the answer; otherwise the visit does not begin.
  ///   - done: called once, when the visit is over.
  /// - Throws: `BledError.invalidParameter`, with the place in the text; `BledError.limitReached`.
  func visit(
    _ phone: String, isWanted: @escaping () -> Bool, _ done: @escaping (SimulationVisit.Result) -> Void
  ) throws(BluetoothError)
  /// Switches an adapter.
  /// - Parameter id: nil for the first one.
  /// - Throws: `GAPError.unknownDevice`, with the names of existing adapters.
  func setAdapter(_ id: String?, _ state: SimulationAdapter.State) throws(BluetoothError)
}

extension Router {
  /// - Parameter simulation: nil without a simulated adapter.
  func serveSimulation(_ simulation: @escaping () -> (any Simulation)?) {
    func required() throws(BluetoothError) -> any Simulation {
      guard let simulation = simulation() else {
        throw GAPError.notSupported.error("there is no simulated adapter: start bled with --adapter simulated")
      }
      return simulation
    }
    serve(SimulationAdvance.self) { params, _, reply in
      guard (0...SimulationAdvance.longest).contains(params.seconds) else {
        throw BledError.invalidParameter.error("\"seconds\" must be 0 to \(Int(SimulationAdvance.longest))")
      }
      try required().advance(by: .seconds(params.seconds)) { reply.succeed(.init(time: $0)) }
    }
    answer(SimulationDevices.self) { _, _ in .init(devices: try required().devices) }
    acknowledge(SimulationAdd.self) { params, _ in try required().add(params.scenario) }
    acknowledge(SimulationVanish.self) { params, _ in try required().setPresent(false, params.device) }
    acknowledge(SimulationComeBack.self) { params, _ in try required().setPresent(true, params.device) }
    acknowledge(SimulationDisconnect.self) { params, _ in
      guard let reason = UInt8(exactly: params.reason ?? 0x13), reason > 0 else {
        throw BledError.invalidParameter.error("\"reason\" must be an HCI error code, 1 to 255")
      }
      try required().disconnect(params.device, reason: reason)
    }
    acknowledge(SimulationChange.self) { params, _ in try required().change(params.device, members: params.members) }
    answer(SimulationWritten.self) { params, _ in
      .init(writes: try required().written(after: params.after ?? 0, params.device))
    }
    serve(SimulationVisit.self) { params, _, reply in
      try required().visit(params.phone, isWanted: { reply.isWanted }) { reply.succeed($0) }
    }
    acknowledge(SimulationAdapter.self) { params, _ in try required().setAdapter(params.adapter, params.state) }
    acknowledge(SimulationSetValue.self) { params, _ in
      guard params.value.octets.count <= 512 else {
        throw BledError.invalidParameter.error("\"value\" has 512 octets at most")
      }
      try required().setValue(params.value.octets, of: params.characteristic, params.device)
    }
  }
}
