import ArgumentParser
import BledConnection
import BledRPC
import Glibc

/// The options that all services on top of bled have.
package struct ServiceOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The socket of bled. (default: $BLED_SOCKET, \(SocketPath.system), or $XDG_RUNTIME_DIR/bled/bled.sock)",
      valueName: "path"))
  private var socket: String?

  package init() {}

  /// The path of bled's socket at this moment: a daemon of the user may be started later.
  package var socketPath: String { socket ?? SocketPath.ofClients { ServiceEnvironment[$0] } }
}

/// The variables that systemd or a person sets for a service.
package enum ServiceEnvironment {
  /// The value of a variable; nil if it is not set.
  package static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The directory for the state of the service.
  package static var stateDirectory: String? { Self["STATE_DIRECTORY"] }
  /// The directory for files that are removed with the service.
  package static var runtimeDirectory: String? { Self["RUNTIME_DIRECTORY"] }
}

/// The log of a service: lines for the journal.
package struct ServiceLog: Sendable {
  private let name: String

  /// - Parameter name: the name of the program.
  package init(_ name: String) { self.name = name }

  package func say(_ text: String) {
    let line = "\(name): \(text)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
  }
}
