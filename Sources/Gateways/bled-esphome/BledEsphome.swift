import ArgumentParser
import BledLoop
import BledRPC
import BuildIdentity
import EventLoop
import Glibc
import JSONFiles

/// The command line.
@main
struct BledEsphome: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bled-esphome",
    abstract: "A Bluetooth proxy for Home Assistant, by the native API of ESPHome, on top of bled.",
    version: "bled-esphome \(Build.text)")

  @Option(
    name: .long,
    help: ArgumentHelp("The configuration. (default: \(Configuration.standardFile), if it exists)", valueName: "file"))
  var config: String?

  @OptionGroup var service: ServiceOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where the key is kept. (default: $STATE_DIRECTORY, else /var/lib/bled-esphome)", valueName: "directory"))
  var stateDirectory: String?

  @Flag(name: .long, help: "Checks the configuration, and ends.")
  var check = false

  @Flag(name: .long, help: "Prints the key that Home Assistant asks for, and ends.")
  var showKey = false

  @Flag(name: .long, help: "Prints the file by which Avahi announces the proxy, and ends.")
  var avahi = false

  func run() throws {
    SignalWatch.block([SIGTERM, SIGINT, SIGUSR1])
    signal(SIGPIPE, SIG_IGN)
    let state = stateDirectory ?? ServiceEnvironment.stateDirectory ?? "/var/lib/bled-esphome"
    let keys = KeyFile(directory: state)
    if showKey {
      guard let text = try keys.text() else {
        throw ValidationError("there is no key yet: start bled-esphome once, which makes it")
      }
      return print(text)
    }
    let configuration: Configuration
    do {
      configuration = try Configuration(file: config)
    } catch {
      throw ValidationError("\(error)")
    }
    if check { return print("the configuration is valid") }
    // The announcement does not contain the key.
    let key: [UInt8]? =
      if !configuration.encryption { nil } else if avahi { [] } else { try keys.keyOrNew() }
    let proxy = RunningProxy(configuration, key: key, socket: service, loop: try EventLoop())
    let status = try avahi ? proxy.printAvahiService() : proxy.run()
    if status != 0 { throw ExitCode(status) }
  }
}
