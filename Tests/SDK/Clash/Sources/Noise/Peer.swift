import MultipeerConnectivity

/// A peer.
public let peer = MCPeerID(displayName: "noise")
