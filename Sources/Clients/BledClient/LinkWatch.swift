import BledRPC
import Bluetooth

/// The two streams of a `Peripheral`: its changes and its end. Each has its own observers: the end of one stream's
/// reader does not affect the other's.
struct LinkWatch: Sendable {
  let ends: AsyncStream<BluetoothError?>
  let changes: AsyncStream<LinkChange>
  private let endOutput: AsyncStream<BluetoothError?>.Continuation
  private let changeOutput: AsyncStream<LinkChange>.Continuation

  init() {
    (ends, endOutput) = AsyncStream.makeStream(of: BluetoothError?.self, bufferingPolicy: .bufferingOldest(1))
    (changes, changeOutput) = AsyncStream.makeStream(of: LinkChange.self, bufferingPolicy: .bufferingNewest(16))
  }

  /// Observes from now on.
  func begin(on core: ClientCore, _ peripheral: String) {
    let (endOutput, changeOutput) = (endOutput, changeOutput)
    let ends = Self.follow(peripheral, on: core) { error in
      endOutput.yield(error)
      endOutput.finish()
    }
    endOutput.onTermination = { _ in for observation in ends { observation.cancel() } }
    var changes = Self.follow(peripheral, on: core, lost: { changeOutput.yield(.lost($0)) }) { _ in
      changeOutput.finish()
    }
    changes.append(
      core.observe(PeripheralConnected.self) { event in
        if event.peripheral == peripheral { changeOutput.yield(.back(event)) }
      } end: { _ in
      })
    changeOutput.onTermination = { [changes] _ in for observation in changes { observation.cancel() } }
  }

  /// Calls functions when a link is lost and to be reconnected, and when it has ended: because reconnecting failed, or
  /// with the connection to the daemon.
  private static func follow(
    _ peripheral: String, on core: ClientCore, lost: @escaping @Sendable (BluetoothError?) -> Void = { _ in },
    ended: @escaping @Sendable (BluetoothError?) -> Void
  ) -> [Observation] {
    [
      core.observe(PeripheralDisconnected.self) { event in
        guard event.peripheral == peripheral else { return }
        let reason = event.reason?.bluetoothError
        if event.reconnecting == true { lost(reason) } else { ended(reason) }
      } end: {
        ended($0)
      },
      core.observe(PeripheralConnectFailed.self) { event in
        if event.peripheral == peripheral { ended(event.reason.bluetoothError) }
      } end: { _ in
      },
    ]
  }
}
