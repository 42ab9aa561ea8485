import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell advertise`
struct AdvertiseCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "advertise", abstract: "Advertises this machine.",
    discussion: """
      Advertises for --time seconds, or until Ctrl-C. In line mode without --time the advertisement continues in the \
      background until "advertise --stop". With --subevents devices can respond: --send repeats data in a subevent of \
      each interval until the command ends, and the responses are printed.
      """)

  @Option(help: "The name to advertise.") var name: String?
  @Option(name: .customLong("service"), help: "A service to list; can be repeated.") var services: [BluetoothUUID] = []
  @Option(help: "Service data, as UUID=HEX; can be repeated.") var serviceData: [String] = []
  @Option(help: "Manufacturer-specific data in hex: the company identifier, low octet first, then the data.")
  var manufacturerData: String?
  @Option(help: "The appearance, a number (Assigned Numbers, 2.6).") var appearance: UInt16?
  @Option(help: "The advertising interval in seconds, 0.02 to 10.24.") var interval: Double?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @Flag(help: "Do not accept connections.") var notConnectable = false
  @OptionGroup(title: "How it is sent") var how: AdvertisingOptions
  @OptionGroup(title: "Responses of devices") var train: TrainOptions
  @Option(help: "Stop after this many seconds.") var time: Double?
  @Flag(help: "Stop the advertisements that continue in the background.") var stop = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws { try checkTime(time) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    if stop {
      guard !shell.advertisements.isEmpty else { throw Failure("this bleshell has no advertisement to stop") }
      for number in shell.advertisements { try await client.stopAdvertising(number) }
      shell.advertisements = []
      return
    }
    try await shell.requireAdapter()
    let data = try train.data()
    let advertisement = try await client.advertise(try parameters())
    try announce(advertisement, name: name, output)
    if let device = how.transferTo {
      let deadline = Deadline(limit: nil)
      try await shell.transfer(to: device, over: advertisement.adapter, within: deadline, output) { peripheral in
        .init(peripheral: peripheral, advertising: advertisement.advertising)
      }
    }
    if time == nil, shell.isLineMode, data.isEmpty {
      shell.advertisements.append(advertisement.advertising)
      return
    }
    let exchange = data.isEmpty ? nil : ResponseExchange(advertising: advertisement.advertising, data: data)
    try await follow(advertisement, of: client, for: time, beside: exchange, output)
    if shell.isLineMode { try await client.stopAdvertising(advertisement.advertising) }
  }

  private func parameters() throws -> AdvertisingStart.Params {
    var data: [String: HexBytes] = [:]
    for item in serviceData {
      let parts = item.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let uuid = BluetoothUUID(full: parts[0]) else {
        throw Failure("--service-data must be UUID=HEX, such as 180F=64", status: 64)
      }
      data["\(uuid)"] = HexBytes(try octets(String(parts[1])))
    }
    var params = AdvertisingStart.Params(
      adapter: adapter, name: name, services: services.isEmpty ? nil : services,
      serviceData: data.isEmpty ? nil : data, manufacturerData: try manufacturerData.map { HexBytes(try octets($0)) },
      appearance: appearance.map(Int.init), connectable: notConnectable ? false : nil, interval: interval)
    try how.apply(to: &params, train)
    return params
  }
}

/// Reports the advertisements on the air.
func announce(_ advertisement: AdvertisingStart.Result, name: String?, _ output: Output) throws {
  if output.json { return try output.object("advertising", advertisement) }
  let shown = advertisement.shortenedName.map { "\"\($0)\" (shortened to fit)" } ?? name.map { "\"\($0)\"" }
  output.line(
    "advertising \(shown.map { "as \($0) " } ?? "")on \(advertisement.adapter)\(every(advertisement.interval))")
}

/// Reports the events of an advertisement, for this number of seconds; without a time until Ctrl-C, the regular end.
/// - Parameter exchange: The data and the responses of its train, which continue meanwhile.
func follow(
  _ advertisement: AdvertisingStart.Result, of client: BledClient, for time: Double?,
  beside exchange: ResponseExchange? = nil, _ output: Output
) async throws {
  let changes = client.notifications(AdvertisingChanged.self) { $0.advertising == advertisement.advertising }
  do {
    _ = try await withDeadline(time ?? 0) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await report(changes, output) }
        if let exchange { group.addTask { try await exchange.run(with: client, output) } }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  } catch is CancellationError where time == nil {}
}

/// Reports the events of an advertisement until it has ended.
private func report(
  _ changes: AsyncThrowingStream<AdvertisingChanged.Params, any Error>, _ output: Output
) async throws {
  for try await change in changes {
    if let reason = change.reason { throw reason.bluetoothError }
    if let ended = change.ended { return output.problem("the advertisement has ended: \(ending(ended))") }
    output.problem(change.onAir ? "on the air" + every(change.interval) : "off the air: waiting for the adapter")
  }
  try Task.checkCancellation()
  throw BledError.daemonUnreachable.error("the connection to bled was closed")
}

/// The reason why an advertisement has ended by itself, for people.
private func ending(_ end: Word<AdvertisingEnd>) -> String {
  switch end.known {
  case .duration: "its time is over"
  case .count: "all its events were sent"
  case .connected: "the device has connected"
  case nil: end.text
  }
}

/// " every 100 ms"
func every(_ interval: Double?) -> String {
  interval.map { " every \(Int(nearest: $0 * 1000)) ms" } ?? ""
}
