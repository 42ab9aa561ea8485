import ArgumentParser
import BledRPC
import BlueZ
import EventLoop
import Glibc

/// The command line.
@main
struct BledBluez: ParsableCommand {
  /// Programs that ask for BlueZ's version read the first number (Qt).
  static let configuration = CommandConfiguration(
    commandName: "bled-bluez",
    abstract: "Serves org.bluez on the system bus, so that programs for BlueZ use bled.",
    version: "5.82 (bled \(Release.version))")

  @Option(
    name: .long,
    help: ArgumentHelp("The socket of bled. (default: $BLED_SOCKET, else /run/bled/bled.sock)", valueName: "path"))
  var socket: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where to keep Trusted and Alias of devices. (default: $STATE_DIRECTORY, else nowhere)", valueName: "directory"))
  var stateDirectory: String?

  func run() throws {
    SignalWatch.block([SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
    let path = socket ?? getenv("BLED_SOCKET").map { String(cString: $0) } ?? SocketPath.system
    let state = stateDirectory ?? getenv("STATE_DIRECTORY").map { String(cString: $0) }
    let status = try RunningFacade(socket: path, settings: SettingsFile(directory: state), loop: EventLoop()).run()
    if status != 0 { throw ExitCode(status) }
  }
}
