import BledClient

/// The peers in one search: the received advertisements, and the reported peers.
actor PeerBrowser {
  /// Reads a peer's description, nil on failure; the last argument is true after a failed attempt.
  typealias Look =
    @Sendable (_ peripheral: String, _ identifier: UInt64, _ isRetry: Bool) async -> PeerDescription?

  /// The most peers at a time; others are ignored until some are lost.
  private static let limit = 256
  /// Between two attempts to read a description.
  private static let longestPause = Duration.seconds(16)

  private let look: Look
  private let own: UInt64
  private let firstPause: Duration
  private let output: AsyncThrowingStream<NearbyChange, any Error>.Continuation
  /// By the device's identifier at the daemon.
  private var marks: [String: PeerDescription.Mark] = [:]
  private var found: [String: FoundPeer] = [:]
  /// The devices being read: each once at a time, however often it changes its advertisement.
  private var reading: Set<String> = []

  /// - Parameters:
  ///   - firstPause: the pause after the first failed attempt to read a description, doubled each time.
  ///   - look: reads descriptions.
  init(
    own: UInt64, _ output: AsyncThrowingStream<NearbyChange, any Error>.Continuation,
    firstPause: Duration = .milliseconds(250),
    look: @escaping Look
  ) {
    self.own = own
    self.output = output
    self.firstPause = firstPause
    self.look = look
  }

  /// True if a description is being read, or will be.
  var isReading: Bool { !reading.isEmpty }

  func discovered(_ mark: PeerDescription.Mark, _ peripheral: String) {
    guard mark.identifier != own, marks[peripheral] != mark, marks[peripheral] != nil || marks.count < Self.limit else {
      return
    }
    marks[peripheral] = mark
    guard mark.isInviting else { return withdraw(peripheral) }
    guard reading.insert(peripheral).inserted else { return }
    Task { await read(peripheral) }
  }

  func lost(_ peripheral: String) {
    marks[peripheral] = nil
    withdraw(peripheral)
  }

  /// The search has ended: nothing is read any longer.
  func end() { marks = [:] }

  private func withdraw(_ peripheral: String) {
    if let peer = found.removeValue(forKey: peripheral) { output.yield(.lost(peer)) }
  }

  private func read(_ peripheral: String) async {
    defer { reading.remove(peripheral) }
    var pause = firstPause
    var isRetry = false
    // No attempt is the last one: the scan reports an unchanged advertisement once.
    while let mark = marks[peripheral], mark.isInviting {
      if let description = await look(peripheral, mark.identifier, isRetry), marks[peripheral] == mark {
        return report(
          FoundPeer(
            identifier: mark.identifier, name: description.name, information: description.information,
            peripheral: peripheral))
      }
      isRetry = true
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private func report(_ peer: FoundPeer) {
    if let former = found[peer.peripheral], former.identifier != peer.identifier { output.yield(.lost(former)) }
    found[peer.peripheral] = peer
    output.yield(.found(peer))
  }
}
