import BledClient
import BledRPC
import Bluetooth

/// A connected device with what is known about it.
@MainActor final class Device {
  let peripheral: Peripheral
  /// The name to show.
  let name: String
  private var services: [ServiceDescription]?

  init(peripheral: Peripheral, name: String) {
    self.peripheral = peripheral
    self.name = name
  }

  /// Its services, discovered at the first use.
  func tree() async throws -> [ServiceDescription] {
    if let services { return services }
    let services = try await peripheral.discover()
    self.services = services
    return services
  }

  /// Makes the next `tree` discover again.
  func forgetTree() { services = nil }

  /// What is known without discovery.
  var knownTree: [ServiceDescription] { services ?? [] }
}
