import BledCore
import Glibc
import Logging
import NIOCore
import NIOPosix

/// `bench-daemon SOCKET`: the daemon on an adapter without air: its devices answer at once and send as fast as the daemon takes
/// it, so that what is measured is the daemon.
@main
enum BenchDaemon {
  static func main() throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      print("usage: bench-daemon SOCKET")
      exit(2)
    }
    NIOSingletons.groupLoopCountSuggestion = 1
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let socket = try ListeningSocket(path: path, mode: 0o600, group: nil)
    let server = try eventLoop.flatSubmit {
      let scheduler = EventLoopScheduler(eventLoop)
      // All clients are one user's, and more than a user may have by default.
      var limits = Limits()
      limits.perUser = [:]
      let daemon = Daemon(
        identity: .init(name: "bench"),
        policy: Policy(Configuration().policy, accounts: .system, ownUser: getuid()), limits: limits,
        scheduler: scheduler,
        logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
      daemon.add(AirlessAdapter(scheduler: scheduler, eventLoop: eventLoop.assumeIsolated()))
      return SocketServer.start(
        socket, daemon: daemon, eventLoop: eventLoop, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
    }.wait()
    withExtendedLifetime(server) { while true { pause() } }
  }
}
