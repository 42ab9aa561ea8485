import ArgumentParser
import BledRPC
import Bluetooth
import Capture
import FoundationEssentials

/// `bleshell clone`
struct CloneCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "clone", abstract: "Describes a device as one of the simulated adapter.",
    discussion: """
      Listens to the device, connects to it, reads all that can be read, and subscribes for --watch seconds to all that \
      it notifies. The scenario goes to standard output: bleshell clone Belt >belt.json; bled --adapter \
      simulated:belt.json. Comments in it say which values were refused.
      """)

  @Argument(help: "The device.", completion: ShellCompletion.devices) var device: String
  @Option(help: "Seconds for which it listens to the device's notifications.") var watch = 10.0
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  /// Seconds of receiving advertisements before it connects.
  private static let listening = 3.0

  func validate() throws { try checkTime(watch) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard !output.isTerminal else {
      throw Failure("a scenario is for a file: bleshell clone \(device) >device.json", status: 64)
    }
    try await shell.requireAdapter()
    let found = try await shell.finder().find(device, within: connection.deadline, over: connection.adapter)
    let air = ClonedAir()
    let reports = try await shell.connection().scan(.init(adapter: connection.adapter, duplicates: true))
    let progress = output.progress("Listening to \(found.name)")
    defer { progress.end() }
    _ = try await withDeadline(Self.listening) { @MainActor in
      for try await report in reports where found.isHeard(in: report) { air.receive(report) }
    }
    progress.end()
    let seconds = watch
    try await shell.use(
      device, within: connection.deadline, over: connection.adapter, onlyConnecting: true
    ) { device in
      let cloned = try await Cloning(device, output: output).clone(air, watching: seconds)
      output.text(ScenarioText.text([cloned]))
      output.problem("\(found.name) is cloned: \(cloned.services.count) services")
    }
  }
}

extension FoundDevice {
  /// True if a report belongs to this device.
  fileprivate func isHeard(in report: ScanReport.Params) -> Bool {
    switch reference {
    case .identifier(let identifier): report.peripheral == identifier
    case .address(let address, let type): report.address == address && (type == nil || report.addressType.known == type)
    case .name(let name): report.name?.hasSameOctets(as: name) ?? false
    case .namePrefix, .service: false
    }
  }
}
