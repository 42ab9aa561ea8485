import ArgumentParser
import BledRPC
import FoundationEssentials

/// `bleshell info`
struct InfoCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows a connection: interval, latency, timeout, subrate, MTU, PHYs, packet lengths, protection.",
    usage: "bleshell info [<device>]")

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words(device).device, within: connection.deadline, over: connection.adapter) { device in
      try output.link(try await device.peripheral.parameters(), of: device)
    }
  }
}

/// The options for the parameters of a connection.
struct LinkOptions: ParsableArguments {
  @Option(
    help:
      "Time between two connection events in ms, 0.375 to 4000, one number or two (15-30); less than 7.5 where both can."
  )
  var interval: String?
  @Option(help: "How many connection events the device may skip, 0 to 499.") var latency: Int?
  @Option(help: "Seconds without a packet after which the connection is lost, 0.1 to 32.")
  var supervision: Double?
  @Option(help: "Subrate factor: use every Nth connection event, 1 to 500: one number, or a range (2-4).")
  var subrate: String?
  @Option(help: "With --subrate: how many more events are used after one with data, 0 to 499.")
  var continuation: Int?

  func validate() throws {
    if interval != nil, range == nil {
      throw ValidationError("--interval must be milliseconds, such as 30, or two of them, such as 15-30")
    }
    if subrate != nil, factors == nil {
      throw ValidationError("--subrate must be a number of connection events, such as 4, or two of them, such as 2-4")
    }
  }

  /// The interval in seconds.
  private var range: (least: Double, most: Double)? {
    Self.range(interval) { Double($0) }.map { ($0.least / 1000, $0.most / 1000) }
  }

  private var factors: (least: Int, most: Int)? { Self.range(subrate) { Int($0) } }

  /// "4" or "2-4".
  private static func range<Number>(
    _ text: String?, _ number: (Substring) -> Number?
  ) -> (least: Number, most: Number)? {
    let numbers = (text ?? "").split(separator: "-", omittingEmptySubsequences: false).map { number($0) }
    guard let first = numbers.first ?? nil, let last = numbers.last ?? nil, numbers.count <= 2 else { return nil }
    return (first, last)
  }

  /// Nil without a request.
  var wish: LinkWish? {
    let wish = LinkWish(
      minimumInterval: range?.least, maximumInterval: range?.most, latency: latency, timeout: supervision,
      minimumSubrate: factors?.least, maximumSubrate: factors?.most, continuation: continuation)
    return wish == LinkWish() ? nil : wish
  }
}

/// `bleshell parameters`
struct ParametersCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "parameters", abstract: "Requests other parameters of a connection, and shows the resulting ones.",
    usage: "bleshell parameters [<device>] [--interval 15-30] [--latency 0] [--supervision 4] [--subrate 2-4]",
    discussion: """
      bled merges what all programs want: the quickest interval, the lowest subrate, the lowest latency, the longest \
      timeout. What this one wants ends with its use of the device, or without options at once.
      """)

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @OptionGroup var options: LinkOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words(device).device, within: connection.deadline, over: connection.adapter) { device in
      let progress = output.progress("Asking for other parameters of the connection to \(device.name)")
      defer { progress.end() }
      let link = try await device.peripheral.setParameters(options.wish)
      progress.end()
      try output.link(link, of: device)
    }
  }
}

/// `bleshell phy`
struct PHYCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "phy", abstract: "Requests another PHY of a connection, and shows the resulting one.",
    usage: "bleshell phy [<device>] <phy>")

  @Argument(help: "The device (default: the current one), and 1M, 2M, coded, codedS2 or codedS8.")
  var words: [String]
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "PHY")
    guard let phy = PHYChoice(word: rest[0]) else {
      throw Failure("\(rest[0]) is not a PHY: give 1M, 2M, coded, codedS2 or codedS8", status: 64)
    }
    try await shell.use(device, within: connection.deadline, over: connection.adapter) { device in
      let progress = output.progress("Asking for the PHY \(phy) of the connection to \(device.name)")
      defer { progress.end() }
      let link = try await device.peripheral.setPHY(phy)
      progress.end()
      try output.link(link, of: device)
    }
  }
}

extension Output {
  /// Prints the parameters in force on a link.
  fileprivate func link(_ link: LinkDescription, of device: Device) throws {
    guard !json else { return try object(link) }
    line("\(styled(Output.clean(device.name), .bold))  \(styled(link.peripheral, .dim))")
    var rows: [(name: String, value: String)] = []
    if let interval = link.interval { rows.append(("interval", "\(shortNumber(interval * 1000)) ms")) }
    if let latency = link.latency { rows.append(("latency", "\(latency) events")) }
    if let timeout = link.timeout { rows.append(("supervision timeout", "\(shortNumber(timeout)) s")) }
    if let subrate = link.subrate {
      rows.append(("subrate", "one event of \(subrate), \(link.continuation ?? 0) more after one with data"))
    }
    rows.append(("MTU", "\(link.mtu) octets"))
    if let bearers = link.bearers { rows.append(("bearers", "\(bearers) (parallel requests)")) }
    if let tx = link.txPHY, let rx = link.rxPHY {
      rows.append(("PHY", tx == rx ? tx.text : "sends \(tx), receives \(rx)"))
    }
    if let tx = link.txOctets, let rx = link.rxOctets {
      rows.append(("longest packet", tx == rx ? "\(tx) octets" : "sends \(tx), receives \(rx) octets"))
    }
    rows.append(("protection", link.security.map { "\($0), key of \(link.keySize ?? 0) octets" } ?? "not encrypted"))
    for row in rows { line("  \(row.name): \(row.value)") }
  }
}
