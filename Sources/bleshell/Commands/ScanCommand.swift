import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell scan`
struct ScanCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan", abstract: "Shows the devices that advertise.",
    discussion: """
      On a terminal the table is updated during the scan; otherwise it is printed at the end. Ctrl-C stops the scan.
      """)

  @Option(help: "Seconds to scan; 0: until Ctrl-C.") var time = 5.0
  @Option(name: .customLong("service"), help: "Only devices that advertise this service; can be repeated.")
  var services: [BluetoothUUID] = []
  @Option(help: "Only devices whose name begins with this.") var name: String?
  @Option(help: "Only the device with this address.") var address: String?
  @Option(parsing: .unconditional, help: "Only reports at least this strong, in dBm.") var rssi: Int?
  @Option(help: "Only this adapter.") var adapter: String?
  @Option(name: .customLong("phy"), help: "Listen on this PHY, 1M or coded; can be repeated.") var phys: [String] = []
  @Flag(help: "Print a line for every report instead of a table of devices.") var duplicates = false
  @Flag(help: "Also print a line for each anonymous advertisement, which is of no device.") var anonymous = false
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard time >= 0, time.isFinite else { throw ValidationError("--time must be 0 or more seconds") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.requireAdapter()
    let live = output.isTerminal && !output.json && !duplicates && !anonymous
    let parameters = ScanStart.Params(
      adapter: adapter, services: services.isEmpty ? nil : services, name: name, address: address, rssi: rssi,
      duplicates: duplicates || live ? true : nil, anonymous: anonymous ? true : nil,
      phys: phys.isEmpty ? nil : phys)
    let client = try await shell.connection()
    let printing = anonymous ? printAnonymous(of: client, output) : nil
    defer { printing?.cancel() }
    let reports = try await client.scan(parameters)
    let table = ScanTable(output: output, live: live)
    do {
      _ = try await withDeadline(time) { @MainActor in
        for try await report in reports {
          if output.json {
            try output.object(report)
          } else if duplicates {
            output.line(ScanTable.reportLine(report, output))
          } else {
            table.add(report)
          }
        }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    } catch is CancellationError {
      // Ctrl-C is a regular end: what was heard is shown.
    }
    if !output.json, !duplicates { table.finish() }
  }

  /// Prints what comes from nobody, until it is cancelled.
  private func printAnonymous(of client: BledClient, _ output: Output) -> Task<Void, any Error> {
    let reports = client.notifications(ScanAnonymousReport.self, buffering: .newest(1024))
    return Task { @MainActor in
      for try await report in reports {
        if output.json { try output.object(report) } else { output.line(ScanTable.reportLine(report, output)) }
      }
    }
  }
}

extension BluetoothUUID: ExpressibleByArgument {
  /// Reads a UUID.
  public init?(argument: String) { self.init(argument) }
}
