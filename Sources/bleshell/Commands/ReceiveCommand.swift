import ArgumentParser
import BledClient
import FoundationEssentials
import Glibc
import NearbySessions

/// `bleshell receive`
struct ReceiveCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: "Receives files of machines that run \"bleshell send\".",
    usage: "bleshell receive <folder> [--yes-from <name>] [--once] [--name <name>] [--adapter <adapter>]",
    discussion: """
      Advertises until Ctrl-C, and asks before it receives: compare the six digits with those of the sender. No file is \
      replaced: one that is there already stays, and the new one is called "name (2)". A part that was received is kept \
      as ".….part", and continued when the same file is sent again.
      """)

  @Argument(help: "The folder for the files.", completion: .directory) var folder: String
  @Option(help: "Receive from senders of this name without a question. Names are not proved: any machine can take one.")
  var yesFrom: String?
  @Flag(help: "End after one transfer.") var once = false
  @Option(help: "The name that senders see (default: this machine's).") var name: String?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard access(folder, W_OK) == 0 else { throw Failure("\(folder): \(String(cString: strerror(errno)))") }
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let node = try FilePeer.node(client, name: name, adapter: adapter)
    try await node.advertise()
    output.problem("receiving as \"\(node.name)\" into \(folder); Ctrl-C ends it")
    let stopping = Task {
      // A daemon that ends takes the listener with it.
      for try await _ in client.notifications(AdapterChanged.self) {}
      await node.stop()
    }
    defer { stopping.cancel() }
    do {
      for await invitation in node.invitations {
        try Task.checkCancellation()
        do {
          guard try await receive(invitation, output), once else { continue }
        } catch let failure as Failure where !once {
          output.failure(failure)
          continue
        } catch let error as BluetoothError where !once {
          output.failure(error)
          continue
        }
        await node.stop()
        return
      }
    } catch {
      await node.stop()
      throw error
    }
    await node.stop()
    try Task.checkCancellation()
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  /// - Returns: whether a transfer was accepted.
  private func receive(_ invitation: NearbyInvitation, _ output: Output) async throws -> Bool {
    let peer = invitation.connection
    guard let offer = FileOffer(context: invitation.context) else {
      await invitation.answer(false)
      return false
    }
    output.problem("\(peer.name) offers \(offer.text); code \(codeText(peer.code))")
    let isExpected = yesFrom.map { $0 == peer.name } ?? false
    var accepts = isExpected
    if !accepts {
      accepts = await FilePeer.confirms("Receive, and does \(peer.name) show \(codeText(peer.code)), too?")
    }
    guard await invitation.answer(accepts), accepts else {
      output.problem(accepts ? "the offer of \(peer.name) has timed out" : "declined")
      return false
    }
    var left = offer.files
    while let event = await peer.next() {
      switch event {
      case .resource(let flow, let resource):
        guard let place = left.firstIndex(of: .init(name: resource.name, size: resource.size)) else {
          await flow.close(.declined)
          continue
        }
        left.remove(at: place)
        try await receive(flow, resource, of: peer, output)
      case .stream(let flow, _): await flow.close(.declined)
      case .lost where left.isEmpty: return true
      case .lost: output.problem("lost the link to \(peer.name)")
      case .resumed: output.problem("the link to \(peer.name) is back")
      case .message, .datagram: break
      case .ended(let end):
        guard !left.isEmpty else { return true }
        throw Failure("\(left.count) of \(offer.files.count) files of \(peer.name) did not arrive: \(end.text)")
      }
    }
    return true
  }

  private func receive(
    _ flow: IncomingFlow, _ resource: ResourceOffer, of peer: NearbyConnection, _ output: Output
  ) async throws {
    let name = PeerName.file(resource.name)
    let progress = output.progress("Receiving \(name)")
    defer { progress.end() }
    let rate = TransferRate(name, size: resource.size, progress)
    let (end, path) = try await withTaskCancellationHandler {
      try await FileResource.receive(resource, from: flow, into: folder) { rate.reached($0) }
    } onCancel: {
      Task { await flow.close(.cancelled) }
    }
    try Task.checkCancellation()
    progress.end()
    guard let path else { return output.problem("\(name): \(end.problem)") }
    if output.json {
      try output.object("received", TransferredFile(file: path, octets: resource.size, peer: peer.name))
    } else {
      output.line("received \(path) from \(peer.name), \(octetText(resource.size))")
    }
  }
}
