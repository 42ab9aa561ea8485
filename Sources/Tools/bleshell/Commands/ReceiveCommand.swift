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
      as ".….part", and continued when the same file is sent again. Several machines can send at a time.
      """)

  @Argument(help: "The folder for the files.", completion: .directory) var folder: String
  @Option(help: "Receive from senders of this name without a question. Names are not proved: any machine can take one.")
  var yesFrom: String?
  @Flag(help: "End after one transfer.") var once = false
  @Option(help: "The name that senders see (default: this machine's).") var name: String?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard access(folder, W_OK) == 0 else { throw Failure("\(folder): \(String(cString: strerror(errno)))") }
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let node = try FilePeer.node(client, name: name, adapter: adapter)
    try await node.advertise()
    output.problem("receiving as \"\(node.name)\" into \(folder); Ctrl-C ends it")
    let stopping = Task {
      // A daemon that ends takes the listener with it, and this stream, which then ends with an error.
      do { for try await _ in client.notifications(AdapterChanged.self) {} } catch {}
      await node.stop()
    }
    defer { stopping.cancel() }
    let receiver = FileReceiver(folder: folder, expected: yesFrom, board: TransferBoard(output))
    do {
      if once {
        for await invitation in node.invitations where try await receiver.receive(invitation) {
          await node.stop()
          return
        }
      } else {
        await receiveAll(node, receiver)
      }
    } catch {
      await node.stop()
      throw error
    }
    await node.stop()
    try Task.checkCancellation()
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  /// Receives from all senders at the same time: a lost one does not delay the others.
  private func receiveAll(_ node: NearbyNode, _ receiver: FileReceiver) async {
    await withDiscardingTaskGroup { group in
      for await invitation in node.invitations {
        group.addTask {
          do {
            _ = try await receiver.receive(invitation)
          } catch let failure as Failure {
            receiver.board.print { $0.failure(failure) }
          } catch let error as BluetoothError {
            receiver.board.print { $0.failure(error) }
          } catch {}
        }
      }
      await node.stop()
    }
  }
}
