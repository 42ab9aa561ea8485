import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import JSONFiles

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
  @Option(help: "Only the device with this address.") var address: String?
  @OptionGroup var filters: ScanFilterOptions
  @Option(parsing: .unconditional, help: "Only reports at least this strong, in dBm.") var rssi: Int?
  @Option(
    parsing: .unconditional,
    help: "With --rssi: a device that was that strong is shown until it is weaker than this, in dBm.")
  var rssiOut: Int?
  @Option(help: "Report devices that were not heard for this many seconds, 0.5 to 3600.") var lost: Double?
  @Option(help: "Only this adapter.") var adapter: String?
  @Option(name: .customLong("phy"), help: "Listen on this PHY, 1M or coded; can be repeated.") var phys: [String] = []
  @Flag(help: "Print a line for every report instead of a table of devices.") var duplicates = false
  @Flag(help: "Only listen: send no scan requests, unless another program's scan does.") var passive = false
  @Flag(help: "Also print a line for each anonymous advertisement, which is of no device.") var anonymous = false
  @Option(help: "A JSON file with the keys of devices that encrypt what they advertise: {\"ADDRESS\": \"HEX\"}.")
  var keys: String?
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard time >= 0, time.isFinite else { throw ValidationError("--time must be 0 or more seconds") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.requireAdapter()
    let live = output.isTerminal && !output.json && !duplicates && !anonymous
    let client = try await shell.connection()
    let table = ScanTable(output: output, live: live)
    let printing = anonymous ? printAnonymous(of: client, output) : nil
    defer { printing?.cancel() }
    let losing = lost == nil ? nil : showLost(of: client, in: table, output)
    defer { losing?.cancel() }
    let reports = try await client.scan(try parameters(live: live))
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

  /// Keys come from a file, as everybody can see the arguments of a process.
  private func readKeys(_ path: String) throws(FileError) -> [ScanStart.Key] {
    var keys: [ScanStart.Key] = []
    for member in try JSONFile.read(path).members() {
      keys.append(.init(address: member.name, key: HexBytes(try member.value.octets(atMost: 64))))
    }
    return keys
  }

  private func parameters(live: Bool) throws -> ScanStart.Params {
    ScanStart.Params(
      adapter: adapter, services: services.isEmpty ? nil : services, name: filters.namePrefix, address: address,
      rssi: rssi, duplicates: duplicates || live ? true : nil, active: passive ? false : nil,
      anonymous: anonymous ? true : nil,
      filters: try filters.filter.map { [$0] }, rssiOut: rssiOut, lost: lost, decode: true,
      keys: try keys.map(readKeys), phys: phys.isEmpty ? nil : phys
    )
  }

  /// Shows which devices are not heard any more, until it is cancelled.
  private func showLost(of client: BledClient, in table: ScanTable, _ output: Output) -> Task<Void, any Error> {
    let losses = client.notifications(ScanLost.self, buffering: .newest(1024))
    return Task { @MainActor in
      for try await lost in losses {
        if output.json {
          try output.object(lost)
        } else if duplicates {
          output.line(ScanTable.lostLine(lost, output))
        } else {
          table.lose(lost.peripheral)
        }
      }
    }
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
