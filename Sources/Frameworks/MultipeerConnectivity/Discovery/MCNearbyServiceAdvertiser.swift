import FrameworkSupport
import NearbySessions

/// Lets peers nearby find this one and invite it.
///
/// The program must retain it: when it is released, it stops. The delegate is called on its own queue.
open class MCNearbyServiceAdvertiser: NSObject {
  private let shared = Guarded<WeakDelegate>(WeakDelegate())
  private var engine: AdvertiserEngine?

  private struct WeakDelegate {
    weak var delegate: (any MCNearbyServiceAdvertiserDelegate)?
  }

  /// This peer.
  public let myPeerID: MCPeerID
  /// The texts for browsers.
  public let discoveryInfo: [String: String]?
  /// The kind of service.
  public let serviceType: String

  /// Makes an advertiser.
  /// - Parameters:
  ///   - info: texts for browsers, 400 octets together: with more, advertising does not start.
  ///   - serviceType: 1 to 15 of a–z, 0–9 and single hyphens within, with a letter. Any other ends the program.
  public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
    (self.myPeerID, discoveryInfo, self.serviceType) = (myPeerID, info, serviceType)
    super.init()
    let local = LocalNode.shared(myPeerID, ServiceType(program: serviceType))
    engine = AdvertiserEngine(local, info ?? [:]) { [weak self] in self?.happened($0) }
  }

  deinit { engine?.stop() }

  /// The delegate, held weakly.
  open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
    get { shared[\.delegate] }
    set { shared[\.delegate] = newValue }
  }

  /// Begins to advertise. Another advertiser for the same peer and service type is replaced.
  open func startAdvertisingPeer() { engine?.start() }

  /// Ends it. Connected peers stay.
  open func stopAdvertisingPeer() { engine?.stop() }

  private func happened(_ event: AdvertiserEngine.Event) {
    switch event {
    case .invited(let peer, let context, let answer):
      delegate?.advertiser(
        self, didReceiveInvitationFromPeer: MCPeerID(peer), withContext: context
      ) { answer($0, $1?.engine) }
    case .failed(let error): delegate?.advertiser(self, didNotStartAdvertisingPeer: error)
    }
  }
}

/// Receives an advertiser's invitations, on its queue.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
  /// A peer invites this one. Call the handler once, on any thread: with true and a session of the advertiser's peer,
  /// or with false. An invitation without an answer in time, or whose handler is released, is declined.
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void)
  /// Advertising could not begin.
  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

// Without Objective-C no protocol method can be missing: this is the default.
extension MCNearbyServiceAdvertiserDelegate {
  /// Does nothing.
  public func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {}
}
