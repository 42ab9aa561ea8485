import BledClient
import NearbySessions

/// The receiving side of transfers, of several senders at a time.
struct FileReceiver: Sendable {
  let folder: String
  /// The name of senders that need no question.
  let expected: String?
  let board: TransferBoard
  let questions = Questions()
  let parts = PartHolders()

  /// Receives the files of one sender, and reports files that do not arrive.
  /// - Returns: true if a transfer was accepted.
  /// - Throws: `Failure` if files are missing in the end; `BluetoothError` if one cannot be stored.
  func receive(_ invitation: NearbyInvitation) async throws -> Bool {
    let peer = invitation.connection
    guard let offer = FileOffer(context: invitation.context) else {
      await invitation.answer(false)
      return false
    }
    let name = Output.quoted(peer.name)
    problem("\(name) offers \(offer.text); code \(codeText(peer.code))")
    var accepts = expected == peer.name
    if !accepts {
      accepts = await questions.confirms("Receive, and does \(name) show \(codeText(peer.code)), too?")
    }
    guard await invitation.answer(accepts), accepts else {
      problem(accepts ? "the offer of \(name) has timed out, or too many machines send" : "declined")
      return false
    }
    var left = offer.files
    var missing = 0
    let arrived = {
      guard missing > 0 else { return }
      throw Failure("\(missing) of \(offer.files.count) files of \(peer.name) did not arrive")
    }
    while let event = await peer.next() {
      switch event {
      case .resource(let flow, let resource):
        guard let place = left.firstIndex(of: .init(name: resource.name, size: resource.size)) else {
          await flow.close(.declined)
          continue
        }
        left.remove(at: place)
        if try await !receive(flow, resource, of: peer) { missing += 1 }
      case .stream(let flow, _): await flow.close(.declined)
      case .lost where left.isEmpty:
        try arrived()
        return true
      case .lost: problem("lost the link to \(peer.name)")
      case .resumed: problem("the link to \(peer.name) is back")
      case .message, .datagram: break
      case .ended(let end):
        guard !left.isEmpty else {
          try arrived()
          return true
        }
        throw Failure(
          "\(left.count + missing) of \(offer.files.count) files of \(peer.name) did not arrive: \(end.text)")
      }
    }
    return true
  }

  /// - Returns: true if the file arrived; otherwise the reason was reported.
  private func receive(
    _ flow: IncomingFlow, _ resource: ResourceOffer, of peer: NearbyConnection
  ) async throws -> Bool {
    let name = PeerName.file(resource.name)
    guard await parts.take(resource.hash, for: peer) else {
      await flow.close(.declined)
      problem("\(name): another machine is sending the same file")
      return false
    }
    let number = board.begin("Receiving \(name)")
    defer { board.end(number) }
    let rate = TransferRate(name, size: resource.size) { board.change(number, $0) }
    let result: Result<(end: FlowEnd, path: String?), any Error>
    do {
      result = .success(
        try await withTaskCancellationHandler {
          try await FileResource.receive(resource, from: flow, into: folder) { rate.reached($0) }
        } onCancel: {
          Task { await flow.close(.cancelled) }
        })
    } catch {
      result = .failure(error)
    }
    await parts.release(resource.hash)
    let (end, path) = try result.get()
    try Task.checkCancellation()
    board.end(number)
    guard let path else {
      problem("\(name): \(end == .noRoom ? "there is no room for it here" : end.problem)")
      return false
    }
    try board.print { output in
      if output.json {
        try output.object("received", TransferredFile(file: path, octets: resource.size, peer: peer.name))
      } else {
        output.line("received \(path) from \(peer.name), \(octetText(resource.size))")
      }
    }
    return true
  }

  private func problem(_ text: String) { board.print { $0.problem(text) } }
}

/// The questions of several transfers, asked one at a time.
actor Questions {
  private var last: Task<Bool, Never>?

  func confirms(_ question: String) async -> Bool {
    let former = last
    let task = Task {
      _ = await former?.value
      return await FilePeer.confirms(question)
    }
    last = task
    return await task.value
  }
}
