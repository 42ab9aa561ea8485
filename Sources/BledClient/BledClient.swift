// The types of the protocol come with the client.
@_exported import BledRPC
@_exported import Bluetooth
import FoundationEssentials
import Synchronization

/// A session with the daemon. What it holds (scan, links, services, advertisements) ends with it: with `close`, or when
/// the last reference to it goes. With a restoration identifier it is kept by the daemon instead, until the program
/// opens a session with that identifier again.
public final class BledClient: Sendable {
  /// What the daemon said of itself.
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
  ///   - name: A name for people, shown in the daemon's log.
  ///   - restoration: Under which identifier the session is kept when this program goes away; nil: it is not.
  ///   - background: Whether the program works in the background: it scans for services only, seldom, and without
  ///     duplicates.
  ///   - prepare: Called once on the connection's queue, before anything else from the daemon is looked at: what
  ///     observes there misses none of the events that were kept.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted` with what to do; `.protocolViolation` if the daemon
  ///   speaks another version of the protocol; `.alreadyInProgress` if another program has the restoration identifier.
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
        arrived: { session in
          guard session.protocol == ProtocolContents.version else { return }
          let client = BledClient(session: session, core: core)
          opened.withLock { $0 = client }
          prepare(client)
        })
      guard let client = opened.withLock({ $0 }) else {
        throw BledError.protocolViolation.error(
          """
          \(session.daemon) speaks version \(session.protocol) of the protocol and this program version \
          \(ProtocolContents.version): bring both to the same release.
          """)
      }
      return client
    } catch {
      core.close()
      throw error
    }
  }

  /// False once the session has ended, from whichever side.
  public var isConnected: Bool { core.isConnected }

  /// Ends the connection, and with it the session, unless that has a restoration identifier. Pending calls fail,
  /// streams finish.
  public func close() { core.close() }
}

extension BledClient {
  /// Where the daemon listens: the environment's BLED_SOCKET, else /run/bled/bled.sock.
  public static var defaultSocketPath: String {
    ProcessInfo.processInfo.environment["BLED_SOCKET"].flatMap { $0.isEmpty ? nil : $0 } ?? "/run/bled/bled.sock"
  }
}

extension BledClient {
  /// How a session outlasts its program.
  public struct Restoration: Hashable, Sendable {
    /// The identifier, 1 to 128 octets: one for each session of a user.
    public var identifier: String
    /// For how long the session is kept, more than 0; nil for as long as the daemon keeps any.
    public var keep: Duration?

    /// Makes a restoration request.
    public init(_ identifier: String, keep: Duration? = nil) {
      self.identifier = identifier
      self.keep = keep
    }
  }

  /// What the daemon kept of this session; nil if it is a new one. The events since then follow: be ready for them in
  /// the `prepare` of `connect`.
  public var restored: RestoredState? { session.restored }

  /// A device that the session is still connected to. Call it in the `prepare` of `connect`: later its end may have
  /// been missed.
  /// - Returns: nil for a device that is waited for: connect to it again, or observe `PeripheralConnected` and
  ///   `PeripheralConnectFailed`.
  public func peripheral(_ restored: RestoredState.Peripheral) -> Peripheral? {
    guard restored.state == "connected", let mtu = restored.mtu else { return nil }
    let link = PeripheralConnect.Result(
      peripheral: restored.peripheral, address: restored.address, addressType: restored.addressType,
      adapter: restored.adapter, mtu: mtu, attempts: 1)
    let watch = LinkWatch()
    watch.begin(on: core, restored.peripheral)
    return Peripheral(client: self, link: link, watch)
  }

  /// Ends the session and has everything given back, also what would be kept otherwise.
  /// - Throws: As `call`.
  public func end() async throws(BluetoothError) {
    _ = try await call(SessionEnd.self, .init())
    close()
  }
}
