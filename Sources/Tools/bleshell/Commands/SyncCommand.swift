import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell sync`
struct SyncCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Follows the periodic advertising of a device.",
    discussion: """
      Scans until the device announces a train of periodic advertisements, and prints what the train carries until \
      Ctrl-C. A train that is lost is looked for again. With --transferred the device, which may be another than the \
      one that sends the train, gives it over a connection, and nothing is looked for. A train can have subevents, each \
      with slots in which this machine can respond: --respond sends the same data after each packet.
      """)

  @Argument(
    help: "The device: its address, its name, or its identifier or the first digits of that.",
    completion: ShellCompletion.devices)
  var device: String
  @Option(help: "The number of the advertising set, 0 to 15 (default: the first that announces a train).")
  var sid: Int?
  @Flag(help: "Wait for a train that the device transfers over a connection.") var transferred = false
  @Option(
    help: "Transfer the train to this device, over a connection: its address, its name or its identifier.",
    completion: ShellCompletion.devices)
  var to: String?
  @Option(
    name: .customLong("subevent"),
    help: "A subevent of the train to receive, 0 to 127; can be repeated (default: all).")
  var subevents: [Int] = []
  @Option(help: "Respond to each packet of a train with subevents, in --slot, with this data in hex.")
  var respond: String?
  @Option(help: "The slot for --respond, 0 to 254.") var slot: Int?
  @Option(help: "Stop after this many packets.") var count: Int?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard sid == nil || !transferred else { throw ValidationError("--sid is for a train that is looked for") }
    guard (respond == nil) == (slot == nil) else { throw ValidationError("--respond and --slot go together") }
    guard (0...254).contains(slot ?? 0) else { throw ValidationError("--slot must be 0 to 254") }
    guard subevents.allSatisfy((0...127).contains) else { throw ValidationError("--subevent must be 0 to 127") }
    try checkTime(time)
  }

  private var chosen: [Int]? { subevents.isEmpty ? nil : subevents }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let answer = try respond.map { HexBytes(try octets($0)) }
    let deadline = connection.deadline
    let client = try await shell.connection()
    try await shell.requireAdapter()
    var hasBegun = false
    do {
      _ = try await withDeadline(time ?? 0) { @MainActor in
        let train = try await begin(client, in: shell, within: deadline)
        hasBegun = true
        if !output.json {
          let (sid, adapter) = (train.train.sid, train.train.adapter)
          let subevents = train.train.responses.map { ", subevents: \($0.subevents)" } ?? ""
          output.line("synchronised with set \(sid)\(every(train.train.interval)) on \(adapter)\(subevents)")
        }
        guard answer == nil || train.train.responses?.slotDelay != nil else {
          throw Failure("--respond: the train has no slots for responses")
        }
        if let to {
          let named = PeriodicTransfer.Train(peripheral: train.train.peripheral, sid: train.train.sid)
          try await shell.transfer(to: to, over: train.train.adapter, within: deadline, output) { peripheral in
            .init(peripheral: peripheral, train: named)
          }
        }
        try await follow(train, of: client, answer, output)
      }
    } catch is CancellationError where time == nil && count == nil {
      // Ctrl-C is the regular end.
    }
    if !hasBegun { throw notHeard(within: time.map(shortNumber) ?? deadline.words) }
  }

  /// Follows the train that the device announces or transfers.
  @MainActor private func begin(
    _ client: BledClient, in shell: Shell, within deadline: Deadline
  ) async throws -> SynchronisedTrain {
    guard transferred else { return try await client.synchronise(try await find(client, within: deadline)) }
    var received: SynchronisedTrain?
    try await shell.use(device, within: deadline, over: connection.adapter, onlyConnecting: true) { @MainActor device in
      let seconds = deadline.seconds
      received = try await client.receiveTrain(
        .init(
          peripheral: device.peripheral.identifier, timeout: seconds > 0 ? seconds : nil, subevents: chosen)
      ).train
    }
    guard let received else { throw notHeard(within: deadline.words) }
    return received
  }

  /// Scans until the device announces a train.
  @MainActor private func find(_ client: BledClient, within deadline: Deadline) async throws -> PeriodicSync.Params {
    let found: PeriodicSync.Params? = try await withDeadline(deadline.seconds) { @MainActor in
      for try await report in try await client.scan(.init(adapter: connection.adapter, duplicates: true, active: false))
      {
        guard isMeant(report), report.periodicInterval != nil, sid == nil || report.sid == sid else { continue }
        return PeriodicSync.Params(
          peripheral: report.peripheral, sid: report.sid, adapter: report.adapter, timeout: deadline.seconds,
          subevents: chosen)
      }
      try Task.checkCancellation()
      throw BledError.daemonUnreachable.error("the connection to bled was closed")
    }
    guard let found else { throw notHeard(within: deadline.words) }
    return found
  }

  private func notHeard(within seconds: String) -> BluetoothError {
    GAPError.timeout.error("no periodic advertising of \(device) was heard within \(seconds) s")
  }

  private func isMeant(_ report: ScanReport.Params) -> Bool {
    report.address.lowercased() == device.lowercased() || report.name == device
      || device.count >= 4 && report.peripheral.lowercased().hasPrefix(device.lowercased())
  }

  @MainActor private func follow(
    _ train: SynchronisedTrain, of client: BledClient, _ answer: HexBytes?, _ output: Output
  ) async throws {
    let peripheral = train.train.peripheral
    let changes = client.observe(PeriodicChanged.self) { change in
      guard change.peripheral == peripheral, change.reason == nil else { return }
      output.problem(change.synced ? "the train was found again" : "the train is lost; it is looked for")
    } end: { _ in
    }
    defer { changes.cancel() }
    var left = count
    for try await report in train.reports {
      if output.json {
        try output.object("periodic", report, at: report.time)
      } else {
        output.line(Self.line(report, output))
      }
      if let answer, let slot { await send(answer, slot, to: report, of: client, output) }
      left = left.map { $0 - 1 }
      if left == 0 { return }
    }
    try Task.checkCancellation()
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  /// Responds to a packet; a late response is reported, and the next packet is awaited.
  @MainActor private func send(
    _ answer: HexBytes, _ slot: Int, to report: PeriodicReport.Params, of client: BledClient, _ output: Output
  ) async {
    guard let event = report.event, let subevent = report.subevent else { return }
    do throws(BluetoothError) {
      try await client.respond(
        .init(
          peripheral: report.peripheral, sid: report.sid, adapter: report.adapter, event: event, subevent: subevent,
          slot: slot, data: answer))
    } catch {
      output.problem("no response to event \(event), subevent \(subevent): \(error.message)")
    }
  }

  private static func line(_ report: PeriodicReport.Params, _ output: Output) -> String {
    let time = output.styled(clockText(Date(timeIntervalSince1970: report.time)), .dim)
    let rssi = report.rssi.map { "\($0) dBm" } ?? "-"
    let place = report.event.flatMap { event in report.subevent.map { "event \(event), subevent \($0)  " } } ?? ""
    return "\(time)  \(rssi)  \(place)\(Hex.encode(report.data.octets))\(report.truncated == true ? " (cut off)" : "")"
  }
}
