import BledConnection
import BledRPC
import Bluetooth
import Synchronization

/// Fills the stream of a characteristic's values. The first value arrives after the daemon's answer, which has the
/// handle.
final class SubscribedValues: Sendable {
  private enum Place {
    case awaited
    /// The client's subscription has this stream as a user.
    case used(UInt16)
    case abandoned
  }

  /// Maximum values that the stream keeps.
  private static let limit = 4096

  private let output: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let place = Mutex(Place.awaited)
  private let client: BledClient
  private let peripheral: String

  /// Observes from now on, until the stream is released. `use` follows, once there is a subscription.
  static func observe(
    on device: Peripheral
  ) -> (stream: AsyncThrowingStream<[UInt8], any Error>, values: SubscribedValues) {
    let (stream, output) = AsyncThrowingStream.makeStream(of: [UInt8].self, StreamBuffering.all(limit))
    return (stream, SubscribedValues(device, output))
  }

  private init(_ device: Peripheral, _ output: AsyncThrowingStream<[UInt8], any Error>.Continuation) {
    self.output = output
    client = device.client
    peripheral = device.identifier
    let core = client.core
    let observations = [
      core.observe(GATTValue.self, value: { [self] in receive($0) }, end: { [self] in end($0) }),
      core.observe(
        GATTSubscriptionLost.self,
        value: { [self] event in
          if event.peripheral == peripheral, isOf(event.handle) { end(event.reason.bluetoothError) }
        }, end: { [self] in end($0) }),
      core.observe(
        PeripheralDisconnected.self,
        value: { [self] event in
          guard event.peripheral == peripheral else { return }
          end(event.reason?.bluetoothError ?? GAPError.disconnected.error("the connection was ended here"))
        }, end: { [self] in end($0) }),
    ]
    output.onTermination = { [self] _ in
      for observation in observations { observation.cancel() }
      let handle = place.withLock { place in
        defer { place = .abandoned }
        return if case .used(let handle) = place { handle } else { nil as UInt16? }
      }
      if let handle { leave(handle) }
    }
  }

  /// The client has a subscription to this characteristic, with this stream as a user.
  func use(_ handle: UInt16) {
    let isWanted = place.withLock { place in
      if case .abandoned = place { return false }
      place = .used(handle)
      return true
    }
    if !isWanted { leave(handle) }
  }

  private func leave(_ handle: UInt16) {
    client.core.leave(.init(peripheral: peripheral, handle: handle), of: SubscriptionRequest.self)
  }

  /// The characteristic could not be subscribed to.
  func finish() { output.finish() }

  private func receive(_ event: GATTValue.Params) {
    guard event.peripheral == peripheral, isOf(event.handle) else { return }
    output.offer(event.value.octets, StreamBuffering.all(Self.limit))
  }

  private func isOf(_ handle: UInt16) -> Bool {
    place.withLock { if case .used(handle) = $0 { true } else { false } }
  }

  private func end(_ error: BluetoothError?) { output.finish(throwing: error) }
}
