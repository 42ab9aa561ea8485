import BledClient
import FrameworkSupport
import NearbySessions

/// A group of up to eight peers exchanging data, streams and files, encrypted.
///
/// A joining peer is connected with all members. The program must retain the session: when it is released, its
/// connections end. The delegate is called on its own queue, one call at a time.
open class MCSession: NSObject {
  private let shared = Guarded<WeakDelegate>(WeakDelegate())
  let engine: SessionEngine

  private struct WeakDelegate {
    weak var delegate: (any MCSessionDelegate)?
  }

  /// Carries the engine's events to this object, which the engine must not retain.
  private final class Receiver {
    weak var session: MCSession?
  }

  /// This peer.
  public let myPeerID: MCPeerID
  /// The certificates shown to other peers.
  public let securityIdentity: [Any]?
  /// The session's preference for encryption.
  public let encryptionPreference: MCEncryptionPreference

  /// Makes a session without certificates.
  public convenience init(peer myPeerID: MCPeerID) {
    self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .optional)
  }

  /// Makes a session.
  /// - Parameters:
  ///   - identity: certificates as `Data` (DER), which other peers are shown as they are: 64 KiB together. With other
  ///     elements it is not shown.
  ///   - encryptionPreference: all connections are encrypted. A session with `none` and one with `required` do not
  ///     connect.
  public init(peer myPeerID: MCPeerID, securityIdentity identity: [Any]?, encryptionPreference: MCEncryptionPreference)
  {
    (self.myPeerID, securityIdentity, self.encryptionPreference) = (myPeerID, identity, encryptionPreference)
    let receiver = Receiver()
    engine = SessionEngine(
      myPeerID.identity, encryptionPreference, certificates: Self.certificates(of: identity)
    ) { receiver.session?.happened($0) }
    super.init()
    receiver.session = self
  }

  deinit { engine.close() }

  private static func certificates(of identity: [Any]?) -> [Data]? {
    guard let identity, !identity.isEmpty else { return nil }
    let certificates = identity.compactMap { $0 as? Data }
    let octets = certificates.reduce(0) { $0 + $1.count + 2 }
    guard certificates.count == identity.count, certificates.count <= Greeting.certificateLimit,
      octets <= Greeting.octetLimit - 64
    else {
      Misuse.log("a security identity has certificates as Data, 64 KiB together: this one is not shown")
      return nil
    }
    return certificates
  }

  /// The delegate, held weakly.
  open weak var delegate: (any MCSessionDelegate)? {
    get { shared[\.delegate] }
    set { shared[\.delegate] = newValue }
  }

  /// The connected peers, without this one.
  open var connectedPeers: [MCPeerID] { engine.connected.map { MCPeerID($0) } }

  /// Ends the connections to all peers. Data they have not received is lost.
  open func disconnect() { engine.disconnect() }

  // MARK: Discovery by the program

  /// Makes the data for a peer to connect to this session (`connectPeer`), until `disconnect`. The program transfers
  /// it.
  /// - Parameter completionHandler: called once on the session's queue: the data, or an error.
  open func nearbyConnectionData(
    forPeer peerID: MCPeerID, withCompletionHandler completionHandler: @escaping (Data?, (any Error)?) -> Void
  ) {
    let (handler, engine) = (Carried(completionHandler), engine)
    let local = LocalNode.shared(myPeerID, .unadvertised)
    Task {
      do throws(BluetoothError) {
        let data = try await engine.connectionData(for: peerID.identifier, at: local)
        engine.call { handler.value(data, nil) }
      } catch {
        let error = NSError.multipeer(error)
        engine.call { handler.value(nil, error) }
      }
    }
  }

  /// Like `nearbyConnectionData(forPeer:withCompletionHandler:)`, asynchronously.
  open func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
    do throws(BluetoothError) {
      return try await engine.connectionData(for: peerID.identifier, at: .shared(myPeerID, .unadvertised))
    } catch {
      throw NSError.multipeer(error)
    }
  }

  /// Connects to a peer by its session's data. Both sides call it, with the other's data.
  open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
    engine.connect(peerID.identity, data, at: .shared(myPeerID, .unadvertised))
  }

  /// Ends the attempt to connect with a peer, or the connection.
  open func cancelConnectPeer(_ peerID: MCPeerID) { engine.cancel(peerID.identifier) }

  // MARK: Events

  private func happened(_ event: SessionEngine.Event) {
    switch event {
    case .certificate(let certificate, let peer, let handler):
      guard let delegate else { return handler(true) }
      delegate.session(
        self, didReceiveCertificate: certificate, fromPeer: MCPeerID(peer), certificateHandler: handler)
    case .changed(let peer, let state): delegate?.session(self, peer: MCPeerID(peer), didChange: state)
    case .data(let data, let peer): delegate?.session(self, didReceive: data, fromPeer: MCPeerID(peer))
    case .stream(let stream, let name, let peer):
      delegate?.session(self, didReceive: stream, withName: name, fromPeer: MCPeerID(peer))
    case .resourceStarted(let name, let progress, let peer):
      delegate?.session(
        self, didStartReceivingResourceWithName: name, fromPeer: MCPeerID(peer), with: progress)
    case .resourceFinished(let name, .success(let url), let peer):
      delegate?.session(
        self, didFinishReceivingResourceWithName: name, fromPeer: MCPeerID(peer), at: url, withError: nil)
    case .resourceFinished(let name, .failure(let error), let peer):
      delegate?.session(
        self, didFinishReceivingResourceWithName: name, fromPeer: MCPeerID(peer), at: nil, withError: error)
    }
  }
}
