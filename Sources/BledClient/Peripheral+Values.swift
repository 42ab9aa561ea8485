import BledRPC
import Bluetooth
import NIOConcurrencyHelpers

extension Peripheral {
  /// Reads a characteristic or descriptor, however long it is.
  /// - Parameter handle: The handle of the value or descriptor.
  /// - Returns: 0 to 512 octets.
  /// - Throws: `BledError.notAllowedByProperties`; an error of the domain `att` that the device answers;
  ///   `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; and as `BledClient.call`.
  public func read(_ handle: UInt16) async throws(BluetoothError) -> [UInt8] {
    try await client.call(GATTRead.self, .init(peripheral: identifier, handle: handle)).value.octets
  }

  /// Writes a characteristic or descriptor.
  /// - Parameters:
  ///   - value: 0 to 512 octets; without a response no more than MTU − 3.
  ///   - handle: The handle of the value or descriptor.
  ///   - response: Whether to wait for the device's answer; else it returns when the link has room for the packet.
  /// - Throws: As `read`; `BledError.invalidParameter` for a value that is too long; `.notPermitted` for a Client
  ///   Characteristic Configuration, which programs share: use `subscribe`.
  public func write(_ value: [UInt8], to handle: UInt16, response: Bool = true) async throws(BluetoothError) {
    let params = GATTWrite.Params(
      peripheral: identifier, handle: handle, value: HexBytes(value), response: response ? nil : false)
    _ = try await client.call(GATTWrite.self, params)
  }

  /// Subscribes to a characteristic, and unsubscribes when the stream is let go or the task that reads it is cancelled.
  ///
  /// No value is dropped silently: if more than 4096 wait to be fetched, the stream ends with `BledError.tooSlow`.
  /// - Parameter handle: The handle of the characteristic's value.
  /// - Returns: The values. The stream throws when the subscription is lost or the connection ends.
  /// - Throws: As `read`; `GAPError.notSupported` if the characteristic has no Client Characteristic Configuration.
  public func subscribe(_ handle: UInt16) async throws(BluetoothError) -> AsyncThrowingStream<[UInt8], any Error> {
    let (stream, output) = values(of: handle)
    do {
      _ = try await client.call(GATTSubscribe.self, .init(peripheral: identifier, handle: handle))
    } catch {
      output.finish()
      throw error
    }
    return stream
  }

  /// The values of a subscription that was restored; otherwise as `subscribe`. Call it in the `prepare` of `connect` to get
  /// those that were kept.
  public func restoredValues(_ handle: UInt16) -> AsyncThrowingStream<[UInt8], any Error> { values(of: handle).stream }

  private func values(
    of handle: UInt16
  ) -> (
    stream: AsyncThrowingStream<[UInt8], any Error>, output: AsyncThrowingStream<[UInt8], any Error>.Continuation
  ) {
    let core = client.core
    let reference = CharacteristicReference(peripheral: identifier, handle: handle)
    let buffering = StreamBuffering.all(4096)
    let (stream, output) = AsyncThrowingStream.makeStream(of: [UInt8].self, buffering)
    let end = { @Sendable (error: BluetoothError?) in output.finish(throwing: error) }
    let observations = [
      core.observe(
        GATTValue.self,
        value: { event in
          if event.handle == handle, event.peripheral == reference.peripheral {
            output.offer(event.value.octets, buffering)
          }
        }, end: end),
      core.observe(
        GATTSubscriptionLost.self,
        value: { event in
          if event.handle == handle, event.peripheral == reference.peripheral { end(event.reason.bluetoothError) }
        }, end: end),
      core.observe(
        PeripheralDisconnected.self,
        value: { event in
          guard event.peripheral == reference.peripheral else { return }
          end(event.reason?.bluetoothError ?? GAPError.disconnected.error("the connection was ended here"))
        }, end: end),
    ]
    client.subscriptions.add(reference)
    output.onTermination = { [client] _ in
      for observation in observations { observation.cancel() }
      if client.subscriptions.remove(reference) { core.tell(GATTUnsubscribe.self, reference) }
    }
    return (stream, output)
  }
}

/// How many streams of this client want a characteristic's values: the last one that ends unsubscribes.
final class SubscriptionCounts: Sendable {
  private let counts = NIOLockedValueBox<[CharacteristicReference: Int]>([:])

  func add(_ reference: CharacteristicReference) { counts.withLockedValue { $0[reference, default: 0] += 1 } }

  /// Whether it was the last one.
  func remove(_ reference: CharacteristicReference) -> Bool {
    counts.withLockedValue { counts in
      let left = counts[reference, default: 1] - 1
      counts[reference] = left > 0 ? left : nil
      return left == 0
    }
  }
}
