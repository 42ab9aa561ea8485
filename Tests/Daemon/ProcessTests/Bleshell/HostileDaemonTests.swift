import BledRPC
import Glibc
import Testing

/// `bleshell` against a daemon that answers anything: it may fail, but not crash.
@Suite(.serialized) struct HostileDaemonTests {
  private static let commands = [
    ["adapters"], ["sessions"], ["metrics"], ["metrics", "--json"], ["devices"], ["pairing", "list"],
    ["advertise", "--name", "x", "--time", "0.1"], ["scan", "--time", "0.3"], ["scan", "--time", "0.3", "--csv"],
    ["services", "Heart Belt", "--timeout", "5"], ["read", "Heart Belt", "2A29", "--timeout", "5"],
    ["parameters", "Heart Belt"], ["subscribe", "Heart Belt", "2A37", "--time", "0.5", "--timeout", "5"],
    ["doctor"],
  ]

  @Test("Whatever the daemon answers, no command crashes", arguments: [0, 1, 2, 3, 4] as [UInt64])
  func noCommandCrashes(seed: UInt64) throws {
    let daemon = try DaemonProcess()
    let lies = try LyingDaemon(before: daemon, seed: seed)
    for command in Self.commands {
      let shell = try ChildProcess(
        "bleshell", command, environment: ["BLED_SOCKET": lies.socketPath, "SWIFT_BACKTRACE": "enable=no"],
        folder: daemon.folder)
      // A daemon that leaves out an answer may make it wait.
      let status = shell.exitStatus(orKillAfter: 15) ?? 0
      #expect(
        ![SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS].contains(status - 128),
        "seed \(seed): \(command) ended with \(status): \(shell.errors)")
    }
  }
}
