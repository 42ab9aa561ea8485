import ArgumentParser
import BledLoop
import BledRPC
import BlueZ
import BuildIdentity
import EventLoop
import Glibc

/// The command line.
@main
struct BledBluez: ParsableCommand {
  /// Programs that read BlueZ's version use the first number (Qt).
  static let configuration = CommandConfiguration(
    commandName: "bled-bluez",
    abstract: "Serves org.bluez on the system bus, so that programs for BlueZ use bled.",
    version: "5.82 (bled \(Release.version), \(Build.origin))")

  @OptionGroup var service: ServiceOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where to keep Trusted and Alias of devices. (default: $STATE_DIRECTORY, else nowhere)", valueName: "directory"))
  var stateDirectory: String?

  func run() throws {
    SignalWatch.block([SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
    let state = stateDirectory ?? ServiceEnvironment.stateDirectory
    let loop = try EventLoop()
    let settings = SettingsFile(directory: state, worker: Worker(loop: loop))
    let status = try RunningFacade(socket: service, settings: settings, loop: loop).run()
    if status != 0 { throw ExitCode(status) }
  }
}
