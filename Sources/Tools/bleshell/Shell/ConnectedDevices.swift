import BledClient

/// The devices that `connect` connected, and the current one.
@MainActor final class ConnectedDevices {
  /// In the order of connecting.
  private(set) var all: [Device] = []
  /// The device of commands without one.
  private(set) var current: Device?
  /// True if the current device disconnected, and no `expect disconnected` has seen it.
  private var isEndPending = false
  /// Reports an event that is independent of commands.
  private let report: @MainActor (String) -> Void

  /// - Parameter report: called with each event of a device.
  init(report: @escaping @MainActor (String) -> Void) { self.report = report }

  /// Makes a device the current one, and watches its connection if it is a new one.
  func choose(_ device: Device) {
    (current, isEndPending) = (device, false)
    guard !contains(device) else { return }
    all.removeAll { $0.peripheral.identifier == device.peripheral.identifier }
    all.append(device)
    Task {
      for await reason in device.peripheral.ends where self.contains(device) {
        if self.current === device { self.isEndPending = true }
        self.drop(device)
        let others = self.all.map { "\"use \($0.name)\"" }.joined(separator: " or ")
        self.report(
          "\(device.name) disconnected" + (reason.map { ": \($0.message)" } ?? "")
            + (others.isEmpty ? "" : "; \(others) switches to another device"))
      }
    }
    Task {
      for await change in device.peripheral.changes where self.contains(device) {
        switch change {
        case .lost(let reason):
          device.isLost = true
          self.report("lost the connection to \(device.name)" + (reason.map { ": \($0.message)" } ?? ""))
        case .back:
          device.isLost = false
          device.forgetAll()
          self.report("\(device.name) is connected again")
        }
      }
    }
  }

  /// A device is no longer used, and no other one replaces it: the next command was not meant for another device.
  func drop(_ device: Device) {
    all.removeAll { $0 === device }
    if current === device { current = nil }
  }

  /// The connection to the daemon has ended, and all links with it.
  func dropAll() { (current, all) = (nil, []) }

  /// Returns true if the current device disconnected, and no other was chosen since: once for each disconnection.
  func seeEnd() -> Bool {
    defer { isEndPending = false }
    return isEndPending
  }

  func contains(_ device: Device) -> Bool { all.contains { $0 === device } }

  /// The device denoted by a text, by the rules of other devices; nil for none, or several.
  func find(_ text: String) -> Device? {
    let candidates = all.map { DeviceCandidate($0.peripheral.identifier, $0.name, $0.peripheral.link.address) }
    guard let found = try? DeviceCandidate.choose(text, among: candidates) else { return nil }
    return all.first { $0.peripheral.identifier == found.identifier }
  }

  /// The error for a device that `connect` did not connect.
  func notConnected(_ text: String?) -> Failure {
    let names = all.map(\.name)
    guard !names.isEmpty else { return Failure("no device is connected here") }
    let list = names.map(Output.clean).joined(separator: ", ")
    return Failure(text.map { "\($0) is not connected here; connected: \(list)" } ?? "which device? Connected: \(list)")
  }
}
