import BledConnection
// The types of the protocol come with the client.
@_exported import BledRPC
@_exported import Bluetooth
import FoundationEssentials
import Synchronization

/// A session with the daemon. It ends with `close`, or when its last reference is released, and with it its resources
/// (scan, links, services, advertisements). With a restoration identifier the daemon preserves the session instead,
/// until the program opens a session with that identifier again.
public final class BledClient: Sendable {
  /// The daemon's description of itself.
  public let session: SessionOpen.Result
  let core: ClientCore

  private init(session: SessionOpen.Result, core: ClientCore) {
    self.session = session
    self.core = core
  }

  deinit { core.close() }

  /// Opens a session.
  /// - Parameters:
  ///   - path: The daemon's socket.
  ///   - name: A human-readable name, shown in the daemon's log.
  ///   - restoration: The identifier under which the session is preserved when this program ends; nil if it is not
  ///     preserved.
  ///   - background: True if the program works in the background: it scans for services only, at a low duty cycle, and
  ///     without duplicates.
  ///   - prepare: Called once on the connection's queue, before any other message of the daemon is handled: observers
  ///     that are registered here miss none of the preserved events.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with the remedy; `.protocolViolation` if the daemon
  ///   speaks another version of the protocol; `.alreadyInProgress` if another program uses the restoration identifier.
  public static func connect(
    to path: String = BledClient.defaultSocketPath, name: String? = nil, restoration: Restoration? = nil,
    background: Bool? = nil, prepare: @escaping @Sendable (BledClient) -> Void = { _ in }
  ) async throws(BluetoothError) -> BledClient {
    let core = ClientCore(connection: try await LineConnection.connect(to: path))
    core.start()
    do throws(BluetoothError) {
      let params = SessionOpen.Params(
        name: name, restore: restoration?.identifier, keep: restoration?.keep?.inSeconds, background: background)
      let opened = Mutex<BledClient?>(nil)
      let session = try await core.call(
        SessionOpen.self, params, timeout: .seconds(10),
        // The session ends with the connection.
        undo: .nothing,
        arrived: { session in
          guard session.protocol == ProtocolContents.version else { return }
          let client = BledClient(session: session, core: core)
          opened.withLock { $0 = client }
          prepare(client)
        })
      guard let client = opened.withLock({ $0 }) else {
        throw BledError.protocolViolation.error(
          """
          \(session.daemon) speaks version \(session.protocol) of the protocol, but this program speaks version \
          \(ProtocolContents.version): update both to the same release
          """)
      }
      return client
    } catch {
      core.close()
      throw error
    }
  }

  /// False once the connection has ended, whichever side ended it.
  public var isConnected: Bool { core.isConnected }

  /// The user of the process that opened the daemon's socket, from the kernel (unix(7), SO_PEERCRED): 0 if the service
  /// manager did. Nil if the kernel does not report it.
  public var daemonUser: UInt32? { core.daemonUser }

  /// Closes the connection, which ends the session unless it has a restoration identifier. Pending calls fail, streams
  /// finish.
  public func close() { core.close() }
}

extension BledClient {
  /// The default path of the daemon's socket: the environment's BLED_SOCKET; else the system's socket,
  /// `/run/bled/bled.sock`, unless only the user's own daemon has one, `$XDG_RUNTIME_DIR/bled/bled.sock`. A directory
  /// of another user, as `su` leaves it in the environment, is ignored.
  public static var defaultSocketPath: String {
    let environment = ProcessInfo.processInfo.environment
    return SocketPath.ofClients { environment[$0] }
  }
}

extension BledClient {
  /// The preservation of a session when its program ends.
  public struct Restoration: Hashable, Sendable {
    /// The identifier, 1 to 128 octets, unique among the sessions of a user.
    public var identifier: String
    /// The lifetime of the preserved session, more than 0; nil: the daemon's limit.
    public var keep: Duration?

    /// Makes a restoration request.
    public init(_ identifier: String, keep: Duration? = nil) {
      self.identifier = identifier
      self.keep = keep
    }
  }

  /// The state that the daemon preserved of this session; nil if it is a new one. The events since then follow:
  /// register their observers in the `prepare` closure of `connect`.
  public var restored: RestoredState? { session.restored }

  /// A device that the session is still connected to. Call it in the `prepare` closure of `connect`: later you may have
  /// missed its disconnection.
  /// - Returns: nil for a device with a pending connection: connect to it again, or observe `PeripheralConnected` and
  ///   `PeripheralConnectFailed`.
  public func peripheral(_ restored: RestoredState.Peripheral) -> Peripheral? {
    guard restored.state == "connected", let mtu = restored.mtu else { return nil }
    let link = PeripheralConnect.Result(
      peripheral: restored.peripheral, address: restored.address, addressType: restored.addressType,
      adapter: restored.adapter, mtu: mtu, attempts: 1)
    let watch = LinkWatch()
    core.use(UsedLink(link), of: LinkRequest.self)
    watch.begin(on: core, restored.peripheral)
    return Peripheral(client: self, link: link, watch)
  }

  /// Ends the session and releases all its resources, including resources that would otherwise be preserved.
  /// - Throws: As `call`.
  public func end() async throws(BluetoothError) {
    _ = try await call(SessionEnd.self, .init())
    close()
  }
}
