import FrameworkSupport

/// Receives a session's events, on its queue, one at a time. As long as a method does not return, peers wait.
public protocol MCSessionDelegate: NSObjectProtocol {
  /// A peer is connecting, connected or disconnected. `notConnected` is reported once for each invited peer.
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)
  /// A peer has sent data.
  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)
  /// A peer has opened a stream. The program opens, reads and closes it.
  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID)
  /// A file begins to arrive. Its progress, in octets, can be cancelled.
  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress)
  /// The file is complete, or failed. The file is removed when the method returns: move it, or read it before.
  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?)
  /// A peer has shown its certificates, which are not verified, or nil. The handler is to be called, on any thread,
  /// within a minute.
  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void)
}

// Without Objective-C no protocol method can be missing: this is the default.
extension MCSessionDelegate {
  /// Accepts each certificate.
  public func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) { certificateHandler(true) }
}
