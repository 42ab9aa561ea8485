import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell connect`
struct ConnectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", abstract: "Connects to a device.",
    discussion: """
      In line mode the device becomes the current one and stays connected, beside others. When run as "bleshell connect" on a \
      terminal, it continues in line mode; otherwise it disconnects and exits, after --time seconds if given. With \
      --keep it never gives up: it waits for the device, an adapter and bled, from the beginning and after each loss, \
      until Ctrl-C or --time, and says with the time what it waits for and when the device is back; --timeout limits \
      how long the first connection may take.
      """)

  @Argument(
    help: "A name, an address (\"F0:…:F5\", \"F0:…:F5/random\") or an identifier.", completion: ShellCompletion.devices)
  var device: String?
  @Option(help: "Instead of a device: a service, by UUID or name; the first device that advertises it is meant.")
  var service: String?
  @Option(help: "Seconds to hold the connection when not in line mode.") var time: Double?
  @Flag(help: "Wait for the device, the adapter and bled, and connect again whenever one of them was lost.")
  var keep = false
  @OptionGroup var link: LinkOptions
  @Option(help: "The PHY that the connection is to have.") var phy: PHYChoice?
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if keep, !shell.isLineMode { return try await hold(in: shell, output) }
    let connected = try await connect(in: shell, within: keep && connection.limit == nil ? .never : connection.deadline)
    try announce(connected.peripheral.link, connected, output)
    if shell.isLineMode {
      shell.devices.choose(connected)
    } else if let time {
      let ended = try await withDeadline(time) {
        for await reason in connected.peripheral.ends { return reason?.message ?? "" }
        return ""
      }
      try Task.checkCancellation()
      if let ended { throw Failure("\(connected.name) disconnected: \(ended)") }
      await shell.release(connected)
    } else if output.isTerminal, !output.json {
      shell.devices.choose(connected)
      try await LineMode(shell: shell).run()
    } else {
      await shell.release(connected)
    }
  }

  private func connect(in shell: Shell, within deadline: Deadline) async throws -> Device {
    switch (device, service) {
    case (let device?, nil):
      return try await shell.connect(
        device, within: deadline, over: connection.adapter, reconnects: keep, parameters: link.wish, phy: phy)
    case (nil, let text?):
      return try await shell.connect(
        service: try serviceUUID(text), within: deadline, over: connection.adapter, reconnects: keep,
        parameters: link.wish, phy: phy)
    default: throw Failure("expected a device, or --service; see \"bleshell help connect\"", status: 64)
    }
  }

  /// Reports losses and reconnections until the time is over, or Ctrl-C.
  @MainActor private func hold(in shell: Shell, _ output: Output) async throws {
    let name = device ?? "a device with the service \(service ?? "")"
    let keeper = Keeper(name, within: connection.deadline) { output.problem($0) }
    do {
      let ended: Void? = try await withDeadline(time ?? 0) { @MainActor in
        try await keeper.run { @MainActor in
          let connected = try await connect(in: shell, within: keeper.deadline)
          keeper.begins()
          try announce(connected.peripheral.link, connected, output)
          do {
            try await follow(connected, keeper, output)
          } catch {
            await shell.release(connected)
            throw error
          }
        }
      }
      if ended == nil, !keeper.hasBegun { throw keeper.neverBegan(time) }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
  }

  /// Reports the progress of a connection that bled itself makes again.
  @MainActor private func follow(_ device: Device, _ keeper: Keeper, _ output: Output) async throws {
    for await change in device.peripheral.changes {
      switch change {
      case .lost(let reason):
        let text = "lost the connection to \(device.name)\(reason.map { ": \($0.message)" } ?? "")"
        // Its address may change meanwhile: it is searched for by its name.
        guard !device.isPrivate else { throw Failure(text, passes: true) }
        keeper.say(text)
      case .back(let link):
        keeper.begins()
        try announce(link, device, output)
      }
    }
    try Task.checkCancellation()
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }

  private func announce(_ link: PeripheralConnect.Result, _ device: Device, _ output: Output) throws {
    guard !output.json else { return try output.object("connected", link) }
    let attempts = link.attempts > 1 ? ", after \(link.attempts) attempts" : ""
    output.line(
      "connected to \(output.styled(Output.clean(device.name), .bold)) (\(link.address) \(link.addressType)) over "
        + "\(link.adapter), MTU \(link.mtu)\(attempts)")
  }
}
