import BledRPC
import Bluetooth

/// A session with the daemon. What it holds (scan, links, services, advertisements) ends with it: with `close`, or when
/// the last reference to it goes.
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
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted` with what to do; `.protocolViolation` if the daemon speaks
  ///   another version of the protocol.
  public static func connect(
    to path: String = BledClient.defaultSocketPath, name: String? = nil
  ) async throws(BluetoothError) -> BledClient {
    let core = ClientCore(connection: try await LineConnection.connect(to: path))
    core.start()
    do throws(BluetoothError) {
      let session = try await core.call(SessionOpen.self, .init(name: name), timeout: .seconds(10))
      guard session.protocol == ProtocolContents.version else {
        throw BledError.protocolViolation.error(
          """
          \(session.daemon) speaks version \(session.protocol) of the protocol and this program version \
          \(ProtocolContents.version): bring both to the same release.
          """)
      }
      return BledClient(session: session, core: core)
    } catch {
      core.close()
      throw error
    }
  }

  /// False once the session has ended, from whichever side.
  public var isConnected: Bool { core.isConnected }

  /// Ends the session. Pending calls fail, streams finish.
  public func close() { core.close() }
}
