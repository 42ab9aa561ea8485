import FrameworkSupport
import NearbySessions

/// Data, streams and files for peers.
extension MCSession {
  /// The longest name of a stream or resource, in octets of UTF-8.
  private static let longestName = 255

  /// Sends data to peers.
  /// - Parameters:
  ///   - data: at most 16 MiB.
  ///   - peerIDs: connected ones, at least one.
  ///   - mode: `unreliable` data is dropped while other data waits to be sent; above 64 KiB it is sent as `reliable`.
  /// - Throws: `MCError.notConnected` if one of them is not, and none is sent any; `.invalidParameter`; `.unavailable`
  ///   if 16 MiB wait to be sent to one of them.
  public func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
    guard !peerIDs.isEmpty else { throw NSError.multipeer(.invalidParameter, "no peer is named") }
    guard data.count <= OutgoingQueue.octetLimit else {
      throw NSError.multipeer(.invalidParameter, "data has at most 16 MiB: send a resource")
    }
    let links = try peerIDs.map { try link(to: $0) }
    let isDatagram = mode == .unreliable && data.count <= 64 << 10
    for link in links where !link.send(isDatagram ? .datagram(data) : .data(data)) && mode == .reliable {
      throw NSError.multipeer(.unavailable, "16 MiB wait to be sent to \(link.peer.name): send again later")
    }
  }

  /// Opens a stream to a peer, which the program opens, writes and closes.
  /// - Parameter streamName: 1 to 255 octets of UTF-8.
  /// - Throws: `MCError.notConnected`, `.invalidParameter`; `.unavailable` without a free descriptor.
  public func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
    try Self.check(streamName)
    let link = try link(to: peerID)
    guard let (stream, socket) = PeerLink.outputStream() else {
      throw NSError.multipeer(.unavailable, "the program has too many files open")
    }
    guard link.send(.stream(socket, name: streamName)) else {
      throw NSError.multipeer(.unavailable, "too much waits to be sent to \(link.peer.name)")
    }
    return stream
  }

  /// Sends a file to a peer.
  /// - Parameters:
  ///   - resourceURL: a regular file on this machine: others are not supported.
  ///   - resourceName: 1 to 255 octets of UTF-8.
  ///   - completionHandler: called once on the session's queue: nil when the peer has all of it, or an error.
  /// - Returns: the progress in octets, which can be cancelled; nil if nothing is sent.
  @discardableResult
  public func sendResource(
    at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) -> Progress? {
    let (handler, engine) = (Carried(completionHandler), engine)
    do {
      guard resourceURL.isFileURL else {
        throw NSError.multipeer(.unsupported, "resources are files: download \(resourceURL) before")
      }
      try Self.check(resourceName)
      let link = try link(to: peerID)
      let path = resourceURL.path
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? NSNumber else {
        throw NSError.multipeer(.invalidParameter, "\(path) is not a regular file that can be read")
      }
      let progress = Progress(totalUnitCount: size.int64Value)
      let sending = ResourceSending(progress)
      Task {
        let error = await sending.send(path, resourceName, over: link.connection)
        engine.call { handler.value?(error) }
      }
      return progress
    } catch {
      let error = Carried(error)
      engine.call { handler.value?(error.value) }
      return nil
    }
  }

  private func link(to peerID: MCPeerID) throws -> PeerLink {
    guard let link = engine.link(to: peerID.identifier) else {
      throw NSError.multipeer(.notConnected, "\(peerID.displayName) is not connected")
    }
    return link
  }

  private static func check(_ name: String) throws {
    guard 1...longestName ~= name.utf8.count else {
      throw NSError.multipeer(.invalidParameter, "a name has 1 to \(longestName) octets of UTF-8")
    }
  }
}
