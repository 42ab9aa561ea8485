import ArgumentParser
import BledConnection
import BledLoop
import BledRPC
import BondedDevices
import BuildIdentity
import EventLoop
import MIDIGateway

/// The command line.
@main
struct BledMidi: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bled-midi",
    abstract: "Bluetooth LE MIDI devices as ports of ALSA's sequencer, on top of bled.",
    version: "bled-midi \(Build.text)")

  @OptionGroup var service: ServiceOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where to keep which devices have MIDI. (default: $STATE_DIRECTORY, else nowhere)", valueName: "directory"))
  var stateDirectory: String?

  func run() throws {
    RunningService.prepare()
    let loop = try EventLoop()
    let gateway = DeviceGateway(
      SocketConnector(path: service.socketPath, on: LoopSockets(loop)), loop,
      SequencerPorts(SequencerClients(path: "/dev/snd/seq", on: loop), loop),
      MemoryFile(directory: stateDirectory ?? ServiceEnvironment.stateDirectory, word: "midi"))
    try RunningService("bled-midi", gateway, on: loop).run()
  }
}
