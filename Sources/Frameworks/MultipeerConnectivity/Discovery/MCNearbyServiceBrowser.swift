import FrameworkSupport
import NearbySessions

/// Finds peers nearby, and invites them into sessions.
///
/// The program must retain it: when it is released, it stops. The delegate is called on its own queue. A radio does not
/// receive itself: programs on one machine need an adapter each.
open class MCNearbyServiceBrowser: NSObject {
  /// The timeout of a program that gives none, in seconds.
  private static let usualTimeout = 30.0

  private let shared = Guarded<WeakDelegate>(WeakDelegate())
  private var engine: BrowserEngine?

  private struct WeakDelegate {
    weak var delegate: (any MCNearbyServiceBrowserDelegate)?
  }

  /// This peer.
  public let myPeerID: MCPeerID
  /// The kind of service.
  public let serviceType: String

  /// Makes a browser.
  /// - Parameter serviceType: 1 to 15 of a–z, 0–9 and single hyphens within, with a letter. Any other ends the program.
  public init(peer myPeerID: MCPeerID, serviceType: String) {
    (self.myPeerID, self.serviceType) = (myPeerID, serviceType)
    super.init()
    engine = BrowserEngine(LocalNode.shared(myPeerID, ServiceType(program: serviceType))) { [weak self] in
      self?.happened($0)
    }
  }

  deinit { engine?.stop() }

  /// The delegate, held weakly.
  open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
    get { shared[\.delegate] }
    set { shared[\.delegate] = newValue }
  }

  /// Begins to search for peers.
  open func startBrowsingForPeers() { engine?.start() }

  /// Stops browsing. Found peers can still be invited.
  open func stopBrowsingForPeers() { engine?.stop() }

  /// Invites a peer into a session. The session's delegate receives the outcome.
  /// - Parameters:
  ///   - peerID: a found peer.
  ///   - session: a session for this browser's peer.
  ///   - context: octets shown to the peer before it answers, at most 65,535.
  ///   - timeout: the time for the answer, in seconds; 0 or less: 30.
  open func invitePeer(_ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval) {
    guard let engine else { return }
    guard session.engine.own.identifier == myPeerID.identifier else {
      return Misuse.log("a browser invites into sessions of its own peer: there is no invitation")
    }
    let seconds = timeout > 0 ? timeout : Self.usualTimeout
    session.engine.invite(
      peerID.identity, .program(context), at: engine.local, timeout: .seconds(min(max(seconds, 1), 65535)))
  }

  private func happened(_ event: BrowserEngine.Event) {
    switch event {
    case .found(let peer, let info):
      delegate?.browser(self, foundPeer: MCPeerID(peer), withDiscoveryInfo: info.isEmpty ? nil : info)
    case .lost(let peer): delegate?.browser(self, lostPeer: MCPeerID(peer))
    case .failed(let error): delegate?.browser(self, didNotStartBrowsingForPeers: error)
    }
  }
}

/// Receives the peers found by a browser, on its queue.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
  /// A peer is nearby, or its information has changed.
  func browser(_ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?)
  /// A peer was silent for ten seconds, or has stopped advertising.
  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)
  /// Browsing could not begin.
  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

// Without Objective-C no protocol method can be missing: this is the default.
extension MCNearbyServiceBrowserDelegate {
  /// Does nothing.
  public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
