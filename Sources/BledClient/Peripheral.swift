import BledRPC
import Bluetooth

/// A change of a link that the daemon re-establishes whenever it is lost.
public enum LinkChange: Sendable {
  /// The link was lost, with the reason; pending calls have failed, and subscriptions have ended.
  case lost(BluetoothError?)
  /// The link is up again.
  case back(PeripheralConnect.Result)
}

/// A device that this client is connected to.
public final class Peripheral: Sendable {
  /// The client that connected.
  public let client: BledClient
  /// Identifier, address, adapter and MTU, as they were when it was first connected.
  public let link: PeripheralConnect.Result
  /// Yields one element when the connection has ended: the reason, or nil if this client ended it. For one reader.
  public let ends: AsyncStream<BluetoothError?>
  /// The changes of a link with automatic reconnection; finishes when the connection has ended. For one reader.
  public let changes: AsyncStream<LinkChange>

  init(client: BledClient, link: PeripheralConnect.Result, _ watch: LinkWatch) {
    self.client = client
    self.link = link
    ends = watch.ends
    changes = watch.changes
  }

  /// The daemon's identifier of the device.
  public var identifier: String { link.peripheral }

  /// Ends this client's use of the device.
  /// - Throws: `GAPError.notConnected` if it has ended already; and as `BledClient.call`.
  public func disconnect() async throws(BluetoothError) {
    _ = try await client.call(PeripheralDisconnect.self, .init(peripheral: identifier))
  }

  /// Measures the signal strength.
  /// - Returns: dBm.
  /// - Throws: `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; and as `BledClient.call`.
  public func rssi() async throws(BluetoothError) -> Int {
    try await client.call(PeripheralRSSI.self, .init(peripheral: identifier)).rssi
  }

  /// Discovers everything: services, included services, characteristics, descriptors.
  /// - Parameters:
  ///   - timeout: How long it may take; the daemon's 60 s if nil.
  ///   - progress: Called about once a second with what was found so far, on the connection's queue.
  /// - Throws: `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; `.timeout`; an error of the
  ///   domain `att` that the device answers; and as `BledClient.call`.
  public func discover(
    timeout: Duration? = nil, progress: (@Sendable (GATTDiscoveryProgress.Params) -> Void)? = nil
  ) async throws(BluetoothError) -> [ServiceDescription] {
    let observation = progress.map { progress in
      client.observe(GATTDiscoveryProgress.self) { [identifier] found in
        if found.peripheral == identifier { progress(found) }
      } end: { _ in
      }
    }
    defer { observation?.cancel() }
    return try await client.call(
      GATTDiscover.self, .init(peripheral: identifier, timeout: timeout?.inSeconds)
    ).services
  }

  /// Discovers primary services, without their contents.
  /// - Parameter uuids: Only these are requested; all if nil.
  /// - Throws: As `discover`.
  public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(BluetoothError) -> [ServiceDescription] {
    try await client.call(GATTDiscoverServices.self, .init(peripheral: identifier, services: uuids)).services
  }

  /// Discovers the characteristics of a service.
  /// - Parameter uuids: Only these; all if nil.
  /// - Throws: `BledError.unknownHandle` for a service that was not discovered; and as `discover`.
  public func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: ServiceDescription
  ) async throws(BluetoothError) -> [CharacteristicDescription] {
    let scope = GATTScope(peripheral: identifier, handle: service.handle, uuids: uuids)
    return try await client.call(GATTDiscoverCharacteristics.self, scope).characteristics
  }

  /// Reads a characteristic or descriptor, whatever its length.
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
  ///   - response: Whether to wait for the device's response; if not, it returns once the link has room for the packet.
  /// - Throws: As `read`; `BledError.invalidParameter` for a value that is too long; `.notPermitted` for a Client
  ///   Characteristic Configuration, which programs share: use `subscribe`.
  public func write(_ value: [UInt8], to handle: UInt16, response: Bool = true) async throws(BluetoothError) {
    let params = GATTWrite.Params(
      peripheral: identifier, handle: handle, value: HexBytes(value), response: response ? nil : false)
    _ = try await client.call(GATTWrite.self, params)
  }

  /// Subscribes to a characteristic, and unsubscribes when the stream is released or the task that reads it is
  /// cancelled.
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

  /// The values of a restored subscription; otherwise as `subscribe`. Call it in the `prepare` closure of `connect` to
  /// receive the preserved values.
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
    core.addSubscription(reference)
    output.onTermination = { [client] _ in
      for observation in observations { observation.cancel() }
      client.core.removeSubscription(reference)
    }
    return (stream, output)
  }
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
