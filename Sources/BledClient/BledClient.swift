import BledRPC
import Bluetooth
import NIOConcurrencyHelpers

/// A session with the daemon. What it holds (scan, links, services, advertisements) ends with it: with `close`, or when
/// the last reference to it goes. With a restoration identifier it is kept by the daemon instead, until the program opens a
/// session with that identifier again.
public final class BledClient: Sendable {
  /// What the daemon said of itself.
  public let session: SessionOpen.Result
  let core: ClientCore
  let subscriptions = SubscriptionCounts()
  let scans = ScanSlot()

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
  ///   - background: Whether the program works in the background: it scans for services only, seldom, and without duplicates.
  ///   - prepare: Called once on the connection's thread, before anything else from the daemon is looked at: what observes
  ///     there misses none of the events that were kept.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted` with what to do; `.protocolViolation` if the daemon speaks
  ///   another version of the protocol; `.alreadyInProgress` if another program has the restoration identifier.
  public static func connect(
    to path: String = BledClient.defaultSocketPath, name: String? = nil, restoration: Restoration? = nil,
    background: Bool? = nil, prepare: @escaping @Sendable (BledClient) -> Void = { _ in }
  ) async throws(BluetoothError) -> BledClient {
    let core = ClientCore(connection: try await LineConnection.connect(to: path))
    core.start()
    do throws(BluetoothError) {
      let params = SessionOpen.Params(
        name: name, restore: restoration?.identifier, keep: restoration?.keep?.inSeconds, background: background)
      let opened = NIOLockedValueBox<BledClient?>(nil)
      let session = try await core.call(
        SessionOpen.self, params, timeout: .seconds(10),
        arrived: { session in
          guard session.protocol == ProtocolContents.version else { return }
          let client = BledClient(session: session, core: core)
          opened.withLockedValue { $0 = client }
          prepare(client)
        })
      guard let client = opened.withLockedValue({ $0 }) else {
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

  /// Ends the connection, and with it the session, unless that has a restoration identifier. Pending calls fail, streams
  /// finish.
  public func close() { core.close() }
}
