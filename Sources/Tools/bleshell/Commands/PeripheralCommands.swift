import ArgumentParser
import BledRPC
import FoundationEssentials

/// `bleshell peripherals`
struct PeripheralsCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "peripherals", abstract: "Lists the devices that bled knows.",
    discussion: """
      Devices that it heard or connected recently, and devices that were connected before it started, by name, and when each was heard last. With \
      --sensors it listens for 10 seconds, and lists the sensors that advertise their measurements; in a pipe each is \
      an object of JSON.
      """,
    aliases: ["devices"])

  @Flag(help: "List the sensors that are heard: measurements, battery and age.") var sensors = false
  @OptionGroup var sensorKeys: SensorKeyOption
  @Option(help: "With --sensors: seconds to listen; 0: until Ctrl-C (default: 10).") var time: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard time == nil || sensors else { throw ValidationError("--time goes with --sensors") }
    guard sensorKeys.keys == nil || sensors else { throw ValidationError("--keys goes with --sensors") }
    guard time ?? 0 >= 0, time?.isFinite != false else { throw ValidationError("--time must be 0 or more seconds") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if sensors { return try await listSensors(in: shell, output) }
    let names = shell.names()
    func shown(_ peripheral: PeripheralList.Entry) -> String? {
      names.name(ofDevice: peripheral.address) ?? peripheral.name
    }
    let peripherals = try await shell.connection().call(PeripheralList.self, Empty()).peripherals.sorted {
      let (first, second) = (shown($0), shown($1))
      // Devices without a name come last.
      return (first == nil ? 1 : 0, first?.lowercased() ?? "", $0.address) < (
        second == nil ? 1 : 0, second?.lowercased() ?? "", $1.address
      )
    }
    if output.json {
      for peripheral in peripherals { try output.object(peripheral) }
      return
    }
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "RSSI", right: true),
      .init(heading: "HEARD", right: true), .init(heading: "STATE"), .init(heading: "ID"), .init(heading: "ADAPTER"))
    table.flexible = 0
    for peripheral in peripherals {
      let isCurrent = shell.devices.current?.peripheral.identifier == peripheral.peripheral
      let mine = isCurrent ? ", current" : peripheral.mine ? ", here" : ""
      let isIdle = peripheral.state == "disconnected"
      let isConnected = peripheral.state == "connected"
      table.rows.append([
        .init(text: shown(peripheral) ?? "-", style: .bold),
        .init(text: "\(peripheral.address) \(peripheral.addressType)"),
        .init(text: peripheral.rssi.map(String.init) ?? "-"),
        .init(text: peripheral.sinceReport.map(ageText) ?? "-", style: .dim),
        .init(text: isIdle ? "-" : peripheral.state.text + mine, style: isConnected ? .good : .plain),
        .init(text: "\(peripheral.peripheral.prefix(8))", style: .dim), .init(text: peripheral.adapter),
      ])
    }
    table.lines(output).forEach(output.line)
  }
}

/// `bleshell forget`
struct ForgetCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Makes bled forget a device: its identifier, its name and its cached attributes.",
    aliases: ["remove"])

  @Argument(
    help: "A name, an address or an identifier, as listed by \"bleshell devices\".",
    completion: ShellCompletion.devices)
  var device: String
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let known = try await shell.finder().known(device)
    _ = try await shell.connection().call(PeripheralForget.self, PeripheralReference(peripheral: known.identifier))
    if output.json {
      try output.object(PeripheralReference(peripheral: known.identifier))
    } else {
      output.line("forgot \(Output.clean(known.name)) (\(known.identifier))")
    }
  }
}

/// `bleshell rssi`
struct RSSICommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "rssi", abstract: "Measures the signal strength of the connection to a device.",
    usage: "bleshell rssi [<device>] [--every <every>] [--count <count>]")

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @Option(help: "Measure again every so many seconds, 0.05 or more, until Ctrl-C.") var every: Double?
  @Option(help: "With --every: stop after this many.") var count: Int?
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard 0.05...1e9 ~= every ?? 1 else { throw ValidationError("--every must be 0.05 or more seconds") }
    guard count == nil || every != nil, count ?? 1 > 0 else {
      throw ValidationError("--count goes with --every, and must be greater than 0")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if let every { return try await measure(every, in: shell, output) }
    try await shell.use(words(device).device, within: connection.deadline, over: connection.adapter) { device in
      let progress = output.progress("Measuring the signal strength of \(device.name)")
      defer { progress.end() }
      let rssi = try await device.peripheral.rssi()
      progress.end()
      if output.json {
        try output.object(["peripheral": .text(device.peripheral.identifier), "rssi": .integer(rssi)] as JSONValue)
      } else {
        output.line("\(rssi) dBm")
      }
    }
  }

  /// Measures again and again.
  @MainActor private func measure(_ every: Double, in shell: Shell, _ output: Output) async throws {
    try await shell.use(
      words(device).device, within: connection.deadline, over: connection.adapter, onlyConnecting: true
    ) { device in
      var left = count
      var next = ContinuousClock.now
      while true {
        let rssi = try await device.peripheral.rssi()
        let now = Date()
        if output.json {
          let members: [String: JSONValue] = [
            "peripheral": .text(device.peripheral.identifier), "rssi": .integer(rssi),
          ]
          try output.object("rssi", members, at: now.timeIntervalSince1970)
        } else {
          output.line("\(output.styled(clockText(now), .dim))  \(rssi) dBm")
        }
        left = left.map { $0 - 1 }
        guard left != 0 else { return }
        repeat { next += .seconds(every) } while next <= .now
        try await Task.sleep(until: next)
      }
    }
  }
}
