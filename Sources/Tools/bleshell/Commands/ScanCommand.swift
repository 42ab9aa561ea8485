import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials
import JSONFiles
import ValueFormats

/// `bleshell scan`
struct ScanCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan", abstract: "Shows the devices that advertise.",
    discussion: """
      On a terminal the table has the whole screen during the scan: arrows select a device, of which everything is shown \
      below, Enter connects to it, s \
      sorts by signal, age or name, / filters by what is typed (words, and a level such as -70), q or Ctrl-C ends. Then, \
      and without a terminal after 5 s, it is printed.
      """)

  @Option(help: "Seconds to scan; 0: until Ctrl-C (default: 5; 0 on the whole screen).") var time: Double?
  @Option(
    name: .customLong("service"),
    help: "Only devices that advertise this service, a UUID or an assigned name; can be repeated.",
    transform: serviceUUID)
  var services: [BluetoothUUID] = []
  @Option(
    name: .customLong("address"), help: "Only the device with this address; can be repeated.",
    transform: { DeviceCandidate.address($0) ?? $0 })
  var addresses: [String] = []
  @OptionGroup(title: "Filters") var filters: ScanFilterOptions
  @Option(parsing: .unconditional, help: "Only reports at least this strong, in dBm.") var rssi: Int?
  @Option(
    parsing: .unconditional,
    help: "With --rssi: a device that was that strong is shown until it is weaker than this, in dBm.")
  var rssiOut: Int?
  @Option(help: "Report devices that were not heard for this many seconds, 0.5 to 3600.") var lost: Double?
  @Option(help: "Only this adapter.", completion: ShellCompletion.adapters) var adapter: String?
  @Option(name: .customLong("phy"), help: "Listen on this PHY; can be repeated.") var phys: [PrimaryPHY] = []
  @Flag(help: "Print a line for every report instead of a table of devices.") var duplicates = false
  @Flag(help: "Only listen: send no scan requests, unless another program's scan does.") var passive = false
  @Flag(help: "Also print a line for each anonymous advertisement, which is of no device.") var anonymous = false
  @OptionGroup var sensorKeys: SensorKeyOption
  @Flag(help: "Print a line of comma-separated values for every report.") var csv = false
  @Flag(
    help: """
      Only show which of the devices of --address are there, until Ctrl-C. A device is away if it was not heard for \
      the seconds of --lost (default: 10). The controller watches for them where it can.
      """)
  var presence = false
  @Flag(help: "Hearing no device is a failure, with status 1.") var expect = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard time ?? 0 >= 0, time?.isFinite != false else { throw ValidationError("--time must be 0 or more seconds") }
    for (name, level) in [("--rssi", rssi), ("--rssi-out", rssiOut)] {
      guard let level, level > 20 else { continue }
      throw ValidationError("\(name) is in dBm, which is negative for received signals: do you mean \(name) -\(level)?")
    }
    guard !csv || !global.json else { throw ValidationError("--csv and --json: give one of them") }
    try validatePresence()
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.requireAdapter()
    if presence { return try await runPresence(in: shell, output) }
    if output.hasScreen, !csv, !duplicates, !anonymous {
      return try await runScreen(in: shell, output)
    }
    let client = try await shell.connection()
    let table = ScanTable(output: output)
    let others = [
      anonymous ? printAnonymous(of: client, output) : nil,
      lost == nil ? nil : showLost(of: client, in: table, output), reportAdapters(of: client, output),
    ]
    defer { others.forEach { $0?.cancel() } }
    let names = shell.names()
    let reports = try await client.scan(try parameters(live: false, names))
    let isOwn = filters.areOnOwnName(names)
    if csv { output.line(ScanTable.csvHeading) }
    var isEmpty = true
    do {
      _ = try await withDeadline(time ?? 5) { @MainActor in
        for try await heard in reports {
          let report = heard.named(names)
          guard !isOwn || filters.passes(report, of: heard) else { continue }
          isEmpty = false
          table.add(report)
          if output.json {
            try output.object("report", report, at: report.time)
          } else if csv {
            output.line(ScanTable.csvLine(report))
          } else if duplicates {
            output.line(ScanTable.reportLine(report, output))
          }
        }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    } catch is CancellationError {
      // Ctrl-C is a regular end: the received devices are shown.
    }
    if !output.json, !duplicates, !csv { table.finish(connected: await connected(in: shell, table)) }
    if expect, isEmpty { throw Failure(output.json || duplicates || csv ? "no device was heard" : "") }
  }

  /// The table on a screen of its own, then as lines.
  @MainActor private func runScreen(in shell: Shell, _ output: Output) async throws {
    let client = try await shell.connection()
    let names = shell.names()
    let isOwn = filters.areOnOwnName(names)
    let view = ScanView(output: output, names: names) { [filters] in !isOwn || filters.passes($0, of: $1) }
    let reports = try await client.scan(try parameters(live: true, names))
    var chosen: String?
    do {
      chosen = try await view.run(reports, client, seconds: time ?? 0)
    } catch {
      view.finish()
      view.table.finish(connected: [])
      throw error
    }
    view.finish()
    view.table.finish(connected: chosen == nil ? await connected(in: shell, view.table) : [])
    if let chosen { return try await inspect(chosen, in: shell, output) }
    if expect, view.table.isEmpty { throw Failure("") }
  }

  /// Sentences on the devices that were not received because they are connected here: most do not advertise meanwhile.
  @MainActor private func connected(in shell: Shell, _ table: ScanTable) async -> [String] {
    guard let known = try? await shell.connection().call(PeripheralList.self, Empty(), timeout: .seconds(5)) else {
      return []
    }
    let silent = known.peripherals.filter {
      $0.state == "connected" && !table.contains($0.peripheral) && couldBeMeant($0, table)
    }
    guard !silent.isEmpty else { return [] }
    let sessions = (try? await shell.sessions()) ?? []
    return silent.map { device in
      let holders = sessions.filter { $0.connections.contains { $0.peripheral == device.peripheral } }.map(\.holder)
      return "\(device.name ?? device.address) is connected here"
        + (holders.isEmpty ? "" : " (\(holders.joined(separator: "; ")))") + ", and may not advertise meanwhile"
    }
  }

  /// True if a device that was not received passes the filters for names and addresses; with other filters it is
  /// mentioned if no device was received.
  @MainActor private func couldBeMeant(_ device: PeripheralList.Entry, _ table: ScanTable) -> Bool {
    guard addresses.isEmpty || addresses.contains(device.address),
      filters.passes(name: device.name ?? "")
    else { return false }
    return services.isEmpty && filters.isOnNames || table.isEmpty
  }

  /// Connects to the chosen device, shows it, and continues in line mode.
  @MainActor private func inspect(_ identifier: String, in shell: Shell, _ output: Output) async throws {
    let device = try await shell.connect(identifier, within: Deadline(limit: nil))
    output.line("connected to \(output.styled(Output.clean(device.name), .bold))")
    shell.devices.choose(device)
    try await InspectView(device, in: shell, output: output).run()
    if !shell.isLineMode { try await LineMode(shell: shell).run() }
  }

  /// - Parameter names: The names that the user gives: a filter on one of them cannot be the daemon's.
  func parameters(live: Bool, _ names: NameList) throws -> ScanStart.Params {
    let filters = self.filters.areOnOwnName(names) ? self.filters.withoutName : self.filters
    return ScanStart.Params(
      adapter: adapter, services: services.isEmpty ? nil : services, name: filters.namePrefix,
      address: addresses.count == 1 ? addresses[0] : nil, addresses: addresses.count > 1 ? addresses : nil, rssi: rssi,
      duplicates: duplicates || csv || live ? true : nil, active: passive ? false : nil,
      anonymous: anonymous ? true : nil,
      filters: try filters.filter.map { [$0] }, rssiOut: rssiOut, lost: lost ?? (live ? 10 : nil), decode: true,
      keys: try sensorKeys.read(), phys: phys.isEmpty ? nil : phys.words()
    )
  }

  /// Reports adapters that disappear and return, until it is cancelled.
  private func reportAdapters(of client: BledClient, _ output: Output) -> Task<Void, any Error> {
    let changes = client.notifications(AdapterChanged.self, buffering: .newest(64))
    return Task { @MainActor in
      var notices = AdapterNotices()
      for try await adapter in changes {
        if let notice = notices.changed(adapter) { output.problem(notice) }
      }
    }
  }

  /// Shows devices that are no longer received, until it is cancelled.
  private func showLost(of client: BledClient, in table: ScanTable, _ output: Output) -> Task<Void, any Error> {
    let losses = client.notifications(ScanLost.self, buffering: .newest(1024))
    return Task { @MainActor in
      for try await lost in losses {
        let device = table.lose(lost.peripheral)
        if output.json {
          let object = ScanTable.Lost(lost, address: device?.address, name: device?.name)
          try output.object("lost", object, at: Date().timeIntervalSince1970)
        } else if duplicates, !csv {
          output.line(ScanTable.lostLine(lost, device, output))
        }
      }
    }
  }

  /// Prints anonymous advertisements, until it is cancelled.
  private func printAnonymous(of client: BledClient, _ output: Output) -> Task<Void, any Error> {
    let reports = client.notifications(ScanAnonymousReport.self, buffering: .newest(1024))
    return Task { @MainActor in
      for try await report in reports {
        if output.json {
          try output.object("anonymous", report, at: report.time)
        } else {
          output.line(ScanTable.reportLine(report, output))
        }
      }
    }
  }
}

extension ScanReport.Params {
  /// The report with the name that the user gives the device.
  func named(_ names: NameList) -> Self {
    guard let name = names.name(ofDevice: address) else { return self }
    var report = self
    report.name = name
    return report
  }
}

extension BluetoothUUID: ExpressibleByArgument {
  /// Reads a UUID that is written in full.
  public init?(argument: String) { self.init(full: argument) }

  /// Reads a UUID that is written in full: four or 32 digits. Of eight digits, which may be the beginning of a UUID, a
  /// command can make something where it knows the attributes of a device.
  init?(full text: some StringProtocol) {
    guard !Self.isBeginning(text) else { return nil }
    self.init(text)
  }

  /// True for eight digits that are not a UUID of 16 bits.
  static func isBeginning(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 8 && !text.hasPrefix("0000") && BluetoothUUID(text) != nil
  }

  /// The remedy for eight digits.
  static func beginning(_ text: some StringProtocol) -> String {
    "\(text) is the beginning of a UUID: give all 32 digits, which \"bleshell services DEVICE\" shows"
  }
}
