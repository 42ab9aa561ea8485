import BledClient

/// The peers of one look around: which advertisements were heard, and which peers were told of.
actor PeerBrowser {
  /// The most peers at a time; others are ignored until some are lost.
  private static let limit = 256
  /// The attempts to read a description, each after twice the pause of the one before.
  private static let attempts = 6

  private let node: NearbyNode
  private let own: UInt64
  private let output: AsyncThrowingStream<NearbyChange, any Error>.Continuation
  /// By the daemon's identifier of the device.
  private var marks: [String: PeerDescription.Mark] = [:]
  private var found: [String: FoundPeer] = [:]

  init(_ node: NearbyNode, own: UInt64, _ output: AsyncThrowingStream<NearbyChange, any Error>.Continuation) {
    self.node = node
    self.own = own
    self.output = output
  }

  func heard(_ mark: PeerDescription.Mark, _ peripheral: String) {
    guard mark.identifier != own, marks[peripheral] != mark, marks[peripheral] != nil || marks.count < Self.limit else {
      return
    }
    marks[peripheral] = mark
    guard mark.isInviting else { return withdraw(peripheral) }
    Task { await read(mark, peripheral) }
  }

  func lost(_ peripheral: String) {
    marks[peripheral] = nil
    withdraw(peripheral)
  }

  private func withdraw(_ peripheral: String) {
    if let peer = found.removeValue(forKey: peripheral) { output.yield(.lost(peer)) }
  }

  private func read(_ mark: PeerDescription.Mark, _ peripheral: String) async {
    for attempt in 0..<Self.attempts {
      guard marks[peripheral] == mark else { return }
      if let description = await node.look(at: peripheral, mark.identifier) {
        guard marks[peripheral] == mark else { return }
        let peer = FoundPeer(
          identifier: mark.identifier, name: description.name, information: description.information,
          peripheral: peripheral)
        if let former = found[peripheral], former.identifier != peer.identifier { output.yield(.lost(former)) }
        found[peripheral] = peer
        output.yield(.found(peer))
        return
      }
      try? await Task.sleep(for: .milliseconds(250 << attempt))
    }
    // The next advertisement is another chance.
    if marks[peripheral] == mark { marks[peripheral] = nil }
  }
}
