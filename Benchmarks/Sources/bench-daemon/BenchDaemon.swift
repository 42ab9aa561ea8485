import BledCore
import EventLoop
import Glibc
import Logging

/// `bench-daemon SOCKET`: the daemon on an adapter without air: its devices answer at once and send as fast as the
/// daemon takes it, so that what is measured is the daemon.
@main
enum BenchDaemon {
  static func main() throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      print("usage: bench-daemon SOCKET")
      exit(2)
    }
    signal(SIGPIPE, SIG_IGN)
    let loop = try EventLoop()
    let socket = try ListeningSocket(path: path, mode: 0o600, group: nil)
    // All clients are one user's, and more than a user may have by default.
    var limits = Limits()
    limits.perUser = [:]
    let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let daemon = Daemon(
      identity: .init(name: "bench"),
      policy: Policy(Configuration().policy, accounts: .system, ownUser: getuid()), limits: limits,
      scheduler: loop, logger: logger)
    daemon.add(AirlessAdapter(scheduler: loop, loop: loop))
    let server = try SocketServer(socket, daemon: daemon, loop: loop, logger: logger)
    try loop.run()
    withExtendedLifetime(server) {}
  }
}
