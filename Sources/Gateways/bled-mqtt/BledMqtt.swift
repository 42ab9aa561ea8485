import ArgumentParser
import BledLoop
import BledRPC
import BuildIdentity
import EventLoop
import Glibc
import JSONFiles
import MQTTGateway

/// The command line.
@main
struct BledMqtt: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bled-mqtt",
    abstract: "Publishes advertisements and values of devices to an MQTT broker, and takes commands from it.",
    version: "bled-mqtt \(Build.text)")

  @Option(
    name: .long,
    help: ArgumentHelp("The configuration.", valueName: "file"))
  var config: String = GatewayConfiguration.defaultFile

  @Flag(name: .long, help: "Reads the configuration and the files that it names, says what is wrong, and ends.")
  var check = false

  @OptionGroup var service: ServiceOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where messages are kept while the broker is away. (default: $STATE_DIRECTORY, else nowhere)",
      valueName: "directory"))
  var stateDirectory: String?

  func run() throws {
    let settings: Settings
    do {
      settings = try Settings(file: config)
    } catch let error as FileError {
      throw ValidationError("\(error)")
    }
    guard !check else {
      if let fault = settings.namesFault { print(fault) }
      return print("\(config): the configuration is valid")
    }
    SignalWatch.block([SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
    let state = stateDirectory ?? ServiceEnvironment.stateDirectory
    try RunningGateway(settings, socket: service, stateDirectory: state, loop: EventLoop()).run()
  }
}
