import ArgumentParser
import BledClient
import FoundationEssentials
import NearbySessions

/// `bleshell send`
struct SendCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Sends files to another machine that runs \"bleshell receive\".",
    usage: "bleshell send <file> ... [--to <name>] [--yes] [--name <name>] [--adapter <adapter>] [--timeout <timeout>]",
    discussion: """
      Without --to it lists the machines that are near. Both sides show the same six digits: compare them before you answer. A transfer \
      goes on where it was when a lost link comes back within ten minutes.
      """)

  @Argument(help: "The files.", completion: .file()) var files: [String]
  @Option(help: "The name of the receiver.") var to: String?
  @Flag(help: "Send without the question whether both sides show the same code.") var yes = false
  @Option(help: "The name that the receiver sees (default: this machine's).") var name: String?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Seconds to look for the receiver (default: 15; 0: no limit).") var timeout: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard 1...FileOffer.limit ~= files.count else {
      throw ValidationError("give 1 to \(FileOffer.limit) files")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let resources = files.map { FileResource(path: $0) }
    let offers = try resources.map { try $0.offer() }
    let offer = FileOffer(files: offers.map { .init(name: $0.name, size: $0.size) })
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let node = try FilePeer.node(client, name: name, adapter: adapter)
    let peer = try await find(node, output)
    let progress = output.progress("Waiting for the answer of \(peer.name)")
    defer { progress.end() }
    let receiver = Output.quoted(peer.name)
    let connection = try await node.invite(peer, context: try offer.context, timeout: .seconds(120)) { connection in
      progress.change("Waiting for the answer of \(receiver); code \(codeText(connection.code))")
      output.problem("\(receiver): \(offer.text); code \(codeText(connection.code))")
    }
    progress.end()
    if !yes, !(await FilePeer.confirms("Does \(receiver) show the code \(codeText(connection.code)), too?")) {
      await node.stop()
      throw Failure("nothing was sent: the codes were not confirmed")
    }
    let watch = Task {
      while let event = await connection.next() {
        if case .lost = event { output.problem("lost the link to \(peer.name); it is tried again for ten minutes") }
        if case .resumed = event { output.problem("the link to \(peer.name) is back") }
      }
    }
    defer { watch.cancel() }
    do {
      for (resource, offer) in zip(resources, offers) { try await send(resource, offer, to: connection, output) }
    } catch {
      await node.stop()
      throw error
    }
    await node.stop()
  }

  private func send(
    _ resource: FileResource, _ offer: ResourceOffer, to connection: NearbyConnection, _ output: Output
  ) async throws {
    let progress = output.progress("Sending \(offer.name)")
    defer { progress.end() }
    let rate = TransferRate(offer.name, size: offer.size) { progress.change($0) }
    let flow = try await connection.offer(offer)
    let end = try await withTaskCancellationHandler {
      try await resource.send(offer, over: flow) { rate.reached($0) }
    } onCancel: {
      Task { await flow.close(.cancelled) }
    }
    try Task.checkCancellation()
    guard end == .finished else { throw Failure("\(resource.path): \(end.problem)") }
    progress.end()
    if output.json {
      try output.object("sent", TransferredFile(file: resource.path, octets: offer.size, peer: connection.name))
    } else {
      output.line("sent \(resource.path) to \(connection.name), \(octetText(offer.size))")
    }
  }

  /// The receiver that was named; without a name only a list of the machines that are near.
  private func find(_ node: NearbyNode, _ output: Output) async throws -> FoundPeer {
    let progress = output.progress(to.map { "Looking for \($0)" } ?? "Looking for machines that receive")
    defer { progress.end() }
    let limit = timeout ?? Deadline.usual
    let wanted = to
    let names = PeerNames()
    let peer: FoundPeer?? = try await withDeadline(limit) {
      for try await case .found(let peer) in try await node.browse() {
        if peer.name == wanted { return peer }
        if await names.add(peer.name), wanted == nil { output.line(peer.name) }
      }
      return nil
    }
    if let peer, let peer { return peer }
    let others = await names.all.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    guard let wanted else {
      throw Failure(
        others.isEmpty ? "no machine receives: run \"bleshell receive\" there" : "name the receiver with --to",
        status: 64)
    }
    throw Failure(
      "\"\(wanted)\" was not found within \(shortNumber(limit)) s" + (others.isEmpty ? "" : "; near: \(others)"))
  }
}

/// The discovered names.
private actor PeerNames {
  private(set) var all: Set<String> = []

  /// - Returns: true if it is new; above 256 names no more are kept.
  func add(_ name: String) -> Bool { all.count < 256 && all.insert(name).inserted }
}
