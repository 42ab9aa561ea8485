import ArgumentParser
import BledRPC
import Bluetooth
import JSONFiles

/// `bleshell simulation`
struct SimulationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulation", abstract: "Moves the clock of simulated adapters and commands their devices.",
    discussion: """
      For tests of programs, with bled --adapter simulated:FILE. A NAME is that of a device in the file. \
      docs/simulator.md describes the file and what the commands do.
      """,
    subcommands: [
      Devices.self, Advance.self, Add.self, Vanish.self, ComeBack.self, Disconnect.self, SetValue.self, Change.self,
      Written.self, Visit.self, Adapter.self,
    ])

  struct Devices: ShellCommand {
    static let configuration = CommandConfiguration(commandName: "devices", abstract: "Lists the simulated devices.")
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      let output = output(of: shell)
      let devices = try await shell.connection().call(SimulationDevices.self, Empty()).devices
      if output.json {
        for device in devices { try output.object(device) }
        return
      }
      var table = Table(.init(heading: "DEVICE"), .init(heading: "ADDRESS"), .init(heading: "STATE"))
      for device in devices {
        let state = device.connected ? "connected" : device.present ? "present" : "gone"
        table.rows.append([
          .init(text: device.name, style: .bold), .init(text: "\(device.address) \(device.addressType)"),
          .init(text: state),
        ])
      }
      table.lines(output).forEach(output.line)
    }
  }

  struct Advance: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "advance", abstract: "Moves a clock that is \"manual\" in the file.")
    @Argument(help: "By how many seconds, 0 to 86400.") var seconds: Double
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      let output = output(of: shell)
      // The daemon does everything due until then, a day of it at the most.
      let moved = try await shell.connection().call(
        SimulationAdvance.self, .init(seconds: seconds), timeout: .seconds(3600))
      if output.json { try output.object(moved) } else { output.line("the time is \(moved.time)") }
    }
  }

  struct Add: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Puts the devices and phones of a scenario on the air.")
    @Argument(help: "A scenario file, - for standard input, or the text: '{ devices: […] }'.", completion: .file())
    var scenario: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      guard !scenario.drop(while: \.isWhitespace).hasPrefix("{") else {
        return try await command(SimulationAdd.self, .init(scenario: scenario), in: shell)
      }
      let octets = try JSONFile.octets(of: scenario == "-" ? "/dev/stdin" : scenario)
      let file = try JSONFile.parse(octets, name: scenario)
      guard let text = String(validating: octets, as: UTF8.self) else {
        throw Failure("\(scenario) is not text in UTF-8")
      }
      guard ScenarioParts.fits(text) else { return try await add(ScenarioParts(file).parts, in: shell) }
      do {
        try await command(SimulationAdd.self, .init(scenario: text), in: shell)
      } catch let error as BluetoothError where error.message.hasPrefix(ScenarioParts.name) {
        // The daemon names the place in the text.
        throw Failure(scenario + error.message.dropFirst(ScenarioParts.name.count - 1))
      }
    }

    /// Adds a file that is too large for one call; devices before a faulty part stay.
    @MainActor private func add(_ parts: [ScenarioParts.Part], in shell: Shell) async throws {
      let connection = try await shell.connection()
      for part in parts {
        do {
          _ = try await connection.call(SimulationAdd.self, .init(scenario: part.text))
        } catch {
          if let failure = part.failure(error.message) { throw failure }
          throw error
        }
      }
      let output = output(of: shell)
      if output.json { try output.object(Empty()) }
    }
  }

  struct Vanish: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "vanish", abstract: "Has a device go out of range, with its link.")
    @Argument(help: "The device.") var name: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      try await command(SimulationVanish.self, .init(device: name), in: shell)
    }
  }

  struct ComeBack: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "come-back", abstract: "Has a device come back that has vanished.")
    @Argument(help: "The device.") var name: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      try await command(SimulationComeBack.self, .init(device: name), in: shell)
    }
  }

  struct Disconnect: ShellCommand {
    static let configuration = CommandConfiguration(commandName: "disconnect", abstract: "Has a device end its link.")
    @Argument(help: "The device.") var name: String
    @Option(help: "The HCI error code, 1 to 255 (default: 19, remote user terminated connection).") var reason: Int?
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      try await command(SimulationDisconnect.self, .init(device: name, reason: reason), in: shell)
    }
  }

  struct SetValue: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "set-value", abstract: "Sets a value of a device, which subscribers are sent.")
    @Argument(help: "The device.") var name: String
    @Argument(help: "The UUID of the characteristic.") var characteristic: String
    @Argument(help: "The octets in hex.") var value: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      guard !BluetoothUUID.isBeginning(characteristic) else {
        throw ValidationError(BluetoothUUID.beginning(characteristic))
      }
      guard let uuid = BluetoothUUID(characteristic) else { throw ValidationError("\"\(characteristic)\" is no UUID") }
      guard let octets = Hex.decode(value) else { throw ValidationError("\"\(value)\" is not hex") }
      try await command(
        SimulationSetValue.self, .init(device: name, characteristic: uuid, value: HexBytes(octets)), in: shell)
    }
  }

  struct Change: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "change", abstract: "Changes members of a device: signal, losses, faults, services, pairing.")
    @Argument(help: "The device.") var name: String
    @Argument(help: "The members as in the file: '{ rssi: -90, faults: { mute: 0 } }'.") var members: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      try await command(SimulationChange.self, .init(device: name, members: members), in: shell)
    }
  }

  struct Adapter: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "adapter", abstract: "Switches a simulated adapter, unplugs it, or has it fail.")
    @Argument(help: "on, off, absent or failed.") var state: String
    @Option(help: "The adapter (default: the first simulated one).") var adapter: String?
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      guard let state = SimulationAdapter.State(rawValue: state) else {
        throw ValidationError("\"\(state)\" is not a state: give on, off, absent or failed")
      }
      try await command(SimulationAdapter.self, .init(adapter: adapter, state: state), in: shell)
    }
  }
}

extension ShellCommand {
  /// Calls a method without a result. With `--json` an empty object reports its success.
  @MainActor fileprivate func command<Call: ClientCall>(
    _ call: Call.Type, _ params: Call.Params, in shell: Shell
  ) async throws where Call.Result == Empty {
    let output = output(of: shell)
    let done = try await shell.connection().call(call, params)
    if output.json { try output.object(done) }
  }
}
