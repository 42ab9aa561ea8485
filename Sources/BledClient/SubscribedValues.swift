import BledConnection
import BledRPC
import Bluetooth
import Synchronization

/// Fills the stream of a characteristic's values. Where only its UUID is known, the values of
/// the whole device are kept until the daemon's answer says which of them are meant: the first come before it.
final class SubscribedValues: Sendable {
  private enum Place {
    /// Used: the client's subscription has this stream as a user.
    case known(UInt16, isUsed: Bool)
    case awaited(early: [(handle: UInt16, value: [UInt8])])
    case abandoned
  }

  /// How many values are kept: as many as the stream keeps, and before the handle is known.
  private static let limit = 4096

  private let output: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let place: Mutex<Place>
  private let client: BledClient
  private let peripheral: String

  /// Observes from now on, until the stream is released.
  /// - Parameter handle: nil if it is not known yet. `locate` follows in any case, once there is a subscription.
  static func observe(
    _ handle: UInt16?, on device: Peripheral
  ) -> (stream: AsyncThrowingStream<[UInt8], any Error>, values: SubscribedValues) {
    let (stream, output) = AsyncThrowingStream.makeStream(of: [UInt8].self, StreamBuffering.all(limit))
    return (stream, SubscribedValues(handle, device, output))
  }

  private init(
    _ handle: UInt16?, _ device: Peripheral, _ output: AsyncThrowingStream<[UInt8], any Error>.Continuation
  ) {
    self.output = output
    place = Mutex(handle.map { .known($0, isUsed: false) } ?? .awaited(early: []))
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
        return if case .known(let handle, isUsed: true) = place { handle } else { nil as UInt16? }
      }
      if let handle { leave(handle) }
    }
  }

  /// The client has a subscription to this characteristic, with this stream as a user.
  func locate(_ handle: UInt16) {
    let early: [(handle: UInt16, value: [UInt8])]? = place.withLock { place in
      switch place {
      case .awaited(let early):
        place = .known(handle, isUsed: true)
        return early
      case .known:
        place = .known(handle, isUsed: true)
        return []
      case .abandoned: return nil
      }
    }
    guard let early else { return leave(handle) }
    for event in early where event.handle == handle { offer(event.value) }
  }

  private func leave(_ handle: UInt16) {
    client.core.leave(.init(peripheral: peripheral, handle: handle), of: SubscriptionRequest.self)
  }

  /// The characteristic could not be subscribed to.
  func finish() { output.finish() }

  private func receive(_ event: GATTValue.Params) {
    guard event.peripheral == peripheral else { return }
    let (isMeant, isFull) = place.withLock { place in
      switch place {
      case .known(let handle, _): return (handle == event.handle, false)
      case .awaited(var early):
        guard early.count < Self.limit else { return (false, true) }
        // Not copied for each value.
        place = .abandoned
        early.append((event.handle, event.value.octets))
        place = .awaited(early: early)
        return (false, false)
      case .abandoned: return (false, false)
      }
    }
    if isMeant { offer(event.value.octets) }
    if isFull { end(BledError.tooSlow.error("more than \(Self.limit) values came before the subscription's answer")) }
  }

  private func isOf(_ handle: UInt16) -> Bool {
    place.withLock { if case .known(handle, _) = $0 { true } else { false } }
  }

  private func offer(_ value: [UInt8]) { output.offer(value, StreamBuffering.all(Self.limit)) }

  private func end(_ error: BluetoothError?) { output.finish(throwing: error) }
}
