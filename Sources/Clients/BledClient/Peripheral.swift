import BledConnection
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
    client.core.lost(identifier)
  }

  /// Measures the signal strength.
  /// - Returns: dBm, -127 to 20.
  /// - Throws: `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; and as `BledClient.call`.
  public func rssi() async throws(BluetoothError) -> Int {
    try await client.call(PeripheralRSSI.self, .init(peripheral: identifier)).rssi
  }

  /// Discovers everything: services, included services, characteristics, descriptors (Core 5.4, Vol 3, Part G, 4.4 to
  /// 4.7).
  /// - Parameters:
  ///   - timeout: The timeout; the daemon's 60 s if nil.
  ///   - progress: Called about once a second with the attributes found so far, on the connection's queue.
  /// - Returns: The services in order of their handles.
  /// - Throws: `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; `.timeout`; an error of the
  ///   domain `att` from the device; and as `BledClient.call`.
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
  /// - Returns: The services in order of their handles.
  /// - Throws: As `discover`.
  public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(BluetoothError) -> [ServiceDescription] {
    try await client.call(GATTDiscoverServices.self, .init(peripheral: identifier, services: uuids)).services
  }

  /// Discovers the characteristics of a service.
  /// - Parameters:
  ///   - uuids: Only these; all if nil.
  ///   - service: The service, as `discoverServices` or `discover` returned it.
  /// - Throws: `BledError.unknownHandle` for a service that was not discovered; and as `discover`.
  public func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: ServiceDescription
  ) async throws(BluetoothError) -> [CharacteristicDescription] {
    let scope = GATTScope(peripheral: identifier, handle: service.handle, uuids: uuids)
    return try await client.call(GATTDiscoverCharacteristics.self, scope).characteristics
  }

  /// Reads a characteristic or descriptor of any length.
  /// - Parameter handle: The handle of the value or descriptor.
  /// - Returns: 0 to 512 octets.
  /// - Throws: `BledError.notAllowedByProperties`; an error of the domain `att` that the device answers;
  ///   `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; and as `BledClient.call`.
  public func read(_ handle: UInt16) async throws(BluetoothError) -> [UInt8] {
    try await client.call(GATTRead.self, .init(peripheral: identifier, handle: handle)).value.octets
  }

  /// Reads a characteristic or descriptor that is named by UUIDs; the daemon discovers the missing attributes.
  /// - Returns: 0 to 512 octets.
  /// - Throws: `BledError.unknownAttribute`; `.ambiguousAttribute` if several match and the path has no index; and as
  ///   `read` with a handle.
  public func read(_ attribute: AttributePath) async throws(BluetoothError) -> [UInt8] {
    try await client.call(GATTRead.self, .init(peripheral: identifier, attribute: attribute)).value.octets
  }

  /// Writes a characteristic or descriptor.
  /// - Parameters:
  ///   - value: 0 to 512 octets; without a response no more than MTU − 3.
  ///   - handle: The handle of the value or descriptor.
  ///   - response: True to wait for the device's response; otherwise it returns once the link has room for the packet.
  /// - Throws: As `read`; `BledError.invalidParameter` for a value that is too long; `.notPermitted` for a Client
  ///   Characteristic Configuration, which programs share: use `subscribe`.
  public func write(_ value: [UInt8], to handle: UInt16, response: Bool = true) async throws(BluetoothError) {
    try await write(value, to: .handle(handle), response: response)
  }

  /// Writes a characteristic or descriptor that is named by UUIDs; the daemon discovers the missing attributes.
  /// - Parameters: As `write` with a handle.
  /// - Throws: As `read` with UUIDs, and `write` with a handle.
  public func write(
    _ value: [UInt8], to attribute: AttributePath, response: Bool = true
  ) async throws(BluetoothError) {
    let params = GATTWrite.Params(
      peripheral: identifier, attribute: attribute, value: HexBytes(value), response: response ? nil : false)
    _ = try await client.call(GATTWrite.self, params)
  }

  /// Writes with a signature, without a response (Core 5.4, Vol 3, Part G, 4.9.2): the device can identify the writer
  /// even without encryption. On an encrypted link nothing is signed.
  /// - Parameters:
  ///   - value: The octets, MTU − 15 at most.
  ///   - attribute: The characteristic.
  /// - Throws: As `write`; `notPermitted` without a bond in which we have a key for signatures.
  public func writeSigned(_ value: [UInt8], to attribute: AttributePath) async throws(BluetoothError) {
    _ = try await client.call(
      GATTWrite.self,
      GATTWrite.Params(peripheral: identifier, attribute: attribute, value: HexBytes(value), signed: true))
  }

  /// Writes a value from an offset on, with a response. The device decides whether the rest of the old value stays.
  /// - Parameters:
  ///   - value: The octets; with the offset at most 512.
  ///   - attribute: The characteristic or descriptor.
  ///   - offset: Their offset in the device's value, 0 to 512.
  /// - Throws: As `write`; the error `invalidOffset` of the domain `att` if the device's value is shorter.
  public func write(
    _ value: [UInt8], to attribute: AttributePath, at offset: Int
  ) async throws(BluetoothError) {
    let params = GATTWrite.Params(
      peripheral: identifier, attribute: attribute, value: HexBytes(value), offset: offset)
    _ = try await client.call(GATTWrite.self, params)
  }

  /// Writes several values at once; if the device refuses one of them, or repeats one changed, nothing is written
  /// (Reliable Writes: Core 5.4, Vol 3, Part G, 4.9.5).
  /// - Parameter writes: 1 to 64.
  /// - Throws: As `write`; `GAPError.notSupported` if the device cannot do that.
  public func writeReliably(_ writes: [GATTWriteReliably.Write]) async throws(BluetoothError) {
    _ = try await client.call(GATTWriteReliably.self, .init(peripheral: identifier, writes: writes))
  }

  /// Reads several values with one request (Read Multiple Variable Length: Core 5.4, Vol 3, Part G, 4.8.5).
  /// - Parameter attributes: 2 or more, as many as fit into the request: (MTU − 1) / 2.
  /// - Returns: The values in the order of the attributes; values that did not fit into the MTU are left out.
  /// - Throws: As `read`; `GAPError.notSupported` if the device cannot do that.
  public func readMultiple(_ attributes: [AttributePath]) async throws(BluetoothError) -> [AttributeValue] {
    let params = GATTReadMultiple.Params(peripheral: identifier, attributes: attributes, variable: true)
    return try await client.call(GATTReadMultiple.self, params).values ?? []
  }

  /// Reads all values of a UUID without discovering anything (Core 5.4, Vol 3, Part G, 4.8.2).
  /// - Parameter uuid: The UUID of the characteristics or descriptors.
  /// - Returns: The values with their handles; at most the first 253 octets of each.
  /// - Throws: The error `attributeNotFound` of the domain `att` if there is none; and as `read`.
  public func readAll(of uuid: BluetoothUUID) async throws(BluetoothError) -> [AttributeValue] {
    try await client.call(GATTReadUsingUUID.self, .init(peripheral: identifier, uuid: uuid)).values
  }

  /// Reads the features of the device's GATT server: its Server Supported Features (Core 5.4, Vol 3, Part G, 7.4).
  /// - Returns: True for enhanced bearers, and the value read; no value if it lacks the characteristic.
  /// - Throws: As `read`.
  public func serverFeatures() async throws(BluetoothError) -> GATTServerFeatures.Result {
    try await client.call(GATTServerFeatures.self, .init(peripheral: identifier))
  }

  /// Subscribes to a characteristic, and unsubscribes when the stream is released or the task that reads it is
  /// cancelled.
  ///
  /// No value is dropped silently: if more than 4096 wait to be fetched, the stream ends with `BledError.tooSlow`.
  /// - Parameter handle: The handle of the characteristic's value.
  /// - Returns: The values. The stream throws when the subscription is lost or the connection ends.
  /// - Throws: As `read`.
  public func subscribe(_ handle: UInt16) async throws(BluetoothError) -> AsyncThrowingStream<[UInt8], any Error> {
    try await subscribe(.handle(handle))
  }

  /// Subscribes to a characteristic named by UUIDs; the daemon discovers the missing attributes.
  /// - Parameters:
  ///   - characteristic: The characteristic.
  ///   - indications: True to receive indications, false for notifications; nil leaves it to the daemon.
  /// - Returns: As `subscribe` with a handle.
  /// - Throws: As `read` with UUIDs, and `subscribe` with a handle; `BledError.alreadyInProgress` if other programs
  ///   have subscribed to it in the other way.
  public func subscribe(
    _ characteristic: AttributePath, indications: Bool? = nil
  ) async throws(BluetoothError) -> AsyncThrowingStream<[UInt8], any Error> {
    let (stream, values) = SubscribedValues.observe(on: self)
    let core = client.core
    let reference = { @Sendable [identifier] (found: AttributeFound) in
      (characteristic.handle ?? found.handle).map { CharacteristicReference(peripheral: identifier, handle: $0) }
    }
    do {
      _ = try await core.call(
        GATTSubscribe.self, .init(peripheral: identifier, attribute: characteristic, indications: indications),
        for: SubscriptionRequest(peripheral: identifier, handle: characteristic.handle), using: reference,
        arrived: { found in if let handle = reference(found)?.handle { values.use(handle) } })
    } catch {
      values.finish()
      throw error
    }
    return stream
  }

  /// The values of a restored subscription; otherwise as `subscribe`. Call it in the `prepare` closure of `connect` to
  /// receive the preserved values.
  /// - Parameter handle: The handle of the characteristic's value, from `RestoredState.Peripheral.subscriptions`.
  /// - Returns: The values. The stream throws when the subscription is lost or the connection ends.
  public func restoredValues(_ handle: UInt16) -> AsyncThrowingStream<[UInt8], any Error> {
    client.core.use(.init(peripheral: identifier, handle: handle), of: SubscriptionRequest.self)
    let (stream, values) = SubscribedValues.observe(on: self)
    values.use(handle)
    return stream
  }
}
