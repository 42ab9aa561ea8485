import Bluetooth
import JSONFiles

/// The air of a simulation, as tests command it.
package protocol CommandedAir: AnyObject {
  /// The devices, in order of appearance.
  var commandedDevices: [any CommandedDevice] { get }
  /// The number of devices and phones.
  var participants: Int { get }
  /// The writes to devices.
  var writes: WriteLog { get }
  /// Puts devices and phones on the air. Devices that another adapter's scenario has already put there stay unchanged.
  func populate(_ scenario: Scenario)
  /// Makes a phone visit an adapter once. A present phone with this address visits with its own keys.
  /// - Parameters:
  ///   - isWanted: returns true if a caller waits for the report; the phone does not begin a visit without a waiting
  ///     caller.
  ///   - done: called once, when the visit is over.
  /// - Returns: false if the phone is on a visit, or searches for an advertisement for a waiting caller.
  func visit(
    _ description: PhoneDescription, isWanted: @escaping () -> Bool, _ done: @escaping (VisitReport) -> Void
  ) -> Bool
}

/// Maximum devices and phones that commands may add up to.
private let maximumDevices = 10_000

/// The commands of tests during a simulation.
extension CommandedAir {
  /// Puts the devices and phones of a scenario on the air.
  /// - Throws: `BledError.invalidParameter`, with the place in the text; `BledError.limitReached`.
  package func add(scenario text: String) throws(BluetoothError) {
    let scenario: Scenario
    do {
      scenario = try Scenario(json: text)
    } catch {
      throw BledError.invalidParameter.error("\(error)")
    }
    let added = scenario.devices.reduce(scenario.phones.count) { $0 + $1.addresses.count }
    guard participants + added <= maximumDevices else {
      throw BledError.limitReached.error(
        "the air has \(participants) devices and phones of at most \(maximumDevices)")
    }
    populate(scenario)
  }

  /// Takes a device from the air, or puts it back.
  /// - Throws: `GAPError.unknownDevice`, with the present names; so do the other commands.
  package func command(_ name: String, isPresent: Bool) throws(BluetoothError) {
    try device(name).setPresent(isPresent)
  }

  /// Makes a device end its link, if it has one.
  /// - Parameter reason: the HCI error code reported to the other side.
  package func command(_ name: String, disconnectWith reason: UInt8) throws(BluetoothError) {
    try device(name).disconnect(reason: reason)
  }

  /// Changes members of a device.
  /// - Parameter text: an object with members of a device, in the format of a scenario file.
  /// - Throws: `BledError.invalidParameter` as well, with the place in the text.
  package func command(_ name: String, change text: String) throws(BluetoothError) {
    let device = try device(name)
    do {
      device.change(try DeviceChange(try JSONFile.parse(text.utf8, name: "change")))
    } catch {
      throw BledError.invalidParameter.error("\(error)")
    }
  }

  /// Sets a value of a device, and sends it to a subscriber.
  package func command(
    _ name: String, set value: [UInt8], of characteristic: BluetoothUUID
  ) throws(BluetoothError) {
    let device = try device(name)
    guard !device.setValue(value, of: characteristic) else { return }
    guard device.has(characteristic) else {
      throw GAPError.unknownDevice.error("\"\(name)\" has no characteristic \(characteristic)")
    }
    throw BledError.invalidParameter.error(
      "the value of \(characteristic) changes by its \"rule\": set the device's \"services\" without one "
        + "(simulation.change)")
  }

  /// Makes a phone visit an adapter once. A present phone with this address visits with its own keys.
  /// - Parameters:
  ///   - text: a phone, in the format of a scenario file.
  ///   - isWanted: returns true if a caller waits for the report; the phone does not begin a visit without a waiting
  ///     caller.
  ///   - done: called once, when the visit is over.
  /// - Throws: `BledError.invalidParameter`, with the place in the text, or if the phone is on a visit;
  ///   `BledError.limitReached`.
  package func visit(
    _ text: String, isWanted: @escaping () -> Bool = { true }, _ done: @escaping (VisitReport) -> Void
  ) throws(BluetoothError) {
    let description: PhoneDescription
    do {
      description = try PhoneDescription(try JSONFile.parse(text.utf8, name: "phone"))
    } catch {
      throw BledError.invalidParameter.error("\(error)")
    }
    guard !commandedDevices.contains(where: { $0.address == description.address }) else {
      throw BledError.invalidParameter.error("a device has the address \(description.address): give the phone its own")
    }
    guard participants < maximumDevices else {
      throw BledError.limitReached.error("the air has \(maximumDevices) devices and phones, the maximum")
    }
    guard visit(description, isWanted: isWanted, done) else {
      throw BledError.invalidParameter.error("the phone is on a visit, or looks for an advertisement: wait for its end")
    }
  }

  private func device(_ name: String) throws(BluetoothError) -> any CommandedDevice {
    if let device = commandedDevices.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return device }
    let devices = commandedDevices
    let known = devices.prefix(8).map { "\"\($0.name)\"" }.joined(separator: ", ")
    let more = devices.count > 8 ? " and \(devices.count - 8) more, which simulation.devices lists" : ""
    throw GAPError.unknownDevice.error(
      known.isEmpty
        ? "there are no simulated devices: add some with simulation.add"
        : "there is no simulated device of that name: give one of \(known)\(more)")
  }
}
