// The target has nothing to compile: its module map lets `import MultipeerConnectivity.MCPeerID` name parts of
// MultipeerConnectivity.
