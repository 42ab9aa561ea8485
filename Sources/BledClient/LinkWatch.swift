import BledRPC
import Bluetooth

/// What becomes of a link that the daemon connects again whenever it is lost.
public enum LinkChange: Sendable {
  /// It is lost, with the reason; pending calls have failed, and subscriptions are gone.
  case lost(BluetoothError?)
  /// It is there again.
  case back(PeripheralConnect.Result)
}

/// The two streams of a `Peripheral`: its changes and its end.
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
    let end = { @Sendable (error: BluetoothError?) in
      endOutput.yield(error)
      endOutput.finish()
      changeOutput.finish()
    }
    let lost = core.observe(PeripheralDisconnected.self) { event in
      guard event.peripheral == peripheral else { return }
      guard event.reconnecting == true else { return end(event.reason?.bluetoothError) }
      changeOutput.yield(.lost(event.reason?.bluetoothError))
    } end: {
      end($0)
    }
    let back = core.observe(PeripheralConnected.self) { event in
      if event.peripheral == peripheral { changeOutput.yield(.back(event)) }
    } end: { _ in
    }
    endOutput.onTermination = { _ in
      lost.cancel()
      back.cancel()
    }
  }
}
