import ArgumentParser
import BledLoop
import BledRPC
import BuildIdentity
import EventLoop
import Glibc

/// The command line.
@main
struct BledHid: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bled-hid",
    abstract: "Bluetooth LE keyboards, mice and other input devices as devices of this machine, on top of bled.",
    version: "bled-hid \(Build.text)")

  @OptionGroup var service: ServiceOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where to keep which devices have input. (default: $STATE_DIRECTORY, else nowhere)", valueName: "directory"))
  var stateDirectory: String?

  func run() throws {
    SignalWatch.block([SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
    let memory = MemoryFile(directory: stateDirectory ?? ServiceEnvironment.stateDirectory)
    try RunningGateway(socket: service, memory: memory, loop: try EventLoop()).run()
  }
}
