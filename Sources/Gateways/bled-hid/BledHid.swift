import ArgumentParser
import BledConnection
import BledLoop
import BledRPC
import BondedDevices
import BuildIdentity
import EventLoop
import HIDGateway

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
    RunningService.prepare()
    let loop = try EventLoop()
    let gateway = DeviceGateway(
      SocketConnector(path: service.socketPath, on: LoopSockets(loop)), loop,
      KernelDevices(DeviceFiles(path: "/dev/uhid", on: loop)),
      MemoryFile(directory: stateDirectory ?? ServiceEnvironment.stateDirectory, word: "input"))
    try RunningService("bled-hid", gateway, on: loop).run()
  }
}
