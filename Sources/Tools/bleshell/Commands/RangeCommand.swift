import ArgumentParser
import Beacons
import BledClient
import BledRPC
import Bluetooth

/// `bleshell range`
struct RangeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "range", abstract: "Shows which iBeacons come, go, and how near they are.",
    discussion: """
      On a terminal it shows a table; otherwise it prints a line of JSON whenever a beacon enters, exits (it was silent \
      for ten seconds) or changes its proximity: immediate (half a metre), near (four metres) or far. Distances follow \
      from the signal strength and are rough. Ctrl-C stops it.
      """)

  @Argument(
    help: "The UUID of the beacons, 32 digits.",
    transform: { text in
      guard let uuid = BluetoothUUID(text), text.utf8.count >= 32 else {
        throw ValidationError("\(text) is not the UUID of an iBeacon: give all 32 digits, with dashes")
      }
      return uuid
    })
  var uuid: BluetoothUUID
  @Option(help: "Only beacons with this major number.") var major: UInt16?
  @Option(help: "Only beacons with this minor number.") var minor: UInt16?
  @Option(help: "Only this adapter.", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws { try checkTime(time) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.requireAdapter()
    let region = BeaconRanging.Region(uuid: uuid, major: major, minor: minor)
    let reports = try await shell.connection().scan(
      .init(adapter: adapter, duplicates: true, active: false, filters: [.init(manufacturer: region.manufacturer)]))
    let view = RangeView(region: region, output: output)
    let silence = Task { @MainActor in try await view.watchSilence() }
    defer { silence.cancel() }
    do {
      _ = try await withDeadline(time ?? 0) { @MainActor in
        for try await report in reports { try view.received(report) }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
    view.finish()
  }
}

extension BeaconRanging.Region {
  /// The advertised data of its beacons. The daemon cannot report a beacon that is gone: it knows devices by their
  /// addresses, and a phone acting as a beacon changes its own.
  fileprivate var manufacturer: ScanStart.Manufacturer {
    let (data, mask) = pattern
    return .init(company: IBeacon.company, data: HexBytes(data), mask: HexBytes(mask))
  }
}
