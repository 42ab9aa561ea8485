import BledRPC
import Bluetooth

/// What a device can be named by.
public enum DeviceReference: Hashable, Sendable {
  /// The daemon's identifier, as scan reports carry it.
  case identifier(String)
  /// An address; without a type the daemon knows or guesses it.
  case address(String, type: String? = nil)
}

extension BledClient {
  /// Connects to a device and waits until the link is there. When the calling task is cancelled, the daemon gives up too.
  ///
  /// The link is this client's until `Peripheral.disconnect`, and shared with other programs.
  /// - Parameters:
  ///   - device: The device; it need not have been heard before.
  ///   - adapter: The adapter to use; the daemon chooses if nil.
  ///   - timeout: How long to wait; for ever if nil.
  ///   - reconnects: Whether the daemon connects again whenever the link is lost; `Peripheral.changes` tells.
  /// - Throws: `GAPError.timeout`, `.cancelled`, `.connectionFailed` and others that the daemon answers.
  public func connect(
    _ device: DeviceReference, adapter: String? = nil, timeout: Duration? = nil, reconnects: Bool = false
  ) async throws(BluetoothError) -> Peripheral {
    var params = PeripheralConnect.Params(
      adapter: adapter, timeout: timeout?.inSeconds, reconnect: reconnects ? true : nil)
    var undo = PeripheralDisconnect.Params()
    switch device {
    case .identifier(let identifier):
      params.peripheral = identifier
      undo.peripheral = identifier
    case .address(let address, let type):
      (params.address, params.addressType) = (address, type)
      (undo.address, undo.addressType) = (address, type)
    }
    let watch = LinkWatch()
    let link = try await core.call(
      PeripheralConnect.self, params,
      arrived: { [core] link in watch.begin(on: core, link.peripheral) },
      abandoned: { [core, undo] in core.tell(PeripheralDisconnect.self, undo) })
    return Peripheral(client: self, link: link, watch)
  }
}

/// A device that this client is connected to.
public final class Peripheral: Sendable {
  /// The client that connected.
  public let client: BledClient
  /// Identifier, address, adapter and MTU, as they were when it was first connected.
  public let link: PeripheralConnect.Result
  /// Gives one element when the connection has ended: why, or nil if it was wished. For one reader.
  public let ends: AsyncStream<BluetoothError?>
  /// The losses and returns of a link that reconnects; finishes with the last end. For one reader.
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
  /// - Throws: `GAPError.notConnected`, or `.disconnected` if the link ends meanwhile; an error of the domain `att` that the
  ///   device answers; and as `BledClient.call`.
  public func discover() async throws(BluetoothError) -> [ServiceDescription] {
    try await client.call(GATTDiscover.self, .init(peripheral: identifier)).services
  }

  /// Discovers primary services, without what is in them.
  /// - Parameter uuids: Only these are asked for; all if nil.
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
}
