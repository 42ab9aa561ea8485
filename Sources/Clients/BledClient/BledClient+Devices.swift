import BledConnection
import BledRPC
import Bluetooth

/// Identifies a device.
public enum DeviceReference: Hashable, Sendable {
  /// The daemon's identifier, a UUID, as scan reports carry it.
  case identifier(String)
  /// An address such as `C0:DE:00:00:00:01`, and its type; without a type the daemon uses the one last seen with the
  /// address, else random if the two top bits are set, else public.
  case address(String, type: DeviceAddress.Kind? = nil)
  /// The advertised name: the first device discovered with it.
  case name(String)
  /// The beginning of the advertised name: the first device discovered with such a name.
  case namePrefix(String)
  /// An advertised service: the first device discovered with it.
  case service(BluetoothUUID)
}

extension BledClient {
  /// Scans. The scan stops when the stream is released or the task that reads it is cancelled.
  ///
  /// A new scan ends the stream of the previous one, unless `scan` of the parameters gives each a number of its own.
  /// The stream buffers 1024 reports; if they are not fetched in time, the oldest are dropped. With `anonymous`,
  /// anonymous advertisements arrive as `notifications(ScanAnonymousReport.self, buffering: .newest(1024))`.
  /// - Parameter parameters: The filters and options of the scan; everything on all adapters if nothing is given.
  /// - Returns: The reports: signal strengths in dBm, times in seconds since the epoch, data as received and merged.
  ///   The stream throws `BledError.daemonUnreachable` when the connection breaks.
  /// - Throws: `BledError.invalidParameter`, which names the invalid member; `.notPermitted`; `GAPError.adapterAbsent`
  ///   for an unknown adapter; `.notSupported` for a PHY that no adapter has; and as `call`.
  public func scan(
    _ parameters: ScanStart.Params = .init()
  ) async throws(BluetoothError) -> AsyncThrowingStream<ScanReport.Params, any Error> {
    let (stream, output) = AsyncThrowingStream.makeStream(of: ScanReport.Params.self, .newest(1024))
    let scan = parameters.scan
    let observation = core.observe(
      ScanReport.self, value: { if $0.scan == scan { output.yield($0) } }, end: { output.finish(throwing: $0) })
    try await core.scan(parameters, output) { observation.cancel() }
    return stream
  }

  /// Watches for devices; otherwise like `scan`. `address` or `addresses`, and `lost`, are required; `presence` is set.
  /// If more than 1024 changes wait to be fetched, the stream ends with `BledError.tooSlow`.
  public func presence(_ parameters: ScanStart.Params) async throws(BluetoothError) -> DevicePresence.Changes {
    try await DevicePresence.changes(parameters, core)
  }

  /// Connects to a device and waits until the link is up. When the calling task is cancelled, the pending connection is
  /// cancelled, too, unless this client uses the device or connects to it in another task.
  ///
  /// The client uses the link until `Peripheral.disconnect`. It is shared with other programs.
  /// - Parameters:
  ///   - device: The device; it need not have been discovered before. By its name or service it is searched for first.
  ///   - adapter: The adapter to use; the daemon chooses if nil.
  ///   - timeout: The timeout, more than 0; nil waits indefinitely.
  ///   - reconnects: True if the daemon is to reconnect whenever the link is lost; `Peripheral.changes` reports it.
  ///   - parameters: This client's requests for the link's parameters; see `Peripheral.setParameters`.
  ///   - phy: The wanted PHY of the link; see `Peripheral.setPHY`.
  /// - Returns: The device, with its identifier, address, adapter and MTU.
  /// - Throws: `GAPError.timeout`, `.cancelled`, `.connectionFailed`; `.unknownDevice` for an identifier that the
  ///   daemon does not know; `.adapterAbsent`; `BledError.notPermitted`, `.invalidParameter`, `.limitReached`; and as
  ///   `call`.
  public func connect(
    _ device: DeviceReference, adapter: String? = nil, timeout: Duration? = nil, reconnects: Bool = false,
    parameters: LinkWish? = nil, phy: PHYChoice? = nil
  ) async throws(BluetoothError) -> Peripheral {
    var params = PeripheralConnect.Params(
      adapter: adapter, timeout: timeout?.inSeconds, reconnect: reconnects ? true : nil, parameters: parameters,
      phy: phy)
    var undo = PeripheralDisconnect.Params()
    switch device {
    case .identifier(let identifier):
      params.peripheral = identifier
      undo.peripheral = identifier
    case .address(let address, let type):
      (params.address, params.addressType) = (address, type)
      (undo.address, undo.addressType) = (address, type)
    case .name(let name): (params.name, undo.name) = (name, name)
    case .namePrefix(let prefix): (params.namePrefix, undo.namePrefix) = (prefix, prefix)
    case .service(let service): (params.service, undo.service) = (service, service)
    }
    let watch = LinkWatch()
    let link = try await core.call(
      PeripheralConnect.self, params, for: LinkRequest(undo), using: { UsedLink($0) },
      arrived: { [core] link in watch.begin(on: core, link.peripheral) })
    return Peripheral(client: self, link: link, watch)
  }
}
