import BledClient
import BledRPC

extension Shell {
  /// Connects to a device and transfers a train to it.
  /// - Parameters:
  ///   - adapter: The adapter with the train.
  ///   - params: The call, for the daemon's identifier of the device.
  @MainActor func transfer(
    to name: String, over adapter: String, within deadline: Deadline, _ output: Output,
    _ params: @escaping @Sendable (String) -> PeriodicTransfer.Params
  ) async throws {
    let client = try await connection()
    try await use(name, within: deadline, over: adapter) { @MainActor device in
      try await client.transfer(params(device.peripheral.identifier))
      if !output.json { output.line("transferred to \(device.name)") }
    }
  }
}
