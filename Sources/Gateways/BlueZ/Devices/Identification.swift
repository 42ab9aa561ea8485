/// Finds the objects of devices that have connected to this machine: reads devices without an object from bled.
final class Identification {
  private let devices: Devices
  /// Reads the connected devices from bled.
  private let readDevices: (@escaping () -> Void) -> Void
  /// The work that waits for the answer, by bled's name of the device.
  private var waiting: [String: [() -> Void]] = [:]

  init(_ devices: Devices, readDevices: @escaping (@escaping () -> Void) -> Void) {
    self.devices = devices
    self.readDevices = readDevices
  }

  /// Does `work` once the device has an object, for programs to read, or bled does not know the device.
  func identify(_ peripheral: String, _ work: @escaping () -> Void) {
    if waiting[peripheral] != nil { return waiting[peripheral, default: []].append(work) }
    guard devices.all(peripheral).isEmpty else { return work() }
    waiting[peripheral] = [work]
    readDevices { [weak self] in
      for work in self?.waiting.removeValue(forKey: peripheral) ?? [] { work() }
    }
  }
}
