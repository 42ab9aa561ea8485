import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import BuildIdentity
import Glibc

/// The command `bleshell` with its subcommands. Without a subcommand it reads commands line by line.
struct Bleshell: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "bleshell",
    abstract: "A command-line client for the Bluetooth LE daemon bled.",
    discussion: """
      With a command, bleshell runs it and exits; a device is connected only while the command runs. Without one it \
      reads commands, from a terminal with history and completion or from a pipe, and keeps the connection made by \
      "connect". A DEVICE is a name, an address or an identifier (or its first digits). A CHARACTERISTIC is a UUID \
      ("2A37"), an assigned name ("battery level") or a handle ("0x0012"); a UUID or name can follow its service \
      ("180F/2A19"). "name" gives all of them names of one's own. Between commands there are also "clear" and "quit".
      """,
    version: "bleshell \(Build.text)",
    groupedSubcommands: [
      .init(
        name: "Scanning",
        subcommands: [
          ScanCommand.self, PeripheralsCommand.self, RangeCommand.self, SyncCommand.self, WatchCommand.self,
        ]),
      .init(
        name: "Device",
        subcommands: [
          ConnectCommand.self, DisconnectCommand.self, UseCommand.self, InspectCommand.self, ServicesCommand.self,
          ReadCommand.self, WriteCommand.self, SubscribeCommand.self, NameCommand.self, UARTCommand.self,
          PhoneCommand.self, L2CAPCommand.self,
        ]),
      .init(name: "Firmware", subcommands: [DFUCommand.self, MCUmgrCommand.self]),
      .init(
        name: "Connection",
        subcommands: [InfoCommand.self, RSSICommand.self, ParametersCommand.self, PHYCommand.self]),
      .init(
        name: "Peripheral role",
        subcommands: [AdvertiseCommand.self, BeaconCommand.self, ServeCommand.self]),
      .init(name: "Files between machines", subcommands: [SendCommand.self, ReceiveCommand.self]),
      .init(
        name: "Pairing", subcommands: [PairCommand.self, PairingCommand.self, ForgetCommand.self]),
      .init(
        name: "Observing",
        subcommands: [
          DoctorCommand.self, SessionsCommand.self, LogCommand.self, CaptureCommand.self, MetricsCommand.self,
          WebCommand.self,
        ]),
      .init(
        name: "Administration",
        subcommands: [AdaptersCommand.self, PowerCommand.self, EndCommand.self, WhoAmICommand.self]),
      .init(
        name: "Scripting",
        subcommands: [
          RunCommand.self, ExpectCommand.self, ListenCommand.self, SleepCommand.self, RawCommand.self,
          SimulationCommand.self, CloneCommand.self, ScenarioCommand.self,
        ]),
    ])

  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws { try await LineMode(shell: shell).run() }
}

extension Bleshell {
  /// The language of its commands.
  @MainActor fileprivate static let language = CommandLanguage(root: Bleshell.self)

  /// Prints the parser's text for an error, or the requested help, and ends.
  @MainActor fileprivate static func end(with error: any Error) -> Never {
    let output = Output(json: CommandLine.arguments.contains("--json"))
    let (message, status) = language.outcome(of: error, json: output.json)
    if status != 0 {
      output.failure(Failure(message, status: status))
    } else if !message.isEmpty {
      output.line(message)
    }
    exitProcess(status)
  }
}

@main enum Main {
  @MainActor static func main() async {
    let command: any ParsableCommand
    do {
      command = try Bleshell.language.parse(Array(CommandLine.arguments.dropFirst()))
    } catch let failure as Failure {
      Output(json: CommandLine.arguments.contains("--json")).failure(failure)
      exitProcess(failure.status)
    } catch {
      Bleshell.end(with: error)
    }
    guard let command = command as? any ShellCommand else {
      do {
        var other = command
        try other.run()
        return
      } catch {
        Bleshell.end(with: error)
      }
    }
    let shell = Shell(
      output: Output(json: command.global.json), socket: command.global.socket ?? BledClient.defaultSocketPath,
      language: Bleshell.language, isLineMode: command is Bleshell)
    let status = await shell.perform { try await command.run(in: shell) }
    shell.close()
    exitProcess(status)
  }
}
