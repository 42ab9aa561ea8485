import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell raw`
struct RawCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "raw", abstract: "Sends a line to the daemon unchanged, and prints the daemon's messages unchanged.",
    discussion: """
      Exits when the line is answered, with status 1 if the answer is an error. With --time it continues to print \
      notifications. In line mode, raw lines share a connection, separate from that of the other commands, until one \
      with --time closes it.
      """)

  @Argument(help: "The line, such as '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.list\"}'.") var line: String
  @Option(help: "Seconds to continue listening after the answer.") var time: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = shell.output
    let connection = try await shell.rawConnection()
    let wantsAnswer = Self.wantsAnswer(line)
    connection.send(line)
    if wantsAnswer {
      let failed = try await withDeadline(30) {
        while true {
          guard let received = try await connection.next() else {
            throw BledError.daemonUnreachable.error("the connection to bled was closed")
          }
          Self.show(received, output)
          switch try? RPCMessage(line: Data(received.utf8)).kind {
          case .success: return false
          case .failure: return true
          default: continue
          }
        }
      }
      guard let failed else { throw Failure("no answer came within 30 s") }
      if failed, time == nil { throw Failure("") }
    }
    if let time {
      _ = try await withDeadline(time) {
        while let received = try await connection.next() { Self.show(received, output) }
      }
      shell.endRawConnection()
    }
  }

  /// Prints a line unchanged; on a terminal, without control characters.
  private static func show(_ line: String, _ output: Output) {
    output.line(output.isTerminal ? Output.clean(line) : line)
  }

  /// Everything except a notification is answered.
  private static func wantsAnswer(_ line: String) -> Bool {
    if case .notification? = try? RPCMessage(line: Data(line.utf8)).kind { false } else { true }
  }
}
